/** What `goblin` alone does; the wizard itself is in wizard.slow.ts. */
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/dispose.ts";

afterEach(disposeAll);

test("without a terminal and a config, the demo runs", async () => {
  const home = commandHome();
  const child = home.start([], { env: { GOBLIN_PORT: "0" } });
  const [printed] = await once(child.stdout!, "data");
  expect(String(printed)).toMatch(/Goblin is listening on .*no config found: demo servers/);
});

test("with a config, the help is shown", async () => {
  const home = commandHome();
  home.write("goblin.json", { mcpServers: {} });
  const { code, out } = await home.goblin();
  expect([code, out]).toEqual([2, expect.stringContaining("Usage: goblin [options] [command]")]);
});
