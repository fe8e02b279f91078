/**
 * Clients are linked and unlinked in a home of their own, on every system. The expected files are
 * in `golden/<system>`; `GOBLIN_WRITE_GOLDEN=1` writes them.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KnownClient, Machine } from "../../../../src/app/clients/client.ts";
import { chooseServers, findServers } from "../../../../src/app/clients/importing.ts";
import { Journal } from "../../../../src/app/clients/journal.ts";
import { apply, fileOf, type LinkResult, planLink, planUnlink, stateOf } from "../../../../src/app/clients/linking.ts";
import { clients } from "../../../../src/app/clients/table.ts";
import { undoEntry } from "../../../../src/app/clients/undoing.ts";

let root = "";
let machine: Machine;
let journal: Journal;
const golden = join(import.meta.dirname, "golden");
const link = {
  name: "goblin",
  gateway: { url: "http://127.0.0.1:3000/mcp" },
  program: { command: "npx", args: ["-y", "goblin-mcp", "stdio", "--config", "/home/ada/goblin.json"] },
};
const clientOf = (id: string): KnownClient => clients.find((client) => client.id === id)!;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "goblin-clients-"));
  machine = machineOn(process.platform);
  journal = new Journal({ XDG_STATE_HOME: join(root, "state") });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function machineOn(platform: string): Machine {
  const home = join(root, "home");
  const env =
    platform === "win32"
      ? { APPDATA: join(home, "AppData", "Roaming"), LOCALAPPDATA: join(home, "AppData", "Local") }
      : {};
  return { platform, home, env, cwd: join(root, "project") };
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Settings with comments, as the client's users have them. */
function sample({ format, section, isList }: KnownClient): string {
  if (format === "toml")
    return `# my settings\nmodel = "x" # fast\n\n[${section[0]}.files]\ncommand = "npx"\n\n[tui]\nlook = 1\n`;
  if (format === "yaml" && isList)
    return `name: mine # settings\n${section[0]}:\n  - name: files\n    command: npx\nmodels: []\n`;
  if (format === "yaml") return `${section[0]}: # mine\n  files:\n    cmd: npx\n    type: stdio\nmodel: x\n`;
  return `{\n  // my settings\n  "look": 1,\n  "${section[0]}": {\n    "files": { "command": "npx" } // keep\n  }\n}\n`;
}

async function linkAll(chosen: readonly KnownClient[], mode?: "http" | "stdio"): Promise<LinkResult[]> {
  const outcomes = await Promise.all(
    chosen.map((client) => planLink(client, machine, { scope: "user", links: [link], mode })),
  );
  const plans = outcomes.flatMap((outcome) => (outcome?.state === "planned" ? outcome.plan : []));
  expect((await apply({ command: "install" }, plans, journal)).failures).toEqual([]);
  return outcomes.filter((outcome) => outcome !== undefined);
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

describe.each(["linux", "darwin", "win32"])("on %s", (platform) => {
  test("every client gets its entry where it looks for it, and loses it again", async () => {
    machine = machineOn(platform);
    const files = await Promise.all(clients.map((client) => fileOf(client, machine, "user")));
    clients.forEach((client, i) => void write(files[i]!, sample(client)));
    await linkAll(clients);
    const written = filesIn(machine.home);
    expect(written).toHaveLength(clients.length);
    const folder = join(golden, platform);
    for (const name of written) {
      const text = readFileSync(join(machine.home, name), "utf8");
      const expected = join(folder, name);
      if (process.env["GOBLIN_WRITE_GOLDEN"]) write(expected, text);
      expect(text, name).toBe(readFileSync(expected, "utf8"));
    }
    expect(filesIn(folder)).toEqual(written);
    const states = await Promise.all(
      clients.map((client) => stateOf(client, machine, { scope: "user", links: [link] })),
    );
    expect(new Set(states.map((state) => state?.state))).toEqual(new Set(["linked"]));

    const removals = await Promise.all(clients.map((client) => planUnlink(client, machine, "user")));
    await apply(
      { command: "uninstall" },
      removals.flatMap((one) => (one?.state === "planned" ? one.plan : [])),
      journal,
    );
    clients.forEach((client, i) => void expect(readFileSync(files[i]!, "utf8"), client.id).toBe(sample(client)));
  });
});

test("what is done can be undone, byte by byte, with modes and new files", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("cursor", "codex", "goose", "continue"),
      fc.constantFrom("\n", "\r\n"),
      fc.record({
        mark: fc.constantFrom("", "\ufeff"),
        mode: fc.constantFrom(0o600, 0o644, 0o640),
        exists: fc.boolean(),
      }),
      async (id, eol, { mark, mode, exists }) => {
        const client = clientOf(id);
        const file = (await fileOf(client, machine, "user"))!;
        rmSync(file, { force: true });
        const before = Buffer.from(mark + sample(client).replaceAll("\n", eol));
        if (exists) {
          write(file, before);
          chmodSync(file, mode);
        }
        const [outcome] = await linkAll([client]);
        expect(outcome?.state).toBe("planned");
        expect(statSync(file).mode & 0o777).toBe(exists ? mode : 0o600);
        const [entry] = await journal.list();
        expect((await undoEntry(entry!, { journal, machine })).map(({ state }) => state)).toEqual([
          exists ? "restored" : "removed",
        ]);
        expect(existsSync(file)).toBe(exists);
        if (exists) expect([readFileSync(file).equals(before), statSync(file).mode & 0o777]).toEqual([true, mode]);
      },
    ),
    { numRuns: 40 },
  );
  expect(statSync(join(root, "state/goblin/undo")).mode & 0o777).toBe(0o700);
});

