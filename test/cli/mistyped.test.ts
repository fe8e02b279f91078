/**
 * Commands that were typed wrongly: each is told what would be right, and ends with exit code 2.
 * mistyped.slow.ts has more of them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";
import { setup, wrong } from "./mistyped-scene.ts";

afterEach(disposeAll);

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
