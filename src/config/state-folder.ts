/**
 * Where Goblin keeps what has to outlive its process: keys, journals, the configs that were
 * trusted. Only the user may look into it; whoever makes it gives it the mode 0700.
 */
import { homedir } from "node:os";
import { join } from "node:path";

export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "goblin");
}
