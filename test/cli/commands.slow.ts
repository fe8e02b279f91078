/** More of the commands that use a gateway: mistakes, tokens, configs of the folder, completion. */
import { execFile } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CommandHome, commandHome, PROGRAM } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

let home: CommandHome;
let goblin: CommandHome["goblin"];
beforeEach(() => {
  home = commandHome();
  goblin = home.goblin;
});
afterEach(disposeAll);

/** The same server behind a gateway that runs, and in a config. */
async function both() {
  const mcpServers = { one: (await startScripted({ name: "one" })).entry };
  const config = home.write("some.json", { mcpServers });
  const running = await startGoblin({ mcpServers });
  return { running, ways: { running: ["--url", running.origin], config: ["--config", config] } };
}

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
