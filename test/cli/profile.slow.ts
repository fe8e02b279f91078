/** `--profile` of the commands that use a gateway: they see what clients of the profile see. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

const profiles = {
  small: {
    tools: { allow: ["echo"] },
    prompts: { deny: ["*"] },
    resources: { allow: ["text:///hello"] },
  },
};

// The tests share a gateway and a config.
let home: CommandHome;
let ways: [running: string[], config: string[]];
beforeAll(async () => {
  home = commandHome();
  const one = await startScripted({ name: "one" });
  const config = { mcpServers: { one: one.entry }, profiles, metaTools: { enabled: [] } };
  const { origin } = await startGoblin(config);
  ways = [
    ["--url", origin],
    ["--config", home.write("p.json", config)],
  ];
});
afterAll(disposeAll);

test("lists hold what the profile shows, of a gateway that runs and of a config", async () => {
  for (const way of ways) {
    const names = async (what: string, key: string, ...more: string[]) => {
      const { code, out, err } = await home.goblin("list", what, "--profile", "small", "--json", ...way, ...more);
      expect([code, err]).toEqual([0, ""]);
      return (JSON.parse(out) as Record<string, string>[]).map((row) => row[key]);
    };
    expect(await names("tools", "name")).toEqual(["one_echo"]);
    if (way === ways[1]) continue;
    expect(await names("prompts", "name")).toEqual([]);
    expect(await names("resources", "uri")).toEqual(["one+text:///hello"]);
  }
  const table = await home.goblin("list", "tools", "--profile", "small", ...ways[0]);
  expect(table.out).toMatch(/^TOOL +DESCRIPTION\s+one_echo/);
});

test("what the profile does not show cannot be called, read or prompted", async () => {
  const at = ["--profile", "small", ...ways[0]];
  expect(await home.goblin("call", "one_echo", "text=hi", ...at)).toMatchObject({
    code: 0,
    out: expect.stringContaining("hi"),
  });
  expect((await home.goblin("call", "one_whoami", ...at)).code).not.toBe(0);
  expect((await home.goblin("read", "one+text:///hello", ...at)).code).toBe(0);
  expect((await home.goblin("read", "one+blob:///pixel", ...at)).code).not.toBe(0);
  expect((await home.goblin("prompt", "one_rich", ...at)).code).not.toBe(0);
});

test("an unknown profile, and what a profile cannot list, are mistakes of the user", async () => {
  const refused = async (...args: string[]) => {
    const { code, err } = await home.goblin("list", ...args, ...ways[0]);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused("tools", "--profile", "none")).toContain('there is no profile "none"');
  expect(await refused("--profile", "none")).toContain('there is no profile "none"');
  expect(await refused("--profile", "small")).toContain("list what?");
  expect(await refused("servers", "--profile", "small")).toContain("leave out --profile");
  expect(await refused("tools", "--profile", "small", "--server", "one")).toContain("use only one of them");
});
