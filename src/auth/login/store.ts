/**
 * What logins leave behind, in one encrypted file of the state folder: the gateway's registrations
 * by issuer, and the tokens by issuer, resource and principal. The file's key is in the keychain of
 * the operating system where there is one.
 */
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { withFileLock } from "../secrets/file-lock.ts";
import { openKeychain } from "../secrets/keychain.ts";
import { KeychainKeys } from "../secrets/keychain-keys.ts";
import { openStateFolder, SealedFile } from "../secrets/sealed-file.ts";
import { SharedFile } from "../secrets/shared/shared-file.ts";
import type { Hold, SharedPlaces } from "../secrets/shared/shared-place.ts";
import type { BookForm } from "../secrets/shared/stamped-book.ts";

/** The gateway as an authorization server knows it. */
export interface Registration {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** A key in PEM form, in place of a secret. */
  readonly privateKey?: string | undefined;
  readonly keyId?: string | undefined;
  readonly method: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
  readonly redirectUri: string;
  /** In milliseconds since 1970; undefined: never. */
  readonly secretExpiresAt?: number | undefined;
}

/** One login and its tokens. */
export interface Login {
  /** The server's URL in the config, in canonical form. Tokens are sent nowhere else. */
  readonly url: string;
  readonly issuer: string;
  readonly resource: string;
  /** Whose login it is; empty: the gateway's, for all clients. */
  readonly principal: string;
  readonly client: Registration;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string | undefined;
  /** Whether token requests name the resource. */
  readonly namesResource: boolean;
  /** Stays the same when tokens are renewed. */
  readonly loggedInAt: number;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Whether the last renewal gave another refresh token; undefined: there was none. */
  readonly rotates?: boolean | undefined;
  readonly obtainedAt: number;
  /** In milliseconds since 1970; undefined: unknown. */
  readonly expiresAt?: number | undefined;
  readonly scopes: readonly string[];
}

export interface LoginBook {
  readonly registrations: Readonly<Record<string, Registration>>;
  readonly logins: readonly Login[];
  /** Scopes that a server asked for after the login, by `wantedKey`. */
  readonly wanted: Readonly<Record<string, readonly string[]>>;
  /** The issuers that have the secrets of the config, by server and client (`secret-issuer.ts`). */
  readonly issuers: Readonly<Record<string, string>>;
}

/** The owner of the logins that the user of this machine makes. No principal has this id. */
export const LOCAL = "local";

export const EMPTY_BOOK: LoginBook = { registrations: {}, logins: [], wanted: {}, issuers: {} };

/** The key of the scopes that a server wants of a principal. */
export function wantedKey(url: string, principal: string): string {
  return principal === "" ? url : `${url} ${principal}`;
}

const FORM: BookForm<LoginBook> = {
  entries: ({ registrations, logins, wanted, issuers }) =>
    new Map([
      ...Object.entries(registrations).map(([key, one]) => [`r ${key}`, JSON.stringify(one)] as const),
      ...logins.map((one) => [`l ${wantedKey(one.url, one.principal)}`, JSON.stringify(one)] as const),
      ...Object.entries(wanted).map(([key, one]) => [`w ${key}`, JSON.stringify(one)] as const),
      ...Object.entries(issuers).map(([key, one]) => [`i ${key}`, JSON.stringify(one)] as const),
    ]),
  content(entries) {
    const of = (kind: string): [string, unknown][] =>
      [...entries].flatMap(([name, text]) => (name.startsWith(kind) ? [[name.slice(2), JSON.parse(text)]] : []));
    return {
      registrations: Object.fromEntries(of("r ")) as LoginBook["registrations"],
      logins: of("l ").map(([, one]) => one as Login),
      wanted: Object.fromEntries(of("w ")) as LoginBook["wanted"],
      issuers: Object.fromEntries(of("i ")) as LoginBook["issuers"],
    };
  },
};

/** On one machine, a lock between processes is enough. */
const ALONE: Hold = { use: async () => undefined, used: async () => {} };

