/**
 * Returns the folder for data that must survive a restart: keys, journals, trusted configs. It is
 * private to the user: its creator must set mode 0700.
 */
import { homedir } from "node:os";
import { join } from "node:path";

export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "goblin");
}
