/**
 * The logins of a running gateway, one for each server or caller: follows the store, and passes on
 * what changes in it.
 */

import { EventEmitter } from "node:events";
import type { ServerConfig } from "../../config/schema/server.ts";
import { type ConfigWatch, watchConfig } from "../../config/watch.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { KeychainError } from "../secrets/keychain-keys.ts";
import { beginLogin, type LoginAttempt } from "./attempt.ts";
import { type EndedLogin, type EndedTarget, endLogins } from "./book/end-logins.ts";
import { canonicalUrl, type LoginTarget } from "./discovery.ts";
import { isOnBehalf } from "./grants/on-behalf.ts";
import { Subjects } from "./grants/subjects.ts";
import { isUnattended } from "./grants/unattended.ts";
import { probe } from "./probe.ts";
import { ServerLogin } from "./server-login.ts";
import { EMPTY_BOOK, isSameLogin, LOCAL, type Login, type LoginBook, type LoginStore, wantedKey } from "./store.ts";
import { guardFor, Renewals } from "./tokens/renewals.ts";

/** A server that waits for somebody to log in. */
export interface WaitingServer {
  readonly id: string;
  /** What it wants, in words. */
  readonly wants: string;
  /** Whether the login serves all clients. */
  readonly isShared: boolean;
}

export interface BeginOptions {
  /** Whose logins the person may make; the empty one is the gateway's. */
  readonly owners: readonly string[];
  readonly redirectUri: string;
  readonly metadataUrl: string | undefined;
  readonly documentFor: ((tag: string) => string) | undefined;
}

const DEBOUNCE_MS = 20;
/** A locked keychain may ask its user each time. */
const KEYCHAIN_MS = 60_000;

export interface LoginsEvents {
  /** A caller logged in to a server. */
  callerLogin: [serverId: string, principal: string];
  /** The values changed that must not appear in the log or in errors. */
  secrets: [values: readonly string[]];
}

/** It is opened before the gateway that uses it, which therefore listens to it. */
export class Logins extends EventEmitter<LoginsEvents> {
  /** The access tokens that callers came with last. */
  readonly subjects = new Subjects();
  readonly #store: LoginStore;
  readonly #warn: (message: string) => void;
  readonly #servers = new Set<ServerLogin>();
  /** The servers that each caller has a login of its own for, by id. */
  readonly #forCallers = new Map<string, LoginTarget>();
  readonly #renewals: Renewals;
  #book = EMPTY_BOOK;
  /** Reads of the store are numbered. `#book` is what the read `#newest` found. */
  #reads = 0;
  #newest = 0;
  #watch: Promise<ConfigWatch> | undefined;
  /** Whether clients without a credential are the user of this machine, who then has logins too. */
  isLocal: () => boolean = () => false;
  #closed = false;
  #keychain: NodeJS.Timeout | undefined;

  constructor(store: LoginStore, warn: (message: string) => void) {
    super();
    this.#store = store;
    this.#warn = warn;
    this.#renewals = new Renewals(store, warn, this.subjects);
  }

