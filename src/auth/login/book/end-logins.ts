/**
 * Ends logins: forgets them, and tells the authorization servers. What cannot be told is forgotten
 * all the same.
 */
import { canonicalUrl, type LoginTarget } from "../discovery.ts";
import { type LoginStore, wantedKey } from "../store.ts";
import { guardFor } from "../tokens/renewals.ts";
import { revoke } from "../tokens/revocation.ts";

/** A login that was forgotten. */
export interface EndedLogin {
  readonly issuer: string;
  /** Why its authorization server still knows it; undefined: it was told. */
  readonly problem: string | undefined;
}

/** A server whose logins end. */
export type EndedTarget = Pick<LoginTarget, "url" | "auth">;

/** `owner`: whose login ends; undefined: the logins of all. */
export async function endLogins(store: LoginStore, target: EndedTarget, owner?: string): Promise<EndedLogin[]> {
  const own = canonicalUrl(target.url);
  const { logins } = await store.read();
  const ended = logins.filter((one) => one.url === own && (owner === undefined || one.principal === owner));
  if (ended.length === 0) return [];
  await store.change((book) => {
    const keys = new Set(ended.map(({ principal }) => wantedKey(own, principal)));
    if (owner === undefined) keys.add(own);
    const wanted = Object.fromEntries(Object.entries(book.wanted).filter(([key]) => !keys.has(key)));
    const isLeft = (one: { url: string; principal: string }): boolean =>
      one.url !== own || (owner !== undefined && one.principal !== owner);
    return { ...book, wanted, logins: book.logins.filter(isLeft) };
  });
  const guard = await guardFor(target);
  return Promise.all(ended.map(async (login) => ({ issuer: login.issuer, problem: await revoke(login, guard) })));
}
