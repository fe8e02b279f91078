/** NO_COLOR on a terminal, for the commands that terminal.test.ts leaves out. */
import { afterEach, expect, test } from "vitest";
import { commandHome, hasScript } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

test.runIf(hasScript).each([[["list", "servers"]], [["call", "gone_x"]]])("%s has no colours", async (args) => {
  const { origin } = await startGoblin({ mcpServers: { gone: { command: "/does/not/exist" } } });
  const home = commandHome();
  const on = (env: Record<string, string>) => home.onTerminal([...args, "--url", origin], { env });
  expect((await on({})).shown).toContain("\u001b[3");
  expect((await on({ NO_COLOR: "1" })).shown).not.toContain("\u001b[3");
});
