/** Commands that were typed wrongly: each is told what would be right, and ends with code 2. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const wrong = (message: string) => ({ code: 2, out: "", err: `goblin: ${message}\n` });

/** Two servers behind a gateway that runs, and in a config. */
async function setup(gateway: Record<string, unknown> = {}) {
  const one = await startScripted({ name: "one" });
  const two = await startScripted({ name: "two" });
  const mcpServers = { clock: one.entry, notes: two.entry };
  const running = await startGoblin({ mcpServers, gateway });
  const home = commandHome();
  const config = home.write("some.json", { mcpServers });
  return { one, two, home, config, at: ["--url", running.origin] };
}

test("list: a server and a kind that do not exist", async () => {
  const { home, at, config, one, two } = await setup();
  const starts = async () => [...(await one.events("start")), ...(await two.events("start"))].length;
  const before = await starts();
  const kinds = "tools, prompts, resources, templates, servers";
  expect(await home.goblin("list", "tools", "-s", "clok", ...at)).toEqual(
    wrong('there is no server "clok" (did you mean "clock"?)'),
  );
  expect(await home.goblin("list", "tools", "-s", "nobody", "-c", config)).toEqual(
    wrong('there is no server "nobody" (there are clock, notes)'),
  );
  expect(await home.goblin("list")).toEqual(wrong(`list what? Choose one of ${kinds}`));
  expect(await home.goblin("list", "tols")).toEqual(wrong(`list tols: expected one of ${kinds}`));
  expect(await starts()).toBe(before);
});

test("list of one server starts no other", async () => {
  const { home, config, one, two } = await setup();
  const before = [(await one.events("start")).length, (await two.events("start")).length];
  const { out, code } = await home.goblin("list", "tools", "--json", "-s", "clock", "-c", config);
  expect(code).toBe(0);
  expect(new Set(JSON.parse(out).map((tool: { serverId: string }) => tool.serverId))).toEqual(new Set(["clock"]));
  expect([(await one.events("start")).length, (await two.events("start")).length]).toEqual([before[0]! + 1, before[1]]);
});

test("--args - reads stdin", async () => {
  const { home, at } = await setup();
  const added = await home.goblinWith({ input: '{"a": 1}' }, "call", "clock_add", "--args", "-", "b=2", ...at);
  expect(added).toEqual({ code: 0, out: "3\n", err: "" });
  const broken = await home.goblinWith({ input: "{" }, "call", "clock_add", "--args", "-", ...at);
  expect(broken).toMatchObject({ code: 2, err: expect.stringMatching(/^goblin: --args is not JSON: /) });
});

test("a prompt, a resource, an argument, and a wrong token", async () => {
  const { home, at } = await setup({ auth: { tokens: ["client-token-1"] }, admin: { tokens: ["right-token-1"] } });
  const run = (...args: string[]) => home.goblinWith({ env: { GOBLIN_TOKEN: "right-token-1" } }, ...args, ...at);
  expect(await run("prompt", "clock_gret", "name=x")).toEqual(
    wrong('there is no prompt "clock_gret" (did you mean "clock_greet"?)'),
  );
  expect(await run("read", "clock+text:///helo")).toEqual(
    wrong('there is no resource "clock+text:///helo" (did you mean "clock+text:///hello"?)'),
  );
  expect(await run("call", "clock_add", "12")).toEqual(
    wrong('"12" is not key=value; the tool takes a=<number> b=<number>'),
  );
  const ecko = await run("call", "clock_ecko", "--json");
  expect(JSON.parse(ecko.err).error).toEqual({
    code: "USAGE",
    message: 'there is no tool "clock_ecko" (did you mean "clock_echo"?)',
  });
  const refused = await home.goblin("status", "-t", "wrong", ...at);
  expect(refused).toEqual({ code: 1, out: "", err: "goblin: the token was refused: check --token\n" });
});

test("a config, checked with --json", async () => {
  const home = commandHome();
  home.write("bad.json", '{ "mcpServers": { "a": {} } }');
  const { code, out } = await home.goblin("check", "--json", "-c", "bad.json");
  expect([code, JSON.parse(out)]).toMatchObject([1, { ok: false, errors: [{ key: "mcpServers.a" }] }]);
});