test("D2: undo edits the entries of a file that changed since, and restores the bytes of the others", async () => {
  const [cursor, kiro] = [clientOf("cursor"), clientOf("kiro")];
  const [first, second] = [(await fileOf(cursor, machine, "user"))!, (await fileOf(kiro, machine, "user"))!];
  write(first, "{}\n");
  write(second, "{}\n");
  await linkAll([cursor, kiro]);
  writeFileSync(first, readFileSync(first, "utf8").replace("3000", "4000").replace("{", '{\n  "look": 1,'));
  const [entry] = await journal.list();
  expect(await undoEntry(entry!, { journal, machine })).toEqual([
    { what: "Kiro", file: second, state: "restored" },
    { what: "Cursor", file: first, state: "edited", returned: [], taken: ["goblin"] },
  ]);
  expect(JSON.parse(readFileSync(first, "utf8"))).toEqual({ look: 1, mcpServers: {} });
  expect(readFileSync(second, "utf8")).toBe("{}\n");
  expect((await journal.list())[0]?.isUndone).toBe(true);
});

test("a file that must not be touched is named, and the others go on", async () => {
  const place = async (id: string): Promise<string> => (await fileOf(clientOf(id), machine, "user"))!;
  write(await place("cursor"), '{ "mcpServers": ');
  write(await place("kiro"), '{ "mcpServers": { "goblin": {}, "goblin": {} } }');
  const twice = "mcpServers:\n  - name: goblin\n    url: a\n  - name: goblin # mine\n    url: b\n";
  write(await place("continue"), twice);
  write(join(root, "elsewhere.json"), "{}");
  mkdirSync(dirname(await place("windsurf")), { recursive: true });
  symlinkSync(join(root, "elsewhere.json"), await place("windsurf"));
  write(await place("qoder"), Buffer.from([0xff, 0xfe, 0x7b]));
  mkdirSync(await place("kimi"), { recursive: true });
  write(await place("lm-studio"), "{}\n");
  const ids = ["cursor", "kiro", "continue", "windsurf", "qoder", "kimi", "lm-studio"];
  const outcomes = await linkAll(ids.map(clientOf));
  expect(
    outcomes.map((outcome) => [outcome.client.id, outcome.state === "refused" ? outcome.reason : outcome.state]),
  ).toEqual([
    ["cursor", "it cannot be read: line 1: expected a value"],
    ["kiro", 'it cannot be read: line 1: "goblin" is there twice'],
    ["continue", '"goblin" is there twice in "mcpServers"; remove one of them'],
    ["windsurf", "it is a link; edit the file that it leads to by hand"],
    ["qoder", "it is not UTF-8"],
    ["kimi", "it is not a file"],
    ["lm-studio", "planned"],
  ]);
  expect(readFileSync(join(root, "elsewhere.json"), "utf8")).toBe("{}");
  expect(readFileSync(await place("continue"), "utf8")).toBe(twice);
  expect(await planUnlink(clientOf("continue"), machine, "user")).toMatchObject({ state: "refused" });

  // Read-only, and changed between the preview and the writing.
  const [readOnly, busy] = [await place("trae"), await place("factory")];
  write(readOnly, "{}");
  chmodSync(readOnly, 0o444);
  write(busy, "{}");
  const planned = await Promise.all(
    ["trae", "factory"].map((id) => planLink(clientOf(id), machine, { scope: "user", links: [link], mode: undefined })),
  );
  writeFileSync(busy, '{ "x": 1 }');
  const { failures } = await apply(
    { command: "install" },
    planned.flatMap((one) => (one?.state === "planned" ? one.plan : [])),
    journal,
  );
  expect(failures.map(({ plan, reason }) => [plan.client.id, reason])).toEqual([
    ["trae", "it may not be written (read-only)"],
    ["factory", "another program changed it just now; try again"],
  ]);
  expect([readFileSync(readOnly, "utf8"), readFileSync(busy, "utf8")]).toEqual(["{}", '{ "x": 1 }']);
});

test("an entry that somebody changed has drifted", async () => {
  const client = clientOf("vscode");
  await linkAll([client]);
  const file = (await fileOf(client, machine, "user"))!;
  writeFileSync(file, readFileSync(file, "utf8").replace("127.0.0.1", "example.com"));
  expect(await stateOf(client, machine, { scope: "user", links: [link] })).toMatchObject({
    state: "drifted",
    servers: ["goblin"],
  });
});

