/** What `goblin policy test` and `goblin explain` refuse. */
import { afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

/** Two servers, so that a bare name is nobody's. */
const write = (home: CommandHome): string =>
  home.write("team.json", {
    mcpServers: { one: { command: "true", prefix: "p_" }, github: { command: "true" } },
    profiles: { small: {} },
  });

test.each([
  ['{ "cases": [{ "expect": "deny" }] }', "a case names one tool"],
  ['{ "cases": [{ "tool": "x", "expect": "deny" }] }', "no server of the config"],
  ['{ "cases": [{ "server": "gone", "tool": "x", "expect": "deny" }] }', 'the server "gone"'],
  ["{ cases }", "expected"],
])("goblin policy test refuses %s", async (text, message) => {
  const home = commandHome();
  const { code, err } = await home.goblin("policy", "test", home.write("bad.json", text), "--config", write(home));
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test.each([[["one/echo", "--profile", "none"]], [["p_nothing"]], [["p_echo", "--args", "[]"]]])(
  "goblin explain %s ends with exit code 2",
  async (args) => {
    const home = commandHome();
    expect((await home.goblin("explain", ...args, "--config", write(home))).code).toBe(2);
  },
);
