/** A home with one server and its lock commands, for the tests of `goblin lock`. */
import { join } from "node:path";
import { commandHome } from "../fixtures/command.ts";
import { startScripted } from "../fixtures/peers.ts";

export const nowTool = { name: "now", description: "Tells the time.", inputSchema: { type: "object" } };

export async function lockScene() {
  const clock = await startScripted({ name: "clock", script: { lists: { tools: [nowTool] } } });
  const home = commandHome();
  home.write("goblin.json", { mcpServers: { clock: clock.entry } });
  const file = join(home.folder, "goblin.lock");
  return { clock, home, file, lock: (...args: string[]) => home.goblin("lock", ...args, "--config", "goblin.json") };
}
