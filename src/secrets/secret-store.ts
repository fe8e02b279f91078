/**
 * The user's named secrets: in the keychain of the operating system where there is one, else in one
 * encrypted file of the state folder.
 *
 * A secret is looked up in both: a service may run where the desktop's keychain cannot be reached.
 * `set` leaves it in one of them only. No error contains a value.
 */
import { type Keychain, openKeychain } from "./keychain.ts";
import { openStateFolder, SealedFile } from "./sealed-file.ts";

export interface KeptSecret {
  readonly name: string;
  readonly store: "keychain" | "file";
}

interface SecretBook {
  readonly secrets: Readonly<Record<string, string>>;
}

const EMPTY: SecretBook = { secrets: {} };
const LONGEST_NAME = 512;
const LONGEST_VALUE = 64 * 1024;

/** Returns why this cannot be the name of a secret; undefined if it can. */
export function problemOfName(name: string): string | undefined {
  if (name === "" || name.trim() !== name) return "a secret's name must not be empty or begin or end with a space";
  if (name.length > LONGEST_NAME) return `a secret's name has at most ${LONGEST_NAME} characters`;
  return /[\p{Cc}{}]/u.test(name) ? "a secret's name must not contain braces or control characters" : undefined;
}

export class SecretStore {
  readonly #keychain: Keychain | undefined;
  readonly #sealed: SealedFile<SecretBook>;

  constructor(state: { readonly folder: string; readonly key: Buffer }, keychain: Keychain | undefined) {
    this.#keychain = keychain;
    this.#sealed = new SealedFile({ ...state, name: "secrets", empty: EMPTY, remedy: "set the secrets again" });
  }

  static async open(env: Readonly<Record<string, string | undefined>>): Promise<SecretStore> {
    const [state, keychain] = await Promise.all([openStateFolder(env), openKeychain(env)]);
    return new SecretStore(state, keychain);
  }

  /** Where new secrets go. */
  get kind(): KeptSecret["store"] {
    return this.#keychain ? "keychain" : "file";
  }

  /** The same in words. */
  get place(): string {
    return this.#keychain?.title ?? `the encrypted file ${this.#sealed.file}`;
  }

  async get(name: string): Promise<string | undefined> {
    const kept = await this.#keychain?.get(name);
    if (kept !== undefined) return kept;
    const { secrets } = await this.#sealed.read();
    return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  }

  async set(name: string, value: string): Promise<void> {
    const problem = problemOfName(name) ?? problemOfValue(value);
    if (problem !== undefined) throw new Error(problem);
    if (this.#keychain) {
      await this.#keychain.set(name, value);
      await this.#removeFromFile(name);
    } else await this.#sealed.change(({ secrets }) => ({ secrets: { ...secrets, [name]: value } }));
  }

  /** Resolves with whether there was such a secret. */
  async remove(name: string): Promise<boolean> {
    const [first, second] = [await this.#keychain?.remove(name), await this.#removeFromFile(name)];
    return first === true || second;
  }

  /** Returns the names in alphabetical order. */
  async list(): Promise<KeptSecret[]> {
    const inKeychain = (await this.#keychain?.names()) ?? [];
    const inFile = Object.keys((await this.#sealed.read()).secrets).filter((name) => !inKeychain.includes(name));
    const all: KeptSecret[] = [
      ...inKeychain.map((name) => ({ name, store: "keychain" as const })),
      ...inFile.map((name) => ({ name, store: "file" as const })),
    ];
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #removeFromFile(name: string): Promise<boolean> {
    const { secrets } = await this.#sealed.read();
    if (!Object.hasOwn(secrets, name)) return false;
    await this.#sealed.change((book) => {
      const { [name]: _, ...others } = book.secrets;
      return { secrets: others };
    });
    return true;
  }
}

function problemOfValue(value: string): string | undefined {
  if (value === "") return "a secret must not be empty";
  if (value.includes("\0")) return "a secret must not contain a NUL character";
  return value.length > LONGEST_VALUE ? `a secret has at most ${LONGEST_VALUE} characters` : undefined;
}
