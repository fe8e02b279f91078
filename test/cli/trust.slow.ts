/**
 * The current folder is not trusted: what a config says that was found there counts after consent
 * only, and can lead neither a token nor a request to another machine.
 */
import { chmodSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commandHome, hasScript } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { isThorough } from "../fixtures/thorough.ts";
import {
  hasRun,
  isNotThisMachine,
  leadsNowhereElse,
  outer,
  runsIt,
  runsNothingUntrusted,
  showsItsServer,
  trap,
} from "./trust-checks.ts";

afterEach(disposeAll);

const listening = (child: { stdout: NodeJS.ReadableStream | null }): (() => string | undefined) => {
  let out = "";
  child.stdout?.on("data", (chunk) => {
    out += chunk;
  });
  return () => /listening on (\S+)/.exec(out)?.[1];
};

test("trust is for one text of one file, and can be taken back", async () => {
  const home = commandHome();
  const file = home.write("goblin.json", trap(home));
  await home.goblin("trust");
  const store = join(home.env["HOME"]!, ".local/state/goblin/trusted.json");
  expect(statSync(store).mode & 0o777).toBe(0o600);
  expect(JSON.parse((await home.goblin("trust", "--list", "--json")).out)).toMatchObject([
    { file, state: "trusted", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  home.write("goblin.json", { ...trap(home), log: {} });
  expect((await home.goblin("stdio")).code).toBe(1);
  expect((await home.goblin("trust", "--list")).out).toMatch(/goblin\.json +changed since +[0-9a-f]{12} /);
  home.write("goblin.json", trap(home));
  expect((await home.goblin("stdio")).code).toBe(0);
  expect((await home.goblin("untrust", "goblin.json")).out).toBe(`No longer trusted: ${file}\n`);
  expect((await home.goblin("stdio")).code).toBe(1);
  expect((await home.goblin("trust", "--list")).err).toBe("no config is trusted\n");
});

test("a link to a trusted file, and a list that others can write, are not believed", async () => {
  const home = commandHome();
  const file = home.write("goblin.json", trap(home));
  await home.goblin("trust");
  const elsewhere = join(home.folder, "elsewhere");
  mkdirSync(elsewhere);
  symlinkSync(file, join(elsewhere, "goblin.json"));
  expect((await home.goblinWith({ cwd: elsewhere }, "stdio")).err).toContain("is not trusted");
  const store = join(home.env["HOME"]!, ".local/state/goblin/trusted.json");
  chmodSync(store, 0o666);
  expect((await home.goblin("stdio")).err).toContain("other users can write to ");
  expect(hasRun(home)).toBe(false);
});

test.runIf(isThorough)("a file that is named, and the user's own, need no trust", async () => {
  const home = commandHome();
  home.write("goblin.json", trap(home));
  await runsIt(home, ["stdio", "--config", "goblin.json"]);
  const own = join(home.env["HOME"]!, ".config/goblin");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "goblin.json"), JSON.stringify({ mcpServers: {} }));
  const empty = join(home.folder, "empty");
  mkdirSync(empty);
  for (const cwd of [empty, own]) expect(await home.goblinWith({ cwd }, "stdio")).toMatchObject({ code: 0 });
});

test.runIf(hasScript && isThorough)("on a terminal serve shows what would be run and asks once", async () => {
  const home = commandHome();
  const config = {
    mcpServers: {
      "a\u202eb": {
        command: "/does/not/exist",
        args: ["--token=abcdef", "two words", "\u001b]0;owned\u0007"],
        env: { API_KEY: "sesame-1", FROM: "${env:HOME}", NODE_OPTIONS: "--require=./x.js" },
      },
      remote: { url: "https://example.com/mcp?key=sesame-2", headers: { Authorization: "Bearer sesame-3" } },
    },
    gateway: { port: 0, host: "0.0.0.0" },
  };
  home.write("goblin.json", config);
  const no = await home.onTerminal(["serve"], { typing: [["[y/N] ", "\r"]] });
  expect(no.code).toBe(1);
  const lines = no.shown.split("\r\n");
  expect(lines[0]).toBe(`${home.folder}/goblin.json would have Goblin run, with your rights:`);
  expect(lines).toContain('  a\ufffdb     /does/not/exist --token=[hidden] "two words" "\\u001b]0;owned\\u0007"');
  expect(lines).toContain("          variable API_KEY=[hidden]");
  expect(lines).toContain("          variable FROM=${env:HOME}");
  expect(lines).toContain("          variable NODE_OPTIONS=--require=./x.js");
  expect(lines).toContain("  remote  https://example.com/mcp?key=[hidden]");
  expect(lines).toContain("          header Authorization: [hidden]");
  expect(lines).toContain("It listens on 0.0.0.0.");
  expect(no.shown).not.toContain("sesame");
  for (const control of ["\u001b]", "\u0007", "\u202e"]) expect(no.shown).not.toContain(control);
  expect(no.shown).toContain("is not trusted");
  expect((await home.goblin("trust", "--list")).err).toBe("no config is trusted\n");
  home.write("goblin.json", { gateway: { port: 0 } });
  const yes = await home.onTerminal(["serve"], {
    typing: [
      ["[y/N] ", "y\r"],
      ["listening on", "\u0003"],
    ],
  });
  expect(yes).toMatchObject({ code: 0 });
  const again = await home.onTerminal(["serve"], { typing: [["listening on", "\u0003"]] });
  expect(again.code).toBe(0);
  expect(again.shown).not.toContain("[y/N]");
});

test.runIf(isThorough)("a changed file is not applied until it is trusted, then at once", async () => {
  const home = commandHome();
  const one = await startScripted({ name: "one" });
  home.write("goblin.json", { mcpServers: { one: one.entry }, gateway: { port: 0 } });
  await home.goblin("trust");
  const child = home.start(["serve"]);
  const url = await until(listening(child));
  const at = ["--url", new URL(url).origin];
  const api = async (path: string): Promise<string> => (await fetch(new URL(path, url))).text();
  const servers = async () =>
    (JSON.parse(await api("/api/servers")) as { items: { id: string }[] }).items.map(({ id }) => id);
  // As `git pull` does it.
  const changed = { mcpServers: { one: one.entry, ...(trap(home)["mcpServers"] as object) }, gateway: { port: 0 } };
  writeFileSync(join(home.folder, "new"), JSON.stringify(changed));
  renameSync(join(home.folder, "new"), join(home.folder, "goblin.json"));
  await until(async () => (await api("/api/state")).includes("is not trusted"), { what: "the refusal of the change" });
  const { out: status } = await home.goblin("status", ...at);
  expect(status).toContain("not applied");
  expect(status).toContain("is not trusted, so none of it takes effect");
  expect(status).toContain(`goblin trust ${home.folder}/goblin.json`);
  expect(await servers()).toEqual(["one"]);
  expect(hasRun(home)).toBe(false);
  const reloaded = await fetch(new URL("/api/reload", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect(reloaded.status).toBe(422);
  await home.goblin("trust");
  await until(async () => (await servers()).includes("trap"));
  expect((await home.goblin("status", ...at)).out).not.toContain("not applied");
});

test.runIf(isThorough)("no variable gets into the gateway of a config of the folder", async () => {
  const home = commandHome();
  const tokens = ["${env:SECRET_OF_THE_USER}"];
  const env = { SECRET_OF_THE_USER: "sesame-open-1" };
  const guarded = await startGoblin({ gateway: { auth: { tokens: ["sesame-open-1"] } } });
  const { port } = new URL(guarded.origin);
  const file = home.write("goblin.json", { gateway: { port: Number(port), auth: { tokens } } });
  expect((await home.goblinWith({ env }, "list", "servers")).err).toContain("asks for a token");
  const problem =
    `gateway.auth.tokens[0]: a config found in the current folder must not have \${…} in "gateway" ` +
    "(write the value itself, or name the file with --config)";
  expect((await home.goblinWith({ env }, "check")).err).toContain(problem);
  await home.goblin("trust");
  expect(await home.goblinWith({ env }, "serve")).toMatchObject({ code: 1, err: expect.stringContaining(problem) });
  expect((await home.goblinWith({ env }, "check", "--config", file)).code).toBe(0);
  expect((await home.goblinWith({ env }, "check", file)).code).toBe(0);
});

test("goblin.json of the folder runs nothing before it is trusted", () => runsNothingUntrusted("goblin.json"));

test.runIf(outer)("a config of the folder leads to this machine only, trusted or not", () =>
  leadsNowhereElse([["status"], ["call", "x"]]),
);

test("127.0.0.1.example.com is not this machine", () => isNotThisMachine("127.0.0.1.example.com"));

test("the question shows the servers that would run, also in another client's form", () =>
  showsItsServer({ mcp: { trap: { type: "local", command: ["run-me", "now"] } } }));

test(".mcp.json of the folder runs nothing before it is trusted", () => runsNothingUntrusted(".mcp.json"));

test.runIf(outer)("no command is led to another machine, trusted or not", () =>
  leadsNowhereElse([["list", "tools"], ["read", "x"], ["prompt", "x"], ["tui"], ["tokens"]]),
);

test.each(["127.0.0.1@example.com", "localhost.example.com", "0177.1", "::ffff:8.8.8.8"])(
  "%s is not this machine",
  isNotThisMachine,
);

test.each([
  ["a bare map", { trap: { command: "run-me", args: ["now"] } }],
  ["Zed", { context_servers: { trap: { command: { path: "run-me", args: ["now"] } } } }],
  ["a list", { mcpServers: [{ name: "trap", command: ["run-me", "now"] }] }],
])("the question shows the servers that would run, also in the form of %s", (_name, config) => showsItsServer(config));
