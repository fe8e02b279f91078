/**
 * New tokens for the logins of a running gateway: renewed with a refresh token, or got without a
 * person.
 *
 * However many calls wait for a token, there is one request for it: one flight in this process, and
 * a lock between the processes of this machine and of all replicas. Its holder reads the store
 * first, because another process may have renewed the token meanwhile. A refresh token that
 * another replica may use at the same time is left alone, unless it is known to stay good.
 */
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Hold } from "../../secrets/shared/shared-place.ts";
import { canonicalUrl, type LoginTarget } from "../discovery.ts";
import { isOnBehalf, type Subject } from "../grants/on-behalf.ts";
import type { Subjects } from "../grants/subjects.ts";
import { obtain } from "../grants/unattended.ts";
import { createGuard, type Guard } from "../guarded-fetch.ts";
import { LoginError } from "../login-error.ts";
import { probe } from "../probe.ts";
import { isSameLogin, type Login, type LoginStore, wantedKey } from "../store.ts";
import { RenewalError, renew } from "./renewal.ts";

/** Whose tokens for which server. */
export interface Whose {
  readonly target: LoginTarget;
  readonly principal: string;
}

/** The guard of a server's requests: its config names these hosts. */
export function guardFor({ url, auth }: Pick<LoginTarget, "url" | "auth">): Promise<Guard> {
  return createGuard(auth.issuer === undefined ? [url] : [url, auth.issuer]);
}

export class Renewals {
  readonly #store: LoginStore;
  readonly #warn: (message: string) => void;
  readonly #flights = new Map<string, Promise<Login>>();
  readonly #subjects: Subjects;

  constructor(store: LoginStore, warn: (message: string) => void, subjects: Subjects) {
    this.#subjects = subjects;
    this.#store = store;
    this.#warn = warn;
  }

  /** Returns the login with other tokens than the known ones. */
  renew(target: LoginTarget, login: Login): Promise<Login> {
    const key = JSON.stringify([login.issuer, login.resource, login.principal, login.url]);
    return this.#once(key, () => this.#store.exclusively(login, (hold) => this.#renew(target, login, hold)));
  }

  /** Returns tokens that nobody logs in for, other ones than the known. */
  obtain(whose: Whose, known: Login | undefined): Promise<Login> {
    const name = ["unattended", canonicalUrl(whose.target.url), whose.principal];
    return this.#once(JSON.stringify(name), () => this.#store.exclusivelyBy(name, () => this.#obtain(whose, known)));
  }

  /** One flight serves all who ask for the same thing at the same time. */
  #once(key: string, work: () => Promise<Login>): Promise<Login> {
    const running = this.#flights.get(key);
    if (running) return running;
    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }

  async #obtain({ target, principal }: Whose, known: Login | undefined): Promise<Login> {
    const url = canonicalUrl(target.url);
    const { logins, wanted } = await this.#store.read();
    const stored = logins.find((one) => one.url === url && one.principal === principal);
    const { clientId, issuer } = target.auth;
    const isOfConfig = stored?.client.clientId === clientId && stored?.issuer === issuer;
    const isOther = isOfConfig && stored?.accessToken !== known?.accessToken;
    if (stored && isOther && (stored.expiresAt ?? Infinity) > Date.now()) return stored;
    const guard = await guardFor(target);
    const { challenge } = await probe(target, guard);
    const scopes = [...(wanted[wantedKey(url, principal)] ?? []), ...(stored?.scopes ?? [])];
    const subject = isOnBehalf(target.auth) ? this.#subjectOf(target, principal) : undefined;
    const made = await obtain({ target, guard, challenge, wanted: scopes, principal, subject });
    const login = { ...made, loggedInAt: stored?.loggedInAt ?? made.loggedInAt };
    await this.#store.add(login).catch((error) => this.#warn(messageOf(error)));
    return login;
  }

  async #renew(target: LoginTarget, known: Login, hold: Hold): Promise<Login> {
    const current = await this.#stored(known);
    if (current.accessToken !== known.accessToken) return current;
    const guard = await guardFor(target);
    try {
      return await this.#spend(current, guard, hold);
    } catch (error) {
      if (!(error instanceof RenewalError) || error.code !== "invalid_grant") throw error;
      // A process that does not use the lock may have used the refresh token first.
      const next = await this.#stored(known);
      if (next.refreshToken === current.refreshToken) throw error;
      return next.accessToken === current.accessToken ? this.#spend(next, guard, hold) : next;
    }
  }

  /** Uses the refresh token up, if no other replica may do so at the same time. */
  async #spend(login: Login, guard: Guard, hold: Hold): Promise<Login> {
    const { refreshToken = "", rotates } = login;
    const why = await hold.use(refreshToken);
    if (why !== undefined && rotates !== false) {
      throw new RenewalError(`its login is not renewed here: ${why}`, { isFinal: false });
    }
    const renewed = await this.#keep(await renew(login, guard), login);
    await hold.used(refreshToken);
    return renewed;
  }

  /** The token that the caller came with last. It is never stored. */
  #subjectOf({ id }: LoginTarget, principal: string): Subject {
    const subject = this.#subjects.of(principal);
    if (subject) return subject;
    throw new LoginError({
      server: id,
      step: "using the caller's own token",
      what: "it came without one, or it has expired",
      remedy: "Connect to the gateway with an access token of gateway.auth.oauth.",
    });
  }

  async #stored(login: Login): Promise<Login> {
    const { logins } = await this.#store.read();
    const found = logins.find((one) => isSameLogin(one, login));
    if (found) return found;
    throw new RenewalError("somebody logged out", { isFinal: true });
  }

  /**
   * Tokens that cannot be stored are still good for this process. Somebody who logged in meanwhile
   * may have agreed to more, so those tokens count.
   */
  async #keep(login: Login, spent: Login): Promise<Login> {
    try {
      const { logins } = await this.#store.replace(login, spent);
      return logins.find((one) => isSameLogin(one, login)) ?? login;
    } catch (error) {
      this.#warn(`A renewed login cannot be stored, and will be lost: ${messageOf(error)}`);
      return login;
    }
  }
}