  /**
   * Reads the store again, and passes on what changed. What a read found that began before another
   * one is out of date once that one has ended.
   */
  async load(): Promise<void> {
    const turn = ++this.#reads;
    let book: LoginBook;
    try {
      book = await this.#store.read();
    } catch (error) {
      this.#warn(messageOf(error));
      // Nothing tells when a keychain is unlocked.
      clearTimeout(this.#keychain);
      if (error instanceof KeychainError && !this.#closed) {
        this.#keychain = setTimeout(() => void this.load(), KEYCHAIN_MS).unref();
      }
      return;
    }
    if (this.#closed || turn < this.#newest) return;
    this.#newest = turn;
    const before = this.#book;
    this.#book = book;
    for (const server of this.#servers) server.update(this.#book);
    this.#tellCallers(before);
  }

  /** Tells of logins of single callers that are new. */
  #tellCallers({ logins: before }: LoginBook): void {
    const isKnown = (login: Login): boolean =>
      before.some((one) => isSameLogin(one, login) && one.loggedInAt === login.loggedInAt);
    for (const login of this.#book.logins) {
      if (login.principal === "" || isKnown(login)) continue;
      for (const [id, { url }] of this.#forCallers) {
        if (canonicalUrl(url) === login.url)
          this.emit("callerLogin", id, login.principal === LOCAL ? "" : login.principal);
      }
    }
  }

  /** The login of a server, from now until it is closed. Undefined: the server never has one. */
  ofServer(
    { id, transport, auth }: Pick<ServerConfig, "id" | "transport" | "auth">,
    completeAuth?: LoginTarget["completeAuth"],
  ): ServerLogin | undefined {
    if (!auth || transport.kind === "stdio") return undefined;
    const target = { id, url: transport.url, auth, completeAuth };
    if (auth.as !== "caller") return this.#open(target, "");
    this.#forCallers.set(id, target);
    return this.#open(target, "", true);
  }

  /** One caller's login of a server, from now until it is closed. */
  ofCaller({ id }: Pick<ServerConfig, "id">, principal: string): ServerLogin | undefined {
    const target = this.#forCallers.get(id);
    const owner = this.ownerOf(principal);
    return target && owner !== undefined ? this.#open(target, owner) : undefined;
  }

  /** Returns whether a caller has a login of a server, or gets one without doing anything. */
  hasLogin(serverId: string, principal: string): boolean {
    const owner = this.ownerOf(principal);
    return owner !== undefined && this.#isOwned(serverId, owner);
  }

  /** Returns the owner of a principal's own logins; undefined: it can have none. */
  ownerOf(principal: string): string | undefined {
    return principal !== "" ? principal : this.isLocal() ? LOCAL : undefined;
  }

  #isOwned(serverId: string, owner: string): boolean {
    const target = this.#forCallers.get(serverId);
    if (!target) return false;
    if (isUnattended(target.auth)) return owner !== LOCAL;
    const url = canonicalUrl(target.url);
    return this.#book.logins.some((one) => one.url === url && one.principal === owner);
  }

  #open(target: LoginTarget, owner: string, isForCallers = false): ServerLogin {
    const obtain = isUnattended(target.auth)
      ? (known: Login | undefined) => this.#renewals.obtain({ target, principal: owner }, known)
      : undefined;
    const login = new ServerLogin({
      target,
      owner,
      isForCallers,
      isLazy: isOnBehalf(target.auth),
      renew: (known) => (obtain ? obtain(known) : this.#renewals.renew(target, known)),
      obtain,
      want: async (scopes) => {
        const key = wantedKey(canonicalUrl(target.url), owner);
        await this.#store.change((book) => ({ ...book, wanted: { ...book.wanted, [key]: scopes } }));
      },
      warn: this.#warn,
      changed: () => this.#tellSecrets(),
      closed: (one) => {
        this.#servers.delete(one);
        if (isForCallers && this.#forCallers.get(target.id) === target) this.#forCallers.delete(target.id);
      },
    });
    this.#servers.add(login);
    login.update(this.#book);
    this.#watch ??= this.#follow();
    return login;
  }

  /** What the store holds now. */
  book(): Promise<LoginBook> {
    return this.#store.read();
  }

  /** Ends a server's logins of one owner, or of all. */
  async end(target: EndedTarget, owner?: string): Promise<EndedLogin[]> {
    const ended = await endLogins(this.#store, target, owner);
    await this.load();
    return ended;
  }

  /** Returns a key that is good for this purpose only. */
  keyFor(purpose: string): Buffer {
    return this.#store.keyFor(purpose);
  }

  /** Returns whose login a server uses for a principal; undefined: it has none. */
  ownerFor(serverId: string, principal: string): string | undefined {
    const callers = this.#forCallers.get(serverId);
    if (callers) return isUnattended(callers.auth) ? undefined : this.ownerOf(principal);
    return this.#find(serverId, "")?.owner;
  }

  /** The servers that wait for a login of one of these owners. */
  waiting(owners: readonly string[]): WaitingServer[] {
    const known = [...this.#servers].flatMap(({ target, owner, wants }) =>
      wants !== undefined && owners.includes(owner) ? { id: target.id, wants, isShared: owner === "" } : [],
    );
    const own = [...this.#forCallers].flatMap(([id, { url }]) =>
      owners.some((owner) => owner !== "" && !this.#isOwned(id, owner))
        ? { id, wants: `It wants your own login (${new URL(url).host})`, isShared: false }
        : [],
    );
    return [...new Map([...own, ...known].map((one) => [one.id, one])).values()];
  }

  /**
   * Begins a login in a browser. Resolves to undefined if the server asks for none, or if none of
   * these owners can have one. Rejects with a `LoginError`.
   */
  async begin(
    serverId: string,
    { owners, redirectUri, ...documents }: BeginOptions,
  ): Promise<LoginAttempt | undefined> {
    const callers = this.#forCallers.get(serverId);
    const target = callers ?? this.#find(serverId, "")?.target;
    const principal = owners.find((owner) => (owner !== "") === (callers !== undefined));
    if (!target || principal === undefined || isUnattended(target.auth)) return undefined;
    const guard = await guardFor(target);
    const { isOpen, challenge } = await probe(target, guard);
    if (isOpen) return undefined;
    const options = { target, guard, store: this.#store, challenge, principal, ...documents };
    return beginLogin({ ...options, redirectUri: async ({ tag }) => (tag ? `${redirectUri}/${tag}` : redirectUri) });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#keychain);
    for (const server of this.#servers) server.close();
    this.#store.close();
    (await this.#watch)?.close();
  }

  #find(serverId: string, of: string): ServerLogin | undefined {
    return [...this.#servers].findLast(({ target, owner }) => target.id === serverId && owner === of);
  }

  async #follow(): Promise<ConfigWatch> {
    const watch = await watchConfig(this.#store.file, () => void this.load(), { debounceMs: DEBOUNCE_MS });
    // Something may have changed before the watch was in place.
    await this.load();
    return watch;
  }

  #tellSecrets(): void {
    this.emit(
      "secrets",
      [...this.#servers].flatMap(({ secrets }) => secrets),
    );
  }
}
