/** Two servers behind a gateway that runs, and in a config, for commands that are typed wrongly. */
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startScripted } from "../fixtures/peers.ts";

export const wrong = (message: string) => ({ code: 2, out: "", err: `goblin: ${message}\n` });

export async function setup(gateway: Record<string, unknown> = {}) {
  const one = await startScripted({ name: "one" });
  const two = await startScripted({ name: "two" });
  const mcpServers = { clock: one.entry, notes: two.entry };
  const running = await startGoblin({ mcpServers, gateway });
  const home: CommandHome = commandHome();
  const config = home.write("some.json", { mcpServers });
  return { one, two, home, config, at: ["--url", running.origin] };
}
