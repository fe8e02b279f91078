/**
 * The commands that use a gateway, one that runs or one of a config: what they print, where, and
 * with which exit code; their mistakes, tokens and completions.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CommandHome, commandHome, PROGRAM } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { hasTmux, openTerminal } from "../tui/pty.ts";

let home: CommandHome;
let goblin: CommandHome["goblin"];
beforeEach(() => {
  home = commandHome();
  goblin = home.goblin;
});
afterEach(disposeAll);

async function configured() {
  const one = await startScripted({ name: "one" });
  return { one, config: home.write("some.json", { mcpServers: { one: one.entry } }) };
}

/** The same server behind a gateway that runs, and in a config. */
async function both() {
  const { one, config } = await configured();
  const running = await startGoblin({ mcpServers: { one: one.entry } });
  return { one, running, ways: { running: ["--url", running.origin], config: ["--config", config] } };
}

test("lists, calls, reads and prompts of a gateway that runs", async () => {
  const { ways } = await both();
  const at = ways.running;
  const [tools, servers, added, typo, missing, failed, error] = await Promise.all([
    goblin("list", "tools", ...at),
    goblin("list", "servers", "--json", ...at),
    goblin("call", "one_add", "a=2", "b=40", ...at),
    goblin("call", "one_add", "a=two", "b=1", ...at),
    goblin("call", "one_add", "a=1", ...at),
    goblin("call", "one_tool_error", "text=it broke", ...at),
    goblin("call", "one_fail", "message=deliberate", ...at),
  ]);
  expect(tools.out).toMatch(/^TOOL +SERVER +DESCRIPTION\n/);
  expect(tools.out).toMatch(/^one_add +one +Adds two numbers$/m);
  expect(JSON.parse(servers.out)).toMatchObject([{ id: "one", state: "ready", transport: "stdio" }]);
  expect(added).toEqual({ code: 0, out: "42\n", err: "" });
  expect(typo).toEqual({ code: 2, out: "", err: "goblin: a=two: expected a number\n" });
  expect(missing).toEqual({ code: 2, out: "", err: "goblin: missing: b=<number>\n" });
  expect(failed).toEqual({ code: 1, out: "it broke\n", err: "" });
  expect(error).toEqual({ code: 1, out: "", err: "goblin: deliberate\n" });
  const [text, blob, greeting, rich, none] = await Promise.all([
    goblin("read", "one+text:///hello", ...at),
    goblin("read", "one+blob:///pixel", "--out", ".", ...at),
    goblin("prompt", "one_greet", "name=Ada", ...at),
    goblin("prompt", "one_rich", "--out", "files", ...at),
    goblin("prompt", "one_greet", ...at),
  ]);
  expect(text).toEqual({ code: 0, out: "hello 0\n", err: "" });
  expect(blob).toEqual({ code: 0, out: "", err: "saved image/png, 70 bytes: pixel-1.png\n" });
  expect(readFileSync(join(home.folder, "pixel-1.png")).subarray(1, 4).toString()).toBe("PNG");
  expect(greeting.out).toBe("user:\nGreet Ada warmly\n");
  expect(rich.err).toContain("saved audio/wav, ");
  expect(readFileSync(join(home.folder, "files/one_rich-1.wav")).subarray(0, 4).toString()).toBe("RIFF");
  expect(none).toEqual({
    code: 1,
    out: "",
    err: 'goblin: Prompt one_greet needs "name"\nWhat to do: docs/errors.md#prompt-002\n',
  });
});