test("a URL where another program answers", async () => {
  const server = createServer((_, response) => response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await commandHome().goblin("status", "--url", url);
  expect([code, err]).toEqual([1, `goblin: ${url} answers, but not as a Goblin gateway: is it another program?\n`]);
});

test("what the API refuses comes with its page", async () => {
  const { home, at } = await setup({ auth: { tokens: ["client-token-1"] }, admin: { tokens: ["right-token-1"] } });
  const run = (token: string, ...args: string[]) => home.goblinWith({ env: { GOBLIN_TOKEN: token } }, ...args, ...at);
  expect((await run("client-token-1", "status")).err).toBe(
    "goblin: This token does not open the API: use an admin token\nWhat to do: docs/errors.md#forbidden\n",
  );
  const json = await run("right-token-1", "approvals", "show", "none", "--json");
  expect(JSON.parse(json.err).error).toMatchObject({
    code: "API_ERROR",
    apiCode: "APPROVAL_NOT_FOUND",
    page: "docs/errors.md#approval_not_found",
  });
});

test("prompts, resources and arguments", async () => {
  const { home, at } = await setup();
  const run = (...args: string[]) => home.goblin(...args, ...at);
  expect(await run("prompt", "clock_gret", "name=x")).toEqual(
    wrong('there is no prompt "clock_gret" (did you mean "clock_greet"?)'),
  );
  expect(await run("prompt", "nope")).toEqual(wrong('there is no prompt "nope" (see "goblin list prompts")'));
  expect(await run("prompt", "clock_greet", "Ada")).toEqual(
    wrong('"Ada" is not key=value; the prompt takes name=<string> [style=<string>]'),
  );
  expect(await run("read", "clock+text:///helo")).toEqual(
    wrong('there is no resource "clock+text:///helo" (did you mean "clock+text:///hello"?)'),
  );
  expect(await run("read", "nope")).toEqual(wrong('there is no resource "nope" (see "goblin list resources")'));
  expect(await run("call", "clock_add", "12")).toEqual(
    wrong('"12" is not key=value; the tool takes a=<number> b=<number>'),
  );
  expect(await run("call", "clock_sleep", "soon")).toEqual(
    wrong('"soon" is not key=value; the tool takes ms=<integer>'),
  );
  expect(await run("call", "clock_whoami", "x")).toEqual(wrong('"x" is not key=value; the tool takes no arguments'));
});

test("a token that is refused is not asked for again, and its source is named", async () => {
  const { home, at } = await setup({ auth: { tokens: ["right-token-1"] } });
  const failed = (err: string) => ({ code: 1, out: "", err: `goblin: ${err}\n` });
  expect(await home.goblin("status", "-t", "wrong", ...at)).toEqual(failed("the token was refused: check --token"));
  expect(await home.goblinWith({ env: { GOBLIN_TOKEN: "wrong" } }, "status", ...at)).toEqual(
    failed("the token was refused: check GOBLIN_TOKEN"),
  );
  const port = Number(new URL(at[1]!).port);
  const file = home.write("goblin.json", { gateway: { port, auth: { tokens: ["old-token-1"] } } });
  expect(await home.goblin("list", "tools")).toEqual(failed(`the token was refused: check the first token in ${file}`));
});

test("https and http are not mixed up silently", async () => {
  const { home, at } = await setup();
  const secure = at[1]!.replace("http:", "https:");
  expect((await home.goblin("status", "--url", secure)).err).toBe(
    `goblin: ${secure} does not speak https: if it is plain http, name it as ${at[1]}\n`,
  );
  const silent = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onDispose(() => void silent.close());
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  expect((await home.goblin("status", "--url", url)).err).toBe(
    `goblin: ${url} closed the connection without an answer: if it speaks https, name it as ${url.replace("http", "https")}\n`,
  );
});

test("with --json, an error is JSON too", async () => {
  const { home, at } = await setup();
  const error = async (...args: string[]) => {
    const ran = await home.goblin(...args);
    expect(ran.out).toBe("");
    return [ran.code, JSON.parse(ran.err).error];
  };
  expect(await error("call", "clock_ecko", "--json", ...at)).toEqual([
    2,
    { code: "USAGE", message: 'there is no tool "clock_ecko" (did you mean "clock_echo"?)' },
  ]);
  expect(await error("call", "clock_fail", "code=-32050", "message=no", 'data={"x":1}', "--json", ...at)).toEqual([
    1,
    { code: "RPC_ERROR", message: "no", rpcCode: -32050, data: expect.objectContaining({ x: 1 }) },
  ]);
  expect(await error("list", "tools", "--json", "--nonsense")).toEqual([
    2,
    { code: "USAGE", message: "unknown option '--nonsense'" },
  ]);
  const broken = home.write("broken.json", '{ "gateway": { "port": -1 } }');
  expect(await error("list", "tools", "--json", "-c", broken)).toEqual([
    1,
    {
      code: "CONFIG_INVALID",
      message: expect.stringContaining("gateway.port"),
      problems: [{ file: broken, line: 1, column: 24, key: "gateway.port", message: expect.any(String) }],
    },
  ]);
  expect(await error("status", "--json", "--url", "127.0.0.1:2")).toEqual([
    1,
    { code: "FAILED", message: expect.stringContaining("no gateway is listening") },
  ]);
});

test("check --json", async () => {
  const home = commandHome();
  home.write("good.json", {
    globalShortcut: "",
    servers: { a: { command: "sh" }, b: { command: "sh", enabled: false } },
  });
  home.write("bad.json", '{ "mcpServers": { "a": {} } }');
  home.write("codex.toml", '[mcp_servers.a]\ncommand = "a"\n');
  const run = async (...args: string[]) => {
    const { code, out, err } = await home.goblin("check", "--json", ...args);
    return { code, err, ...JSON.parse(out) };
  };
  expect(await run("-c", "good.json")).toMatchObject({
    code: 0,
    err: "",
    ok: true,
    file: "good.json",
    servers: 2,
    disabled: 1,
    errors: [],
    warnings: [{ file: "good.json", line: 1, key: "globalShortcut" }],
  });
  expect(await run("-c", "bad.json")).toEqual({
    code: 1,
    err: "",
    ok: false,
    file: "bad.json",
    warnings: [],
    errors: [{ file: "bad.json", line: 1, column: 19, key: "mcpServers.a", message: "needs a command or a url" }],
  });
  expect(await run("-c", "codex.toml")).toMatchObject({
    ok: false,
    errors: [{ message: "this is TOML; Goblin reads JSON" }],
  });
  expect(await run()).toMatchObject({ code: 1, ok: false, file: null, errors: [{ message: "no config found" }] });
});
