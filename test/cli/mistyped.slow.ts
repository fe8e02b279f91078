/** More commands that were typed wrongly, and what they are told. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";
import { setup, wrong } from "./mistyped-scene.ts";

afterEach(disposeAll);

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