export function isSameLogin(a: Login, b: Login): boolean {
  return a.issuer === b.issuer && a.resource === b.resource && a.principal === b.principal && a.url === b.url;
}

export class LoginStore {
  readonly #folder: string;
  readonly #key: Buffer;
  readonly #sealed: SealedFile<LoginBook>;
  #shared: SharedFile<LoginBook> | undefined;
  #places: SharedPlaces | undefined;

  /** `keys`: undefined if no keychain is to be used. */
  constructor(folder: string, key: Buffer, keys?: KeychainKeys) {
    this.#folder = folder;
    this.#key = key;
    this.#sealed = new SealedFile({ folder, key, keys, name: "logins", empty: EMPTY_BOOK, remedy: "log in again" });
  }

  /** Opens the store of the user's state folder, and creates the folder and its key if needed. */
  static async open(env: Readonly<Record<string, string | undefined>>): Promise<LoginStore> {
    const { folder, key } = await openStateFolder(env);
    return new LoginStore(folder, key, new KeychainKeys(() => openKeychain(env, "keys")));
  }

  /** Shares the store with the other replicas, from now until it is closed. */
  async share(places: SharedPlaces, warn: (message: string) => void): Promise<void> {
    this.#places = places;
    const place = places.book("logins");
    this.#shared = new SharedFile({ sealed: this.#sealed, form: FORM, place, warn });
    await place.settled();
    await this.#shared.look();
  }

  close(): void {
    this.#shared?.close();
  }

  get file(): string {
    return this.#sealed.file;
  }

  /** Whether nobody can read the file without the keychain. */
  isInKeychain(): Promise<boolean> {
    return this.#sealed.isInKeychain();
  }

  /** Returns a key that is good for this purpose only. */
  keyFor(purpose: string): Buffer {
    if (this.#places) return this.#places.keyFor(`logins ${purpose}`);
    return createHmac("sha256", this.#key).update(`goblin ${purpose}`).digest();
  }

  /** Rejects if the file cannot be read with this key. */
  read(): Promise<LoginBook> {
    return this.#sealed.read();
  }

  /** Replaces the content. `change` gets what the file holds now. */
  change(change: (book: LoginBook) => LoginBook): Promise<LoginBook> {
    return (this.#shared ?? this.#sealed).change(change);
  }

  /** Adds a login. A server has one of a principal: one at another issuer is replaced too. */
  add(login: Login): Promise<LoginBook> {
    const { url, principal } = login;
    return this.change((book) => {
      const { [wantedKey(url, principal)]: _, ...wanted } = book.wanted;
      const others = book.logins.filter((one) => one.url !== url || one.principal !== principal);
      return { ...book, wanted, logins: [...others, login] };
    });
  }

  /**
   * Replaces the tokens of a login. A login that was removed meanwhile stays removed. One that was
   * made anew, or that has another refresh token than the spent one, stays as it is: a process that
   * lost the lock must not overwrite newer tokens.
   */
  replace(login: Login, spent?: Pick<Login, "refreshToken">): Promise<LoginBook> {
    const isOlder = (one: Login): boolean =>
      isSameLogin(one, login) &&
      one.loggedInAt === login.loggedInAt &&
      (!spent || one.refreshToken === spent.refreshToken);
    return this.change((book) => ({ ...book, logins: book.logins.map((one) => (isOlder(one) ? login : one)) }));
  }

  /** Runs work that only one process of all replicas may do at a time for one login. */
  exclusively<T>(login: Login, work: (hold: Hold) => Promise<T>): Promise<T> {
    return this.exclusivelyBy([login.issuer, login.resource, login.principal, login.url], work);
  }

  /** Runs work that only one process may do at a time under this name. */
  exclusivelyBy<T>(parts: readonly string[], work: (hold: Hold) => Promise<T>): Promise<T> {
    const name = JSON.stringify(parts);
    const digest = createHmac("sha256", "goblin lock").update(name).digest("hex").slice(0, 16);
    return withFileLock(join(this.#folder, `login-${digest}.lock`), () =>
      this.#shared ? this.#shared.exclusively(name, work) : work(ALONE),
    );
  }
}