test("a token is referred to as the client can, never written", async () => {
  const secured = { ...link, gateway: { ...link.gateway, tokenVariable: "GOBLIN_TOKEN" } };
  const entryOf = async (id: string): Promise<string> => {
    const outcome = await planLink(clientOf(id), machine, { scope: "user", links: [secured], mode: "http" });
    return outcome?.state === "planned"
      ? outcome.plan.after.toString()
      : outcome?.state === "refused"
        ? outcome.reason
        : "";
  };
  expect(JSON.parse(await entryOf("claude-code")).mcpServers.goblin.headers).toEqual({
    Authorization: "Bearer ${GOBLIN_TOKEN}",
  });
  expect(JSON.parse(await entryOf("cursor")).mcpServers.goblin.headers).toEqual({
    Authorization: "Bearer ${env:GOBLIN_TOKEN}",
  });
  expect(await entryOf("codex")).toContain('bearer_token_env_var = "GOBLIN_TOKEN"');
  expect(await entryOf("zed")).toContain("cannot take one from a variable");
  expect(await entryOf("claude-desktop")).toContain("it can only start programs");
});

test("servers of all clients are found once, in Goblin's words", async () => {
  const place = async (id: string): Promise<string> => (await fileOf(clientOf(id), machine, "user"))!;
  write(
    await place("claude-code"),
    JSON.stringify({
      numStartups: 3,
      mcpServers: {
        files: { type: "stdio", command: "npx", args: ["-y", "files"], env: { KEY: "${HOME_KEY}" }, alwaysLoad: true },
        goblin: { command: "npx", args: ["-y", "goblin-mcp", "stdio"] },
      },
    }),
  );
  write(
    await place("cursor"),
    '{ "mcpServers": { "Files": { "command": "npx", "args": ["-y", "files"] }, "docs": { "url": "https://a.example/mcp" } } }',
  );
  write(
    await place("gemini-cli"),
    '{ "mcpServers": { "docs": { "httpUrl": "https://b.example/mcp", "headers": { "X": "$TOKEN" }, "trust": true } } }',
  );
  write(
    await place("codex"),
    '[mcp_servers.db]\ncommand = "db"\nenv_vars = ["PGHOST"]\ntool_timeout_sec = 5\n\n[mcp_servers.web]\nurl = "https://c.example/mcp"\nbearer_token_env_var = "WEB"\nenabled = false\n',
  );
  write(
    await place("goose"),
    "extensions:\n  developer:\n    type: builtin\n  mail:\n    type: stdio\n    cmd: mail\n    args: [serve]\n    envs: { A: b }\n",
  );
  write(await place("continue"), "mcpServers:\n  - name: seq\n    command: seq\n");
  write(
    await place("opencode"),
    '{ "mcp": { "oc": { "type": "local", "command": ["oc", "x"], "environment": { "K": "{env:K}" } } } }',
  );
  write(
    join(machine.cwd, ".mcp.json"),
    '{ "mcpServers": { "local": { "command": "./run", "args": ["${workspaceFolder}/x"] } } }',
  );
  write(await place("kiro"), "{ broken");
  const { servers, problems } = await findServers(clients, machine);
  expect((await findServers(clients, machine, "project")).servers.map(({ name, entry }) => [name, entry])).toEqual([
    ["local", { command: "./run", args: [`${machine.cwd}/x`], cwd: machine.cwd }],
  ]);
  expect(problems.map(({ client, reason }) => [client.id, reason])).toEqual([
    ["kiro", expect.stringContaining("line 1")],
  ]);
  const chosen = chooseServers(servers, new Map([["seq", { command: "seq" }]]));
  expect(chosen.map(({ name, client, state, same }) => [name, client.id, state, same])).toEqual([
    ["files", "claude-code", "new", undefined],
    ["Files", "cursor", "duplicate", "files"],
    ["docs", "cursor", "new", undefined],
    ["db", "codex", "new", undefined],
    ["web", "codex", "new", undefined],
    ["docs-gemini-cli", "gemini-cli", "new", undefined],
    ["oc", "opencode", "new", undefined],
    ["mail", "goose", "new", undefined],
    ["seq", "continue", "known", "seq"],
  ]);
  expect(
    Object.fromEntries(chosen.filter(({ state }) => state === "new").map(({ name, entry }) => [name, entry])),
  ).toEqual({
    files: { type: "stdio", command: "npx", args: ["-y", "files"], env: { KEY: "${HOME_KEY}" } },
    docs: { url: "https://a.example/mcp" },
    db: { command: "db", inheritEnv: ["PGHOST"], timeoutMs: 5000 },
    web: { url: "https://c.example/mcp", headers: { Authorization: "Bearer ${env:WEB}" }, enabled: false },
    "docs-gemini-cli": { url: "https://b.example/mcp", headers: { X: "${TOKEN}" } },
    oc: { type: "stdio", command: "oc", args: ["x"], env: { K: "${env:K}" } },
    mail: { command: "mail", args: ["serve"], env: { A: "b" } },
  });
});
