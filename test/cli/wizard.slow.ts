/**
 * The first minute, as a person has it: a home with the settings of five clients, and the wizard in
 * a real terminal.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { type CommandHome, commandHome, PROGRAM } from "../fixtures/command.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { freePort } from "../fixtures/serve.ts";
import { hasTmux, openTerminal, type Terminal } from "../tui/pty.ts";

afterEach(disposeAll);

const DEMO = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));
const NODE = JSON.stringify(process.execPath);

const demo = (id: string): string => `"command": ${NODE}, "args": [${JSON.stringify(DEMO)}, "${id}"]`;

interface Machine {
  readonly home: CommandHome;
  readonly term: Terminal;
  readonly port: number;
  /** The files of the clients, with what is in them. */
  readonly files: Map<string, string>;
  readonly config: string;
  start(): void;
}

/** Five clients, in three formats. */
async function machine(more: Record<string, string> = {}): Promise<Machine> {
  const home = commandHome();
  const files = new Map<string, string>();
  const place = (name: string, text: string): void => {
    const file = join(home.env["HOME"]!, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    files.set(file, text);
  };
  const others = Object.entries(more).map(([name, entry]) => `,\n    "${name}": ${entry}`);
  place(
    ".cursor/mcp.json",
    `{\n  // mine\n  "mcpServers": {\n    "clock": { ${demo("clock")}, "env": { "API_KEY": "sk-live-1234567" } }${others.join("")}\n  }\n}\n`,
  );
  place(".claude.json", `{ "numStartups": 3, "mcpServers": { "lab": { "type": "stdio", ${demo("lab")} } } }`);
  place(".codex/config.toml", `# mine\n[mcp_servers.notes]\ncommand = ${NODE}\nargs = ["${DEMO}", "notes"]\n`);
  place(
    ".config/goose/config.yaml",
    `model: x # mine\nextensions:\n  time:\n    type: stdio\n    cmd: ${process.execPath}\n    args: [${DEMO}, clock]\n`,
  );
  place(".config/Claude/claude_desktop_config.json", "{}\n");
  const port = await freePort();
  const term = openTerminal({ columns: 160, rows: 45 });
  onDispose(() => term.close());
  const env = { HOME: home.env["HOME"]!, PATH: process.env["PATH"]!, GOBLIN_KEYCHAIN: "0", GOBLIN_PORT: String(port) };
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  return {
    home,
    term,
    port,
    files,
    config: join(home.env["HOME"]!, ".config/goblin/goblin.json"),
    start: () =>
      term.keys(
        `cd ${home.folder}; env -i TERM=xterm-256color ${words.join(" ")} ${process.execPath} ${PROGRAM}; echo code $?`,
        "Enter",
      ),
  };
}

const own = { GOBLIN_KEYCHAIN: "0" };

function isAsBefore({ files, config }: Machine): void {
  for (const [file, text] of files) expect(readFileSync(file, "utf8"), file).toBe(text);
  expect(existsSync(config)).toBe(false);
}

describe.skipIf(!hasTmux)("on a terminal without a config", () => {
  test("from five clients to a working call, and back", async () => {
    const here = await machine();
    const { home, term, port, files, config } = here;
    here.start();
    const found = await term.until("Which servers shall Goblin take over?");
    expect(found).toMatch(/3 servers in Claude Code, Cursor, Codex and Goose: \d+ tools, about [\d.]+ ?k? tokens/);
    expect(found).toContain("1 duplicate; 1 secret in plain text");
    term.keys("Enter");
    await term.until("Keep 1 secret in your store");
    term.keys("Enter");
    await term.until("Which clients shall use Goblin?");
    term.keys("Enter");
    await term.until("so that none runs twice?");
    isAsBefore(here);
    term.keys("Enter");
    await term.until(/Write \//);
    isAsBefore(here);
    term.keys("Enter");
    await term.until("3 of 3 ready");
    const called = await home.goblin("call", "clock_now", "--url", `http://127.0.0.1:${port}`);
    expect([called.code, called.out]).toEqual([0, expect.stringMatching(/\d\d:\d\d/)]);

    const written = JSON.parse(readFileSync(config, "utf8"));
    expect(written).toMatchObject({
      names: { repeatPrefix: false },
      gateway: { port },
      mcpServers: { clock: { env: { API_KEY: "${keychain:clock/API_KEY}" } }, lab: {}, notes: {} },
    });
    const [cursor, claude] = [...files.keys()];
    expect(readFileSync(cursor!, "utf8")).toBe(
      `{\n  // mine\n  "mcpServers": {\n    "goblin": {\n      "url": "http://127.0.0.1:${port}/mcp"\n    }\n  }\n}\n`,
    );
    expect(JSON.parse(readFileSync(claude!, "utf8"))).toEqual({
      numStartups: 3,
      mcpServers: { goblin: { type: "http", url: `http://127.0.0.1:${port}/mcp` } },
    });
    term.keys("q");
    const end = await term.until("code 0");
    for (const client of ["Claude Code", "Claude Desktop", "Cursor", "Codex", "Goose"])
      expect(end).toMatch(new RegExp(`${client} works, with 11 tools`));
    expect(end).toContain("To take all of it back: goblin undo");

    const undone = await home.goblinWith({ env: own }, "undo");
    expect([undone.code, undone.err]).toEqual([0, ""]);
    expect(undone.out).toContain('secret "clock/API_KEY": removed from your store');
    isAsBefore(here);
    const store = await SecretStore.open({ ...own, XDG_STATE_HOME: join(home.env["HOME"]!, ".local/state") });
    expect(await store.list()).toEqual([]);
  });

  test("a server that fails, one that needs a login, and a port in use are said, and it goes on", async () => {
    const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
    const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
    const here = await machine({ db: '{ "command": "no-such-program" }', linear: `{ "url": "${guarded.url}" }` });
    const { home, term, port, config } = here;
    const busy = createServer().listen(port, "127.0.0.1");
    onDispose(() => void busy.close());
    here.start();
    const found = await term.until("Which servers shall Goblin take over?");
    expect(found).toContain("1 server needs a login; 1 server fails");
    expect(found).toContain('db: fails, because Cannot start "no-such-program"');
    expect(found).toContain("linear: needs a login (goblin login linear)");
    term.keys("Enter");
    await term.until("Keep 1 secret");
    // The secret stays where it is.
    term.keys("Right", "Enter");
    await term.until("Which clients");
    term.keys("Enter");
    await term.until("runs twice?");
    term.keys("Right", "Enter");
    const asked = await term.until(/Write \//);
    const [, next] = /Port \d+ is in use\. Goblin takes (\d+)\./.exec(asked)!;
    term.keys("Enter");
    await term.until("3 of 4 ready");
    const called = await home.goblin("call", "clock_now", "--url", `http://127.0.0.1:${next}`);
    expect(called.code).toBe(0);
    const { mcpServers, gateway } = JSON.parse(readFileSync(config, "utf8"));
    expect(gateway).toEqual({ port: Number(next) });
    // What fails is not taken unless it is chosen.
    expect(Object.keys(mcpServers).sort()).toEqual(["clock", "lab", "linear", "notes"]);
    expect(mcpServers.clock.env).toEqual({ API_KEY: "sk-live-1234567" });
    const cursor = [...here.files.keys()][0]!;
    expect(readFileSync(cursor, "utf8")).toContain("no-such-program");
    term.keys("q");
    await term.until("code 0");
    expect((await home.goblinWith({ env: own }, "undo")).code).toBe(0);
    isAsBefore(here);
  });

  test("ctrl-c at any question changes nothing", async () => {
    const questions = [
      "Which servers shall",
      "Keep 1 secret",
      "Which clients shall",
      "so that none runs twice?",
      "Write /",
    ];
    const here = await machine();
    const { term, home } = here;
    for (const [i, last] of questions.entries()) {
      term.keys("clear", "Enter");
      here.start();
      for (const question of questions.slice(0, i)) {
        await term.until(question);
        term.keys("Enter");
      }
      await term.until(last);
      term.keys("C-c");
      expect(await term.until("code 130")).toContain("Nothing was changed.");
      isAsBefore(here);
    }
    expect((await home.goblinWith({ env: own }, "undo")).out).toBe("There is nothing to undo.\n");
  });

  test("nothing is found: an empty config, or the demo", async () => {
    const home = commandHome();
    const term = openTerminal({ columns: 160, rows: 45 });
    onDispose(() => term.close());
    const port = await freePort();
    const env = `HOME='${home.env["HOME"]}' PATH='${process.env["PATH"]}' GOBLIN_PORT=${port} TERM=xterm-256color`;
    const line = `cd ${home.folder}; env -i ${env} ${process.execPath} ${PROGRAM}; echo code $?`;
    term.keys(line, "Enter");
    await term.until("No MCP client on this machine has a server.");
    term.keys("Enter");
    await term.until("3 of 3 ready");
    term.keys("q");
    await term.until("code 0");
    term.keys("clear", "Enter");
    term.keys(line, "Enter");
    await term.until("No MCP client on this machine has a server.");
    term.keys("Down", "Enter");
    await term.until(/Write \//);
    term.keys("Enter");
    await term.until("0 of 0");
    term.keys("q");
    await term.until("code 0");
    const config = join(home.env["HOME"]!, ".config/goblin/goblin.json");
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({
      mcpServers: {},
      names: { repeatPrefix: false },
      gateway: { port },
    });
  });
});
