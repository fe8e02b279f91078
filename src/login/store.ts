/**
 * What logins leave behind, in one encrypted file of the state folder: the gateway's registrations
 * by issuer, and the tokens by issuer, resource and principal.
 *
 * The file is replaced as a whole, so that a process that is killed leaves the old one or the new
 * one. Changes are made one at a time, also between processes, and each begins with what the file
 * holds then. Nothing of its content appears in an error.
 */
import { createHmac } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../config/state-folder.ts";
import { readStateKey } from "../config/state-key.ts";
import { type ByteSealer, createByteSealer } from "../structures/byte-sealer.ts";
import { isRecord } from "../structures/record.ts";
import { withFileLock } from "./file-lock.ts";

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
  readonly obtainedAt: number;
  /** In milliseconds since 1970; undefined: unknown. */
  readonly expiresAt?: number | undefined;
  readonly scopes: readonly string[];
}

export interface LoginBook {
  readonly registrations: Readonly<Record<string, Registration>>;
  readonly logins: readonly Login[];
  /** Scopes that a server asked for after the login, by the server's URL. */
  readonly wanted: Readonly<Record<string, readonly string[]>>;
}

const EMPTY: LoginBook = { registrations: {}, logins: [], wanted: {} };
const FORMAT = 1;

export function isSameLogin(a: Login, b: Login): boolean {
  return a.issuer === b.issuer && a.resource === b.resource && a.principal === b.principal && a.url === b.url;
}

export class LoginStore {
  readonly file: string;
  readonly #folder: string;
  readonly #key: Buffer;
  readonly #sealer: ByteSealer;

  constructor(folder: string, key: Buffer) {
    this.#folder = folder;
    this.#key = key;
    this.file = join(folder, "logins");
    this.#sealer = createByteSealer(this.keyFor("logins"));
  }

  /** Opens the store of the user's state folder, and creates the folder and its key if needed. */
  static async open(env: Readonly<Record<string, string | undefined>>): Promise<LoginStore> {
    const folder = stateFolder(env);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new LoginStore(folder, await readStateKey(folder));
  }

  /** Returns a key that is good for this purpose only. */
  keyFor(purpose: string): Buffer {
    return createHmac("sha256", this.#key).update(`goblin ${purpose}`).digest();
  }

  /** Rejects if the file cannot be read with this key. */
  async read(): Promise<LoginBook> {
    let bytes: Buffer;
    try {
      bytes = await readFile(this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
      throw error;
    }
    try {
      if (bytes[0] !== FORMAT) throw new Error("another format");
      const value: unknown = JSON.parse(this.#sealer.open(bytes.subarray(1)).toString("utf8"));
      if (isRecord(value)) return { ...EMPTY, ...value } as LoginBook;
    } catch {
      // Falls through: whatever is wrong with the file, it is of no use.
    }
    throw new Error(`${this.file} cannot be opened with the key of its folder; remove it and log in again`);
  }

  /** Replaces the content. `change` gets what the file holds now. */
  change(change: (book: LoginBook) => LoginBook): Promise<LoginBook> {
    return withFileLock(`${this.file}.lock`, async () => {
      const next = change(await this.read());
      await this.#write(next);
      return next;
    });
  }

  /** Adds a login. A server has one of a principal: one at another issuer is replaced too. */
  add(login: Login): Promise<LoginBook> {
    const { url, principal } = login;
    return this.change((book) => {
      const { [url]: _, ...wanted } = book.wanted;
      const others = book.logins.filter((one) => one.url !== url || one.principal !== principal);
      return { ...book, wanted, logins: [...others, login] };
    });
  }

  /** Replaces a login. One that was removed meanwhile stays removed. */
  replace(login: Login): Promise<LoginBook> {
    const renewed = (one: Login): Login => (isSameLogin(one, login) ? login : one);
    return this.change((book) => ({ ...book, logins: book.logins.map(renewed) }));
  }

  /** Runs work that only one process may do at a time for one login. */
  exclusively<T>(login: Login, work: () => Promise<T>): Promise<T> {
    return this.exclusivelyBy([login.issuer, login.resource, login.principal, login.url], work);
  }

  /** Runs work that only one process may do at a time under this name. */
  exclusivelyBy<T>(parts: readonly string[], work: () => Promise<T>): Promise<T> {
    const name = JSON.stringify(parts);
    const digest = createHmac("sha256", "goblin lock").update(name).digest("hex").slice(0, 16);
    return withFileLock(join(this.#folder, `login-${digest}.lock`), work);
  }

  async #write(book: LoginBook): Promise<void> {
    const sealed = Buffer.concat([Buffer.of(FORMAT), this.#sealer.seal(JSON.stringify(book))]);
    const fresh = `${this.file}.new`;
    let handle: FileHandle | undefined;
    try {
      handle = await open(fresh, "w", 0o600);
      await handle.chmod(0o600);
      await handle.writeFile(sealed);
      await handle.sync();
    } finally {
      await handle?.close();
    }
    await rename(fresh, this.file);
  }
}
