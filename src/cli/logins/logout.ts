/**
 * `goblin logout`: forgets logins, and tells the authorization servers. What cannot be told is
 * forgotten all the same.
 */
import { canonicalUrl } from "../../login/discovery.ts";
import { LoginStore, wantedKey } from "../../login/store.ts";
import { guardFor } from "../../login/tokens/renewals.ts";
import { revoke } from "../../login/tokens/revocation.ts";
import { clean } from "../../text/clean.ts";
import { chooseConfig } from "../config.ts";
import { loginTargets, namedTargets } from "./targets.ts";

export interface LogoutOptions {
  readonly config?: string | undefined;
}

export async function logout(ids: readonly string[], options: LogoutOptions): Promise<number> {
  const { config } = await chooseConfig(options);
  const store = await LoginStore.open(process.env);
  const targets = ids.length > 0 ? namedTargets(ids, config) : loginTargets(config);
  const { logins } = await store.read();
  if (ids.length === 0 && !targets.some(({ url }) => logins.some((login) => login.url === canonicalUrl(url)))) {
    console.log("There is no login at any server of the config.");
  }
  for (const target of targets) {
    const { id, url } = target;
    const own = canonicalUrl(url);
    const ended = logins.filter((login) => login.url === own);
    if (ended.length === 0) {
      if (ids.length > 0) console.log(`There is no login at "${id}".`);
      continue;
    }
    await store.change((book) => {
      const keys = new Set([own, ...ended.map(({ principal }) => wantedKey(own, principal))]);
      const wanted = Object.fromEntries(Object.entries(book.wanted).filter(([key]) => !keys.has(key)));
      return { ...book, wanted, logins: book.logins.filter((login) => login.url !== own) };
    });
    console.log(`Logged out of "${id}".`);
    for (const login of ended) {
      const problem = await revoke(login, await guardFor(target));
      if (problem) console.error(clean(`${login.issuer} still knows the login: ${problem}`));
    }
  }
  return 0;
}
