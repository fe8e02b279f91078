/** `goblin explain` and `goblin preflight` against a running gateway, by its rules and profiles. */
import { dirname } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

vi.setConfig({ testTimeout: 90_000 });
afterEach(disposeAll);

const ADMIN = "an-admin-token-for-a-test-0123456789";
const CLIENT = "a-client-token-for-a-test-0123456789";
const headers = { "content-type": "application/json", authorization: `Bearer ${ADMIN}` };

async function configured() {
  const server = await startScripted({ name: "one" });
  return {
    mcpServers: {
      one: {
        ...server.entry,
        tools: {
          deny: ["sum*"],
          overrides: {
            echo: { timeoutMs: 99, results: { drop: ["**.html"] } },
            fail: { results: { over: "error", pick: ["id"] } },
          },
        },
      },
      gone: { command: "/does/not/exist" },
    },
    results: { over: "spill", maxTokens: 500 },
    timeouts: { callMs: 7000 },
    tools: { expose: "search" },
    profiles: { small: { tools: { allow: ["echo"] }, expose: "all" } },
    policy: {
      rules: [
        { id: "no-adding", effect: "deny", tools: ["add"], who: { principals: ["ci"] } },
        { id: "short", effect: "deny", tools: ["echo"], who: { principals: ["ci"] }, when: "size(args.message) > 3" },
        { id: "ask-first", effect: "ask", tools: ["sleep"], who: { principals: ["ci"] } },
      ],
    },
    gateway: { auth: { clients: { ci: { token: CLIENT } } }, admin: { tokens: [ADMIN] } },
  };
}

test("a running gateway explains by its rules and profiles, with lines, without its config", async () => {
  const given = await configured();
  const port = await freePort();
  const config = { ...given, gateway: { ...given.gateway, port } };
  const home = commandHome();
  const url = `http://127.0.0.1:${port}`;
  const text = JSON.stringify(config, null, 2);
  const path = home.write("team.json", text);
  const lines = text.split("\n");
  const lineOf = (part: string): number => lines.findIndex((line) => line.includes(part)) + 1;
  home.start(["serve", "--config", path], { cwd: dirname(home.folder) });
  await until(async () => {
    const tools = await fetch(`${url}/api/tools`, { headers }).catch(() => undefined);
    return tools !== undefined && (await tools.text()).includes("one_echo");
  });
  // Another folder, without a config.
  const elsewhere = { cwd: home.env["HOME"]!, env: { GOBLIN_TOKEN: ADMIN } };
  const ask = (...args: string[]) => home.goblinWith(elsewhere, ...args, "--url", url);
  const rule = `${path}:${lineOf('"no-adding"') - 1}`;

  const hidden = await ask("explain", "one_add", "--as", "ci", "--json");
  expect(hidden.code).toBe(1);
  expect(JSON.parse(hidden.out)).toMatchObject({
    server: "one",
    tool: "add",
    exposed: "one_add",
    visible: false,
    decidedBy: "no-adding",
    rules: [{ id: "no-adding", at: rule }],
    timeout: { ms: 7000, from: "timeouts.callMs", line: lineOf('"callMs"') },
  });
  const refused = await ask("explain", "one/echo", "--as", "ci", "--args", '{"message":"long"}');
  expect(refused.code).toBe(1);
  expect(refused.out).toContain(`effect   deny, by short at ${path}:`);
  expect(refused.out).toContain("when size(args.message) > 3: holds\n");
  expect(refused.out).toContain("results  without **.html; over 500 tokens: kept, and a preview and a link are sent\n");
  expect(refused.out).toContain('listed   no: clients find it by search: tools.expose is "search"');
  const asking = await ask("explain", "one/sleep", "--as", "ci");
  expect([asking.code, asking.out]).toEqual([0, expect.stringContaining("effect   ask, by ask-first at ")]);
  const byConfig = await home.goblinWith(elsewhere, "explain", "one/sleep", "--as", "ci", "--config", path);
  expect([byConfig.code, byConfig.out]).toEqual([0, expect.stringContaining("effect   ask, by ask-first at ")]);
  const checked = await ask("preflight", "one_add", "one_fail", "--as", "ci");
  expect(checked).toMatchObject({ code: 11, out: `blocked  one_add: rule no-adding at ${rule}\nready    one_fail\n` });
  const inProfile = await ask("preflight", "one_add", "--profile", "small");
  expect(inProfile.out).toBe('blocked  one_add: the profile "small" does not show it\n');
});

test("the API explains what it is asked about, and is guarded", async () => {
  const goblin = await startGoblin(await configured());
  const ask = async (body: object, token = ADMIN) => {
    const authorization = `Bearer ${token}`;
    const asked = { method: "POST", headers: { ...headers, authorization }, body: JSON.stringify(body) };
    const response = await fetch(`${goblin.origin}/api/explain`, asked);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const why = async (body: object) => (await ask(body)).body["why"];
  const problem = async (body: object) => {
    const { status, body: answer } = await ask(body);
    return [status, (answer["error"] as { message: string }).message];
  };
  expect((await ask({ name: "one/echo", as: "ci", arguments: { message: "no" } })).body).toMatchObject({
    effect: "allow",
    arguments: { message: "no" },
    timeout: { ms: 99, from: "mcpServers.one.tools.overrides.echo.timeoutMs", line: null, maxMs: 600_000 },
    state: "ready",
    breaker: { open: false, failures: 0, retryInMs: 0 },
    config: null,
    lastErrors: [],
    tokens: expect.any(Number),
  });
  const shaping = "without **.html; over 500 tokens: kept, and a preview and a link are sent";
  const results = async (name: string) => (await ask({ name })).body["results"];
  const plain = "over 500 tokens: kept, and a preview and a link are sent";
  expect([await results("one_echo"), await results("one_add")]).toEqual([shaping, plain]);
  expect(await results("one_fail")).toBe("only id; over 500 tokens: replaced by an error");
  expect(await results("one+text:///hello")).toBeNull();
  expect(await why({ name: "one_add", as: "ci" })).toBe("the rule no-adding hides it");
  expect((await ask({ name: "one_echo", profile: "small" })).body).toMatchObject({ listed: true, effect: "allow" });
  expect(await why({ name: "one_add", profile: "small" })).toBe('the profile "small" does not show it');
  expect((await ask({ name: "one+text:///hello" })).body).toMatchObject({ kind: "resource", tokens: null });
  expect(await problem({ name: "one_echo", profile: "smal" })).toEqual([400, 'The config has no profile "smal"']);
  expect(await problem({ name: "one_sum" })).toEqual([404, 'mcpServers.one.tools.deny leaves "sum" out']);
  expect(await problem({ name: "gone_x" })).toEqual([404, expect.stringMatching(/the server "gone" is down: Cannot/)]);
  expect(await problem({ name: "one_ehco" })).toEqual([404, expect.stringContaining('did you mean "one_echo"?')]);
  expect((await ask({})).status).toBe(400);
  expect((await ask({ name: "one_echo" }, CLIENT)).status).toBe(403);
});