test("lists, calls and reads straight from a config, whose servers end with the command", async () => {
  const { one, config } = await configured();
  const at = ["--config", config];
  const [resources, added, blob] = await Promise.all([
    goblin("list", "resources", ...at),
    goblin("call", "one_add", "--args", '{"a":1}', "b=2", "--json", ...at),
    goblin("read", "one+blob:///pixel", "--out", "deep/er", ...at),
  ]);
  expect(resources.out).toMatch(/^one\+text:\/\/\/hello +text\/plain +5 B +Hello$/m);
  expect(JSON.parse(added.out)).toMatchObject({ structuredContent: { sum: 3 } });
  expect(blob.err).toBe("saved image/png, 70 bytes: deep/er/pixel-1.png\n");
  const pids = (await one.events("start")).map((record) => record.pid);
  expect(pids).toHaveLength(3);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("status says how it is, in words, in JSON and by its exit code", async () => {
  const { one, running, ways } = await both();
  const well = await goblin("status", ...ways.running);
  expect(well.code).toBe(0);
  expect(well.out).toContain(`at ${running.url}, up `);
  expect(well.out).toMatch(/^one +ready +stdio /m);
  expect(well.out).not.toContain("no server");
  const body = JSON.stringify({ name: "nobody_knows", arguments: {} });
  const headers = { "content-type": "application/json" };
  await fetch(`${running.origin}/api/tools/call`, { method: "POST", headers, body });
  expect((await goblin("status", ...ways.running)).out).toMatch(/, 1 failed, .*\n1 call went to no server, 1 failed\n/);
  one.setScript({ crashOnStart: true });
  const json = await goblin("status", "--json", ...ways.running);
  expect(JSON.parse(json.out)).toMatchObject({ endpoint: running.url, servers: [{ id: "one", state: "ready" }] });
  const bad = home.write("bad.json", { mcpServers: { gone: { command: "no-such-program-at-all" } } });
  const ill = await goblin("status", "--config", bad);
  expect(ill.out).toMatch(/^Goblin \d+\.\d+\.\d+, started for this command alone\n/);
  expect(ill.code).toBe(1);
  expect(ill.out).toMatch(/^gone +down /m);
});

test("the API's own address is found in the config of this folder", async () => {
  const apart = await startGoblin({ gateway: { admin: { tokens: ["cli-token-1"], port: 0 } } });
  const gateway = {
    port: Number(new URL(apart.origin).port),
    admin: { port: Number(new URL(apart.adminUrl!).port), tokens: ["cli-token-1"] },
  };
  home.write("goblin.json", { gateway });
  expect(JSON.parse((await goblin("status", "--json")).out)).toMatchObject({ endpoint: apart.url });
  expect((await goblin("list", "prompts", "--json")).out).toBe("[]\n");
});

test("a broken config is refused when a reload is asked for, and changes nothing", async () => {
  const one = await startScripted({ name: "one" });
  const path = home.write("goblin.json", { mcpServers: { one: one.entry }, gateway: { port: 0 } });
  const child = home.start(["serve", "--config", path]);
  let out = "";
  child.stdout!.on("data", (chunk) => {
    out += chunk;
  });
  const url = await until(() => /listening on (\S+)/.exec(out)?.[1]);
  home.write("goblin.json", '{ "mcpServers": [{}] }');
  const broken = await fetch(new URL("/api/reload", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect(broken.status).toBe(422);
  expect(await broken.json()).toMatchObject({ error: { code: "CONFIG_INVALID" } });
  const state = JSON.parse((await goblin("status", "--json", "--url", url)).out);
  expect(state).toMatchObject({ endpoint: url, configPath: expect.stringMatching(/goblin\.json$/) });
  expect(state.servers.map((server: { id: string }) => server.id)).toEqual(["one"]);
});

test.runIf(hasTmux)("serve --tui shows the gateway and leaves the terminal as it was", async () => {
  const one = await startScripted({ name: "one" });
  home.write("t.json", { mcpServers: { one: one.entry }, gateway: { port: 0 } });
  const terminal = openTerminal({ columns: 100, rows: 30 });
  try {
    terminal.keys(
      `HOME=${home.env["HOME"]} ${process.execPath} ${PROGRAM} serve --tui --config ${home.folder}/t.json; echo "exit $?"`,
      "Enter",
    );
    await terminal.until((screen) => /one\b.*ready/.test(screen));
    expect(terminal.screen()).not.toContain("listening");
    terminal.keys("q");
    await terminal.until("exit 0");
    expect(terminal.variable("alternate_on")).toBe("0");
  } finally {
    terminal.close();
  }
});

test("schema: what editors read, as it is in the package", async () => {
  const { code, out } = await goblin("schema");
  expect(code).toBe(0);
  expect(out).toBe(readFileSync(new URL("../../schema/goblin.schema.json", import.meta.url), "utf8"));
});

test("a token is sent when it is given, and asked for when it is not", async () => {
  const { origin } = await startGoblin({
    gateway: { auth: { tokens: ["client-1"] }, admin: { tokens: ["cli-token-1"] } },
  });
  const at = ["--url", origin];
  expect(await goblin("list", "servers", ...at)).toEqual({
    code: 1,
    out: "",
    err: "goblin: the gateway asks for a token: give --token or set GOBLIN_TOKEN\n",
  });
  expect((await goblin("list", "servers", "--json", "--token", "cli-token-1", ...at)).out).toBe("[]\n");
});

test("completion offers names and arguments", async () => {
  const { running } = await both();
  const offers = async (line: string) => (await goblin("complete", "--line", line)).out;
  expect(await offers(`goblin call --url ${running.origin} one_ec`)).toBe("one_echo\n");
  expect(await offers(`goblin call --url ${running.origin} one_add a=1 `)).toBe("b=\n");
});

test("ui prints a link that works once, and says where it looked", async () => {
  const { origin } = await startGoblin({
    mcpServers: {},
    gateway: { auth: { tokens: ["a-client-token"] }, admin: { tokens: ["an-admin-token"] } },
  });
  const opened = await goblin("ui", "--no-browser", "--url", origin, "--token", "an-admin-token");
  expect(opened.code).toBe(0);
  const link = new URL(opened.out.trim());
  expect(link.href).toContain(`${origin}/ui#code=`);
  const code = link.hash.slice("#code=".length);
  const redeem = async (): Promise<number> => {
    const headers = { "content-type": "application/json" };
    return (await fetch(`${origin}/ui/session`, { method: "POST", headers, body: JSON.stringify({ code }) })).status;
  };
  expect([await redeem(), await redeem()]).toEqual([200, 401]);
});

test("mistakes are answered in one line that helps, and no stack", async () => {
  const { ways } = await both();
  home.write("goblin.json", { gateway: { port: 2 } });
  const [refused, unknown, what, twice, shell, notAUrl] = await Promise.all([
    goblin("status"),
    goblin("call", "one_ecko", ...ways.running),
    goblin("list", "things", ...ways.running),
    goblin("list", "tools", ...ways.running, ...ways.config),
    goblin("completion", "tcsh"),
    goblin("list", "tools", "--url", "http://"),
  ]);
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(
    /^goblin: no gateway is listening on http:\/\/127.0.0.1:2: start one with "goblin serve".*\n$/,
  );
  expect(unknown).toEqual({
    code: 2,
    out: "",
    err: 'goblin: there is no tool "one_ecko" (did you mean "one_echo"?)\n',
  });
  expect(what.err).toBe("goblin: list things: expected one of tools, prompts, resources, templates, servers\n");
  expect(twice.code).toBe(2);
  expect(shell).toMatchObject({ code: 2, err: "goblin: completion tcsh: expected one of bash, zsh, fish\n" });
  expect(notAUrl.code).toBe(2);
});

test("a token is sent when it is given, in the environment or in the config of this folder", async () => {
  const guarded = await startGoblin({
    gateway: { auth: { tokens: ["client-1"] }, admin: { tokens: ["cli-token-1"] } },
  });
  const at = ["--url", guarded.origin];
  expect(await goblin("list", "servers", ...at)).toEqual({
    code: 1,
    out: "",
    err: "goblin: the gateway asks for a token: give --token or set GOBLIN_TOKEN\n",
  });
  expect((await goblin("list", "servers", "--json", "--token", "cli-token-1", ...at)).out).toBe("[]\n");
  expect(
    (await home.goblinWith({ env: { GOBLIN_TOKEN: "cli-token-1" } }, "list", "servers", "--json", ...at)).out,
  ).toBe("[]\n");
  expect(await goblin("list", "servers", "--token", "client-1", ...at)).toMatchObject({
    code: 1,
    err: "goblin: This token does not open the API: use an admin token\nWhat to do: docs/errors.md#forbidden\n",
  });
  expect(
    (await home.goblinWith({ env: { GOBLIN_TOKEN: "wrong-token" } }, "list", "servers", "--json", ...at)).code,
  ).toBe(1);
  const gateway = {
    port: Number(new URL(guarded.origin).port),
    auth: { tokens: ["client-1"] },
    admin: { tokens: ["cli-token-1"] },
  };
  home.write("goblin.json", { gateway });
  expect((await goblin("list", "servers", "--json")).out).toBe("[]\n");
});

test("a gateway is found by the config of this folder also while that is broken", async () => {
  const running = await startGoblin({});
  const { port } = new URL(running.origin);
  for (const rest of ['"mcpServers": { "one": {} }', '"mcpServers": { "one": ', '"mcpServers": [] "log": 1']) {
    home.write("goblin.json", `{ "gateway": { "port": ${port} }, ${rest} }`);
    expect(JSON.parse((await goblin("status", "--json")).out)).toMatchObject({ endpoint: running.url });
  }
});

test("completion offers commands, names, arguments and values", async () => {
  const { running, ways } = await both();
  const at = `--url ${running.origin}`;
  const expected: Record<string, string[]> = {
    "goblin co": ["completion"],
    "goblin list t": ["tools", "templates"],
    [`goblin call ${at} one_ec`]: ["one_echo"],
    [`goblin call --config ${ways.config[1]} one_ad`]: ["one_add"],
    [`goblin call ${at} one_add a=1 `]: ["b="],
    [`goblin call ${at} one_ask kind=`]: ["kind=", "kind=elicitation", "kind=sampling", "kind=roots"],
    [`goblin read ${at} one+te`]: ["one+text:///hello"],
    [`goblin prompt ${at} one_greet `]: ["name=", "style="],
    "goblin call --js": ["--json"],
    "goblin call one_": [],
  };
  const lines = Object.keys(expected);
  const offers = await Promise.all(lines.map((line) => goblin("complete", "--line", line)));
  expect(Object.fromEntries(lines.map((line, i) => [line, offers[i]!.out.split("\n").slice(0, -1)]))).toEqual(expected);
});

test("the bash script completes in bash, also behind = and :", async () => {
  const { running } = await both();
  const script = `
goblin() { "${process.execPath}" "${PROGRAM}" "$@"; }
eval "$(goblin completion bash)"
compopt() { :; }
try() { COMP_LINE="$1"; COMP_POINT=\${#1}; shift; COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _goblin; printf '%s,' "\${COMPREPLY[@]}"; echo; }
try "goblin call --url ${running.origin} one_ec" goblin call --url x one_ec
try "goblin call --url ${running.origin} one_ask kind=sam" goblin call --url x one_ask kind = sam
try "goblin call --url ${running.origin} one_ask kind=" goblin call --url x one_ask kind =
try "goblin read --url ${running.origin} one+text:///h" goblin read --url x one+text : ///h
`;
  const out = await new Promise<string>((resolve) =>
    execFile("bash", ["--norc", "-c", script], { cwd: home.folder, env: home.env }, (_, text) => resolve(text)),
  );
  expect(out.split("\n")).toEqual(["one_echo,", "sampling,", ",elicitation,sampling,roots,", "///hello,", ""]);
});

test("ui says where it looked", async () => {
  const { origin } = await startGoblin({
    gateway: { auth: { tokens: ["a-client-token"] }, admin: { tokens: ["an-admin-token"] } },
  });
  const refused = await goblin("ui", "--no-browser", "--url", origin, "--token", "wrong");
  expect(refused).toMatchObject({ code: 1, err: "goblin: the token was refused: check --token\n" });
  const nobody = await goblin("ui", "--no-browser", "--url", "http://127.0.0.1:2");
  expect(nobody.err).toMatch(/^goblin: no gateway is listening on http:\/\/127.0.0.1:2: start one/);
});
