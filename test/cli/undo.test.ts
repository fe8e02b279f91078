/**
 * `goblin undo` after the wizard, from states that real machines get into: clients that rewrote
 * their settings, files that people edited or deleted, and a process that was killed half-way. The
 * wizard's own steps write the files; the built program undoes them.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { namedClients, thisMachine } from "../../src/app/cli/clients/machine.ts";
import { planSetup, writeSetup } from "../../src/app/cli/wizard/setup.ts";
import { type Candidate, findImports } from "../../src/app/cli/wizard/survey.ts";
import { readServers } from "../../src/app/clients/edit/editor.ts";
import { Journal } from "../../src/app/clients/journal.ts";
import { lineDiff } from "../../src/app/clients/line-diff.ts";
import { fileOf } from "../../src/app/clients/linking.ts";
import { clients } from "../../src/app/clients/table.ts";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { freePort } from "../fixtures/serve.ts";

const FILES = {
  "claude-code": `{ "numStartups": 3, "mcpServers": { "lab": { "type": "stdio", "command": "lab" } }, "projects": {} }`,
  cursor: `{
  // mine
  "mcpServers": {
    "clock": {
      "command": "clock", // the fast one
      "env": { "API_KEY": "sk-live-1234567" }
    },
    "docs": { "url": "https://docs.example/mcp", "headers": { "Authorization": "Bearer s3cret-bearer" } }
  }
}
`,
  codex: `# mine
model = "x"

[mcp_servers.notes]
command = "notes" # see the manual
args = ["--all"]

[mcp_servers.notes.env]
MODE = "fast"
`,
  goose: `model: x # mine
extensions:
  time:
    # local time
    type: stdio
    cmd: time
    args: [now]
`,
  continue: `name: mine
mcpServers:
  - name: seq
    command: seq # steps
`,
} as const;
type Id = keyof typeof FILES;
const IDS = Object.keys(FILES) as Id[];
const OWN = {
  "claude-code": ["lab"],
  cursor: ["clock", "docs"],
  codex: ["notes"],
  goose: ["time"],
  continue: ["seq"],
};

let home: CommandHome;
let files: Record<Id, string>;
let config: string;
const kept = { ...process.env };

beforeEach(async () => {
  home = commandHome();
  // The wizard's steps run in this process, the commands in their own.
  for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "GOBLIN_CONFIG"]) delete process.env[name];
  Object.assign(process.env, { HOME: home.env["HOME"], GOBLIN_KEYCHAIN: "0" });
  home.env["GOBLIN_KEYCHAIN"] = "0";
  config = join(home.env["HOME"]!, ".config/goblin/goblin.json");
  const found = IDS.map(async (id) => [id, (await fileOf(clientOf(id), thisMachine(), "user"))!] as const);
  files = Object.fromEntries(await Promise.all(found)) as Record<Id, string>;
  for (const id of IDS) put(files[id], FILES[id]);
});

afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
  Object.assign(process.env, kept);
  await disposeAll();
});

function clientOf(id: Id) {
  return clients.find((client) => client.id === id)!;
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function edit(id: Id, change: (text: string) => string): void {
  const text = readFileSync(files[id], "utf8");
  const next = change(text);
  expect(next).not.toBe(text);
  writeFileSync(files[id], next);
}

/** Rewrites Claude Code's file as the program itself does: parsed, changed, written anew. */
function claudeWrites(): void {
  edit("claude-code", (text) => JSON.stringify({ ...JSON.parse(text), numStartups: 4 }, null, 2));
}

/** What the wizard writes if everything is answered with Enter. */
async function setUp(): Promise<void> {
  const { imports } = await findImports();
  const { failures } = await writeSetup(
    await planSetup({
      file: config,
      servers: imports.filter(({ state }) => state === "new") as unknown as Candidate[],
      movesSecrets: true,
      clients: namedClients(IDS),
      replaced: imports,
      port: undefined,
    }),
  );
  expect(failures).toEqual([]);
  expect(await serversOf()).toEqual(Object.fromEntries(IDS.map((id) => [id, ["goblin"]])));
}

async function serversOf(): Promise<Record<Id, string[]>> {
  const all = IDS.map(async (id) => {
    const text = existsSync(files[id]) ? readFileSync(files[id], "utf8") : "";
    return [id, [...(await readServers(text, clientOf(id))).keys()].sort()] as const;
  });
  return Object.fromEntries(await Promise.all(all)) as Record<Id, string[]>;
}

async function secrets(): Promise<readonly unknown[]> {
  return (await SecretStore.open(process.env)).list();
}

