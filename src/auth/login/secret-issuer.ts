/**
 * Decides which issuer gets the client secret or the private key of a server's config.
 *
 * The server's metadata must never decide that alone: otherwise a server could name an issuer of
 * its own and collect the secret. With `auth.issuer` the config decides. Without it, the issuer of
 * the first login is pinned in the store, for all processes and replicas, and only a person can
 * replace it.
 */
import { canonicalUrl, type LoginTarget } from "./discovery.ts";
import { LoginError } from "./login-error.ts";
import type { LoginBook, LoginStore, Registration } from "./store.ts";

/** The server names another issuer than the one that has the secret. A person may confirm that. */
export class IssuerChanged extends LoginError {
  readonly pinned: string;
  readonly named: string;

  constructor({ id, auth }: LoginTarget, pinned: string, named: string) {
    const key = auth.privateKey === undefined ? "client secret" : "private key";
    const confirm = auth.as === "caller" ? "" : `, or confirm the change with "goblin login ${id}"`;
    super({
      server: id,
      step: "choosing the authorization server",
      what: `the ${key} of the config belongs to ${pinned}, but the server now names ${named}`,
      remedy: `Set "auth.issuer" in the server's config to the right one${confirm}.`,
    });
    this.pinned = pinned;
    this.named = named;
  }
}

export interface SecretIssuerOptions {
  readonly target: LoginTarget;
  readonly client: Pick<Registration, "clientSecret" | "privateKey">;
  readonly issuer: string;
  readonly store: LoginStore;
  /** The issuer that a person confirmed in place of the pinned one. */
  readonly confirmedIssuer?: string | undefined;
}

/**
 * Throws `IssuerChanged` if this issuer must not get the secret.
 *
 * @returns a function to call right before the secret is sent. It pins the issuer, so that a login
 *   that is given up pins nothing.
 */
export async function admitIssuer(options: SecretIssuerOptions): Promise<() => Promise<void>> {
  const { target, client, issuer, store, confirmedIssuer } = options;
  const { clientId, issuer: configured } = target.auth;
  const hasSecret = (client.clientSecret ?? client.privateKey) !== undefined;
  // A client that Goblin registered belongs to the issuer that it registered at.
  if (!hasSecret || clientId === undefined || configured !== undefined) return async () => {};
  const key = `${canonicalUrl(target.url)} ${clientId}`;
  const check = (book: LoginBook): void => {
    const pinned = book.issuers[key] ?? formerIssuer(book, canonicalUrl(target.url), clientId);
    if (pinned === undefined || pinned === issuer || confirmedIssuer === issuer) return;
    throw new IssuerChanged(target, pinned, issuer);
  };
  check(await store.read());
  return async () => {
    await store.change((book) => {
      check(book);
      return { ...book, issuers: { ...book.issuers, [key]: issuer } };
    });
  };
}

/** A login that was made before issuers were pinned counts as the first one. */
function formerIssuer({ logins }: LoginBook, url: string, clientId: string): string | undefined {
  return logins.find((one) => one.url === url && one.client.clientId === clientId)?.issuer;
}
