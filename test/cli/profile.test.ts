/** `--profile` of the commands that use a gateway: they see what clients of the profile see. */
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const profiles = {
  small: {
    tools: { allow: ["echo"] },
    prompts: { deny: ["*"] },
    resources: { allow: ["text:///hello"] },
  },
};

async function scene() {
  const home = commandHome();
  const one = await startScripted({ name: "one" });
  const config = { mcpServers: { one: one.entry }, profiles, metaTools: { enabled: [] } };
  const running = await startGoblin(config);
  return {
    home,
    ways: [
      ["--url", running.origin],
      ["--config", home.write("p.json", JSON.stringify(config))],
    ],
  };
}

test("lists hold what the profile shows, of a gateway that runs and of a config", async () => {
  const { home, ways } = await scene();
  for (const way of ways) {
    const names = async (what: string, key: string, ...more: string[]) => {
      const { code, out, err } = await home.goblin("list", what, "--profile", "small", "--json", ...way, ...more);
      expect([code, err]).toEqual([0, ""]);
      return (JSON.parse(out) as Record<string, string>[]).map((row) => row[key]);
    };
    expect(await names("tools", "name")).toEqual(["one_echo"]);
    expect(await names("prompts", "name")).toEqual([]);
    expect(await names("resources", "uri")).toEqual(["one+text:///hello"]);
  }
  const table = await home.goblin("list", "tools", "--profile", "small", ...ways[0]!);
  expect(table.out).toMatch(/^TOOL +DESCRIPTION\s+one_echo/);
});

test("what the profile does not show cannot be called, read or prompted", async () => {
  const { home, ways } = await scene();
  const at = ["--profile", "small", ...ways[0]!];
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
  const { home, ways } = await scene();
  const refused = async (...args: string[]) => {
    const { code, err } = await home.goblin("list", ...args, ...ways[0]!);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused("tools", "--profile", "none")).toContain('there is no profile "none"');
  expect(await refused("servers", "--profile", "small")).toContain("leave out --profile");
  expect(await refused("tools", "--profile", "small", "--server", "one")).toContain("use only one of them");
});