describe.each(["undo", "undo --all"])("D2: goblin %s", (command) => {
  const undo = () => home.goblin(...command.split(" "));

  test("restores every byte if nothing changed since", async () => {
    await setUp();
    const { code, err } = await undo();
    expect([code, err]).toEqual([0, ""]);
    for (const id of IDS) expect(readFileSync(files[id], "utf8"), id).toBe(FILES[id]);
    expect([existsSync(config), await secrets()]).toEqual([false, []]);
    expect((await undo()).out).toBe("There is nothing to undo.\n");
  });

  test("keeps what clients and people wrote since, in every format, and puts entries back as they were", async () => {
    await setUp();
    claudeWrites();
    edit("cursor", (text) => text.replace("// mine", "// mine, and more").replace(/"goblin": \{/, '"new": {}, $&'));
    edit("codex", (text) => `${text}\n[tui]\nlook = 1\n`);
    edit("goose", (text) => text.replace("# mine", "# mine, and more"));
    edit("continue", (text) => text.replace("name: mine", "name: other"));
    const { code, err } = await undo();
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(readFileSync(files["claude-code"], "utf8"))).toEqual({
      numStartups: 4,
      mcpServers: { lab: { type: "stdio", command: "lab" } },
      projects: {},
    });
    const cursor = readFileSync(files.cursor, "utf8");
    expect(cursor).toContain("// mine, and more");
    expect(cursor).toContain('"command": "clock", // the fast one\n      "env": { "API_KEY": "sk-live-1234567" }');
    expect(readFileSync(files.codex, "utf8")).toContain(
      '[mcp_servers.notes]\ncommand = "notes" # see the manual\nargs = ["--all"]\n[mcp_servers.notes.env]\nMODE = "fast"\n',
    );
    expect(readFileSync(files.codex, "utf8")).toContain("[tui]\nlook = 1\n");
    expect(readFileSync(files.goose, "utf8")).toBe(FILES.goose.replace("# mine", "# mine, and more"));
    expect(readFileSync(files.continue, "utf8")).toBe(FILES.continue.replace("name: mine", "name: other"));
    expect(await serversOf()).toEqual({ ...OWN, cursor: ["clock", "docs", "new"] });
    expect([existsSync(config), await secrets()]).toEqual([false, []]);
  });

  test("removes entries of the gateway that somebody changed", async () => {
    await setUp();
    edit("cursor", (text) => text.replace("127.0.0.1", "localhost"));
    edit("codex", (text) => text.replace("/mcp", "/mcp/p/work"));
    expect((await undo()).code).toBe(0);
    expect(await serversOf()).toEqual(OWN);
  });

  test("leaves a server alone that somebody added again", async () => {
    await setUp();
    edit("cursor", (text) => text.replace(/"goblin": \{/, '"clock": { "command": "other" }, $&'));
    expect((await undo()).code).toBe(0);
    expect(await serversOf()).toEqual(OWN);
    expect(readFileSync(files.cursor, "utf8")).toContain('"clock": { "command": "other" }');
  });

  test("returns the servers of a client whose file is gone", async () => {
    await setUp();
    rmSync(files.cursor);
    rmSync(files.goose);
    expect((await undo()).code).toBe(0);
    expect(await serversOf()).toEqual(OWN);
  });

  test("returns every client if goblin.json is gone", async () => {
    await setUp();
    claudeWrites();
    rmSync(config);
    expect((await undo()).code).toBe(0);
    expect([await serversOf(), existsSync(config), await secrets()]).toEqual([OWN, false, []]);
  });

  test("keeps a server in goblin.json that no client has", async () => {
    await setUp();
    const own = JSON.parse(readFileSync(config, "utf8"));
    own.mcpServers.mine = { command: "mine", env: { KEY: "${keychain:clock/API_KEY}" } };
    writeFileSync(config, JSON.stringify(own));
    expect((await undo()).code).toBe(0);
    expect(await serversOf()).toEqual(OWN);
    expect(JSON.parse(readFileSync(config, "utf8")).mcpServers.mine.command).toBe("mine");
    expect(JSON.stringify(await secrets())).toContain("clock/API_KEY");
  });

  test("works after the wizard was killed between any two steps", async () => {
    // The journal comes first, then goblin.json, then the clients in their order.
    const steps = [config, ...IDS.map((id) => files[id])];
    for (const [i] of [...steps, ""].entries()) {
      await setUp();
      for (const file of steps.slice(i)) {
        const id = IDS.find((one) => files[one] === file);
        if (id) writeFileSync(file, FILES[id]);
        else rmSync(file);
      }
      claudeWrites();
      const { code, err } = await undo();
      expect([i, code, err]).toEqual([i, 0, ""]);
      expect([i, await serversOf(), existsSync(config), await secrets()]).toEqual([i, OWN, false, []]);
      writeFileSync(files["claude-code"], FILES["claude-code"]);
    }
  });

  test("works after an undo was killed half-way, and the clients wrote since", async () => {
    await setUp();
    writeFileSync(files.continue, FILES.continue);
    writeFileSync(files["claude-code"], FILES["claude-code"]);
    claudeWrites();
    edit("goose", (text) => text.replace("# mine", "# mine, and more"));
    expect((await undo()).code).toBe(0);
    expect([await serversOf(), existsSync(config)]).toEqual([OWN, false]);
  });

  test("keeps goblin.json while a client cannot be returned, and ends the work later", async () => {
    await setUp();
    const linked = readFileSync(files.cursor, "utf8");
    writeFileSync(files.cursor, linked.slice(0, -4));
    const { code, err } = await undo();
    expect(code).toBe(1);
    expect(err).toContain("Cursor: left alone, because it cannot be read: line 7: ");
    expect(err).toMatch(/goblin\.json: left alone, because Cursor (may need its servers|still uses it)/);
    expect(existsSync(config)).toBe(true);
    expect(JSON.stringify(await secrets())).toContain("clock/API_KEY");
    writeFileSync(files.cursor, linked);
    expect((await undo()).code).toBe(0);
    expect([await serversOf(), existsSync(config), await secrets()]).toEqual([OWN, false, []]);
  });
});

test("D2: undo --all returns a client that wrote its old settings over an undo", async () => {
  await setUp();
  const linked = readFileSync(files["claude-code"], "utf8");
  expect((await home.goblin("undo")).code).toBe(0);
  writeFileSync(files["claude-code"], linked);
  expect((await home.goblin("undo")).out).toBe("There is nothing to undo.\n");
  const { code, out } = await home.goblin("undo", "--all");
  expect(code).toBe(0);
  expect(out).toContain("Claude Code: put back lab; removed goblin; the rest of the file stays as it is");
  expect(await serversOf()).toEqual(OWN);
  expect((await home.goblin("undo", "--all")).out).toBe("There is nothing to undo.\n");
});

test("D2: undo --all undoes several commands, and leaves the entry of a gateway elsewhere", async () => {
  put(join(home.env["HOME"]!, ".kiro/settings/mcp.json"), "{}\n");
  put(
    join(home.env["HOME"]!, ".qoder/mcp.json"),
    '{ "mcpServers": { "goblin": { "url": "https://team.example/mcp" } } }\n',
  );
  await setUp();
  for (let n = 0; n < 2; n++)
    await home.goblin("install", "kiro", "cursor", "--url", `http://127.0.0.1:${await freePort()}`);
  claudeWrites();
  expect((await home.goblin("undo", "--all")).code).toBe(0);
  expect([await serversOf(), existsSync(config)]).toEqual([OWN, false]);
  expect(readFileSync(join(home.env["HOME"]!, ".kiro/settings/mcp.json"), "utf8")).toBe("{}\n");
  expect(readFileSync(join(home.env["HOME"]!, ".qoder/mcp.json"), "utf8")).toContain("team.example");
  expect((await new Journal(process.env).list()).every(({ isUndone }) => isUndone)).toBe(true);
});

test("D2: goblin.json stays while a client uses it, whatever is undone", async () => {
  home.env["GOBLIN_PORT"] = String(await freePort());
  await home.goblin("import");
  await home.goblin("install", "codex");
  const [, first] = JSON.parse((await home.goblin("undo", "--list", "--json")).out);
  expect(first.command).toBe("import");
  const { code, err } = await home.goblin("undo", first.id);
  expect([code, err]).toEqual([
    1,
    `goblin.json: left alone, because Codex still uses it: goblin undo --all (${config})\n`,
  ]);
  expect(existsSync(config)).toBe(true);
});

test("D15: the difference of two settings shows no secret", () => {
  const shown = lineDiff(
    "",
    [
      '{ "headers": { "Authorization": "Bearer s3cret-bearer", "X-Mode": "fast" } }',
      '"args": ["--api-key", "s3cret-argument", "--mode", "fast"]',
      '"args": ["--token=s3cret-flag", "Bearer s3cret-scheme"]',
      'API_KEY = "s3cret-toml" # note',
      "  api_key: s3cret-yaml",
      '"url": "https://a.example/mcp?key=s3cret-query&page=2"',
      '"env": { "OTHER": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "API_KEY": "${API_KEY}" }',
    ].join("\n"),
  ).join("\n");
  expect(shown).not.toContain("s3cret");
  expect(shown).not.toContain("ghp_");
  for (const word of ['"X-Mode": "fast"', '"--mode", "fast"', "# note", "page=2", '"API_KEY": "${API_KEY}"'])
    expect(shown).toContain(word);
});
