/**
 * `goblin logout`: forgets logins, and tells the authorization servers. What cannot be told is
 * forgotten all the same.
 */
import { endLogins } from "../../../auth/login/book/end-logins.ts";
import { LoginStore } from "../../../auth/login/store.ts";
import { clean } from "../../../lib/text/clean.ts";
import { chooseConfig } from "../config.ts";
import { loginTargets, namedTargets } from "./targets.ts";

export interface LogoutOptions {
  readonly config?: string | undefined;
}

export async function logout(ids: readonly string[], options: LogoutOptions): Promise<number> {
  const { config } = await chooseConfig(options);
  const store = await LoginStore.open(process.env);
  const targets = ids.length > 0 ? namedTargets(ids, config) : loginTargets(config);
  let total = 0;
  for (const target of targets) {
    const { id } = target;
    const ended = await endLogins(store, target);
    total += ended.length;
    if (ended.length > 0) console.log(`Logged out of "${id}".`);
    else if (ids.length > 0) console.log(`There is no login at "${id}".`);
    for (const { issuer, problem } of ended) {
      if (problem !== undefined) console.error(clean(`${issuer} still knows the login: ${problem}`));
    }
  }
  if (ids.length === 0 && total === 0) console.log("There is no login at any server of the config.");
  return 0;
}
