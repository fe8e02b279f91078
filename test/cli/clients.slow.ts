/** The commands about MCP clients, in a home with real settings. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { clients } from "../../src/app/clients/table.ts";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { type CommandHome, commandHome, PROGRAM } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { isThorough } from "../fixtures/thorough.ts";

afterEach(disposeAll);

const CURSOR = `{
  // mine
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files", "--key", "s3cret-argument"] },
    "docs": { "url": "https://docs.example/mcp?key=s3cret-key" }
  }
}
`;
const DEMO = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));
const CODEX = '# mine\n[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files", "--key", "s3cret-argument"]\n';

function place(home: CommandHome, name: string, text?: string): string {
  const file = join(home.env["HOME"]!, name);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== undefined) writeFileSync(file, text);
  return file;
}

test("from two clients to one config, into both, and back", async () => {
  const home = commandHome();
  const port = await freePort();
  home.env["GOBLIN_PORT"] = String(port);
  const [cursor, codex] = [place(home, ".cursor/mcp.json", CURSOR), place(home, ".codex/config.toml", CODEX)];
  const own = join(home.env["HOME"]!, ".config/goblin/goblin.json");
  const listed = await home.goblin("clients");
  expect(listed.out).toMatch(
    /CLIENT +STATE +SERVERS +FILE\ncursor +found +2 .*mcp\.json\ncodex +found +1 .*config\.toml\n/,
  );

  const dry = await home.goblin("import", "--dry-run");
  expect(dry.out).toContain(`2 servers would be added to ${own}\n`);
  expect(dry.out).not.toContain("s3cret");
  expect(existsSync(own)).toBe(false);
  const imported = await home.goblin("import", "--json");
  expect(JSON.parse(imported.out)).toMatchObject({
    config: own,
    servers: [
      { name: "files", client: "cursor", state: "new" },
      { name: "docs", client: "cursor", state: "new" },
      { name: "files", client: "codex", state: "duplicate", same: "files" },
    ],
    problems: [],
  });
  expect(JSON.parse(readFileSync(own, "utf8"))).toEqual({
    mcpServers: {
      files: { command: "npx", args: ["-y", "files", "--key", "s3cret-argument"] },
      docs: { url: "https://docs.example/mcp?key=s3cret-key" },
    },
  });
  expect((await home.goblin("check")).code).toBe(0);
  expect((await home.goblin("import")).out).toContain("has all of them already");

  expect((await home.goblin("install")).code).toBe(2);
  expect((await home.goblin("install", "cursr")).err).toContain('did you mean "cursor"?');
  const preview = await home.goblin("install", "--all", "--dry-run");
  expect(preview.out).toContain("cursor: planned");
  expect(readFileSync(cursor, "utf8")).toBe(CURSOR);
  const installed = await home.goblin("install", "--all");
  expect(installed.code).toBe(0);
  expect(installed.out).toContain('+     "goblin": {');
  expect(installed.out).toMatch(/codex: written \(.*config\.toml\)\nTo take it back: goblin undo \S+\n/);
  expect(readFileSync(codex, "utf8")).toBe(`${CODEX}\n[mcp_servers.goblin]\nurl = "http://127.0.0.1:${port}/mcp"\n`);
  expect(JSON.parse((await home.goblin("clients", "--json")).out)).toMatchObject([
    { client: "cursor", state: "linked", servers: ["files", "docs", "goblin"] },
    { client: "codex", state: "linked" },
  ]);

  // One of them is edited since: only its entries are put back.
  writeFileSync(codex, `${readFileSync(codex, "utf8").replace("127.0.0.1", "127.0.0.2")}[tui]\nlook = 1\n`);
  const undone = await home.goblin("undo");
  expect([undone.code, undone.err]).toEqual([0, ""]);
  expect(undone.out).toContain("Codex: removed goblin; the rest of the file stays as it is");
  expect(readFileSync(cursor, "utf8")).toBe(CURSOR);
  expect(readFileSync(codex, "utf8")).toBe(`${CODEX}[tui]\nlook = 1\n`);
  // The one before it is the import.
  expect((await home.goblin("undo")).out).toContain(`goblin.json: removed (${own})`);
  expect(existsSync(own)).toBe(false);
  expect((await home.goblin("undo")).out).toBe("There is nothing to undo.\n");
  expect((await home.goblin("undo", "--list")).out.match(/undone/g)).toHaveLength(2);
});

test("a project, a client that starts programs, a broken file, and the way out", async () => {
  const home = commandHome();
  const port = await freePort();
  const file = home.write("team.json", { mcpServers: {}, gateway: { port } });
  const desktop = place(home, ".config/Claude/claude_desktop_config.json", "{}");
  const broken = place(home, ".kiro/settings/mcp.json", "{ broken");
  place(home, ".qoder/mcp.json", '{ "mcpServers": { " odd ": { "command": "a" }, "fine": { "command": "b" } } }');
  const target = join(home.folder, "imported.json");
  const partly = await home.goblin("import", "--config", target);
  expect(partly.code).toBe(1);
  expect(partly.err).toContain("kiro: left out: it cannot be read: line 1: ");
  expect(partly.err).toContain('qoder: left out: " odd ": an id must not begin or end with a space');
  expect(Object.keys(JSON.parse(readFileSync(target, "utf8")).mcpServers)).toEqual(["fine"]);
  const env = { XDG_CONFIG_HOME: "" };
  // What a client starts is a pipe into it.
  const running = home.start(["serve", "--config", file]);
  await once(running.stdout!, "data");
  const all = await home.goblinWith({ env }, "install", "--all", "--config", file);
  expect(all.code).toBe(1);
  expect(all.err).toContain("kiro: refused: it cannot be read: line 1: ");
  if (process.platform === "linux") {
    expect(JSON.parse(readFileSync(desktop, "utf8")).mcpServers.goblin).toEqual({
      command: process.execPath,
      args: [PROGRAM, "stdio", "--attach", "--config", file],
    });
    // Started as the client would start it.
    expect(all.out).toMatch(/claude-desktop: "goblin" answers, with \d+ tools/);
  }
  expect(readFileSync(broken, "utf8")).toBe("{ broken");
  const project = await home.goblinWith({ env }, "install", "vscode", "zed", "--project", "--config", file, "--json");
  expect(JSON.parse(project.out).results).toMatchObject([
    { client: "vscode", state: "written" },
    { client: "zed", state: "written" },
  ]);
  const written = join(home.folder, ".vscode/mcp.json");
  expect(JSON.parse(readFileSync(written, "utf8"))).toEqual({
    servers: { goblin: { type: "http", url: `http://127.0.0.1:${port}/mcp` } },
  });
  running.kill();
  await once(running, "exit");
  const silent = await home.goblinWith({ env }, "install", "cursor", "--config", file);
  expect(silent.err).toBe(
    `cursor: "goblin" does not work yet: nothing answers at http://127.0.0.1:${port}/mcp yet: start the gateway with goblin serve\n`,
  );
  expect((await home.goblinWith({ env }, "uninstall", "vscode")).out).toContain("vscode: written");
  expect(JSON.parse(readFileSync(written, "utf8"))).toEqual({ servers: {} });
  expect((await home.goblinWith({ env }, "uninstall", "vscode")).out).toBe("No client has an entry of the gateway.\n");
});

test.runIf(isThorough)("a profile or every server alone, each tried as the client would", async () => {
  const home = commandHome();
  const port = await freePort();
  const demo = (id: string): object => ({ command: process.execPath, args: [DEMO, id] });
  const file = home.write("team.json", {
    mcpServers: { clock: demo("clock"), notes: demo("notes") },
    profiles: { time: { servers: ["clock"] } },
    metaTools: { enabled: [] },
    gateway: { port },
  });
  const cursor = place(home, ".cursor/mcp.json", "{}\n");
  const goose = place(home, ".config/goose/config.yaml", "model: x # mine\n");
  const config = ["--config", file];
  const unknown = await home.goblin("install", "cursor", "--profile", "tim", ...config);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('did you mean "time"?')]);

  // A client that can only start programs gets a pipe into the running gateway.
  const served = home.start(["serve", ...config]);
  await once(served.stdout!, "data");
  const started = await home.goblin("install", "cursor", "--profile", "time", "--mode", "stdio", ...config);
  expect([started.code, started.err]).toEqual([0, ""]);
  expect(started.out).toContain('cursor: "goblin" answers, with 2 tools');
  expect(JSON.parse(readFileSync(cursor, "utf8")).mcpServers.goblin.args.slice(-2)).toEqual(["--profile", "time"]);

  const profile = await home.goblin("install", "cursor", "--profile", "time", "--json", ...config);
  expect(JSON.parse(profile.out).results).toMatchObject([{ handshakes: [{ entry: "goblin", tools: 2 }] }]);
  expect(JSON.parse(readFileSync(cursor, "utf8")).mcpServers.goblin).toEqual({
    url: `http://127.0.0.1:${port}/mcp/p/time`,
  });
  const before = readFileSync(cursor, "utf8");
  const each = await home.goblin("install", "cursor", "goose", "--per-server", ...config);
  expect(each.out).toMatch(
    /cursor: "goblin-clock" answers, with 2 tools\ncursor: "goblin-notes" answers, with \d+ tools/,
  );
  expect(JSON.parse(readFileSync(cursor, "utf8")).mcpServers).toEqual({
    "goblin-clock": { url: `http://127.0.0.1:${port}/mcp/s/clock` },
    "goblin-notes": { url: `http://127.0.0.1:${port}/mcp/s/notes` },
  });
  expect(readFileSync(goose, "utf8")).toContain("name: goblin-notes");
  const desktop = await home.goblin("install", "cursor", "--per-server", "--mode", "stdio", "--dry-run", ...config);
  expect(desktop.out).toContain('"--server"');
  expect(JSON.parse((await home.goblin("clients", "--json", ...config)).out)).toMatchObject([
    { client: "cursor", state: "linked" },
    { client: "goose", state: "linked" },
  ]);
  // They are no servers to take over.
  expect(JSON.parse((await home.goblin("import", "--dry-run", "--json")).out).servers).toEqual([]);
  expect((await home.goblin("undo")).code).toBe(0);
  expect(readFileSync(cursor, "utf8")).toBe(before);
  expect(readFileSync(goose, "utf8")).toBe("model: x # mine\n");
  await home.goblin("install", "cursor", "--per-server", ...config);
  await home.goblin("uninstall", "cursor");
  expect(JSON.parse(readFileSync(cursor, "utf8"))).toEqual({ mcpServers: {} });
});

test("secrets in plain text are counted, and moved into the store if asked for", async () => {
  const home = commandHome();
  const env = { GOBLIN_KEYCHAIN: "0" };
  const entry = {
    command: "a",
    env: { API_KEY: "sk-live-1234567", MODE: "fast-enough", OTHER_TOKEN: "${TOKEN}" },
  };
  const remote = { url: "https://a.example/mcp", headers: { Authorization: "Bearer sk-live-7654321" } };
  place(home, ".cursor/mcp.json", JSON.stringify({ mcpServers: { one: entry, two: remote } }));
  const own = join(home.env["HOME"]!, ".config/goblin/goblin.json");
  const dry = await home.goblinWith({ env }, "import", "--dry-run", "--secrets");
  expect(dry.out).toContain("2 secrets in plain text");
  await home.goblinWith({ env, input: "somebody-else" }, "secret", "set", "one/API_KEY");
  const moved = await home.goblinWith({ env }, "import", "--secrets");
  expect(moved.out).toContain("2 secrets moved into the encrypted file");
  expect(moved.out).not.toContain("sk-live");
  expect(JSON.parse(readFileSync(own, "utf8")).mcpServers).toEqual({
    one: {
      command: "a",
      env: { API_KEY: "${keychain:one/API_KEY-2}", MODE: "fast-enough", OTHER_TOKEN: "${TOKEN}" },
    },
    two: { url: "https://a.example/mcp", headers: { Authorization: "Bearer ${keychain:two/Authorization}" } },
  });
  const store = await SecretStore.open({ ...env, XDG_STATE_HOME: join(home.env["HOME"]!, ".local/state") });
  const names = ["one/API_KEY", "one/API_KEY-2", "two/Authorization"];
  expect(await Promise.all(names.map((name) => store.get(name)))).toEqual([
    "somebody-else",
    "sk-live-1234567",
    "sk-live-7654321",
  ]);
});

test("docs/clients.md names every client and its files", () => {
  const machine = { platform: "linux", home: "~", env: {}, cwd: "" };
  const rows = clients.map(({ id, title, user, project }) => {
    const files = user(machine).map((path) => `\`${path}\``);
    return `| \`${id}\` | ${title} | ${files.join(", ")} | ${project ? `\`${project.join("/")}\`` : "–"} |`;
  });
  const text = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8");
  expect(text.slice(text.indexOf("| name | client |")).trim().split("\n").slice(2)).toEqual(rows);
});
