/** `goblin preflight`: the exit codes that CI decides by. */
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("ready, retry, blocked and unknown are told apart, with and without a running gateway", async () => {
  const home = commandHome();
  const server = await startScripted({ name: "one" });
  const config = {
    mcpServers: {
      one: server.entry,
      away: { url: "http://127.0.0.1:9/mcp" },
      off: { command: "anything", disabled: true },
    },
    profiles: { small: { tools: { allow: ["echo"] } } },
  };
  const goblin = await startGoblin(config);
  const at = ["--url", goblin.origin];
  const path = home.write("some.json", {
    ...config,
    policy: { rules: [{ id: "no-adding", effect: "deny", tools: ["add"], who: { principals: ["ci"] } }] },
    gateway: { auth: { clients: { ci: { token: "a-long-token-for-a-test-0123456789" } } } },
  });
  const check = async (...args: string[]) => {
    const { code, out } = await home.goblin("preflight", ...args, "--json");
    return [code, ...(JSON.parse(out) as { state: string }[]).map(({ state }) => state)];
  };
  expect(await check("one_add", "one/echo", ...at)).toEqual([0, "ready", "ready"]);
  expect(await check("one_add", "away_x", ...at)).toEqual([10, "ready", "retry"]);
  expect(await check("off_x", "away_x", ...at)).toEqual([11, "blocked", "retry"]);
  expect(await check("one_nothing", "other", "off_x", ...at)).toEqual([12, "unknown", "unknown", "blocked"]);
  expect(await check("one_add", "one_echo", "--as", "ci", "--config", path)).toEqual([11, "blocked", "ready"]);
  expect(await check("one_add", "one_echo", "--profile", "small", "--config", path)).toEqual([11, "blocked", "ready"]);
  const { out } = await home.goblin("preflight", "one_add", "--as", "ci", "--config", path);
  expect(out).toBe(`blocked  one_add: rule no-adding at ${path}:1\n`);
  expect((await home.goblin("preflight")).code).toBe(2);
});
