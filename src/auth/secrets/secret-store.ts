/**
 * The user's named secrets: in the keychain of the operating system where there is one, else in one
 * encrypted file of the state folder.
 *
 * A secret is looked up in both: a service may run where the desktop's keychain cannot be reached.
 * `set` leaves it in one of them only. The file also names the secrets that are in the keychain, so
 * that one whose keychain is locked or gone is not taken for one that was never set. No error
 * contains a value.
 */
import { messageOf } from "../../mcp/protocol/errors.ts";
import { type Keychain, openKeychain } from "./keychain.ts";
import { openStateFolder, SealedFile } from "./sealed-file.ts";

export interface KeptSecret {
  readonly name: string;
  readonly store: "keychain" | "file";
}

interface SecretBook {
  readonly secrets: Readonly<Record<string, string>>;
  /** The names of those in the keychain. */
  readonly elsewhere: readonly string[];
}

const EMPTY: SecretBook = { secrets: {}, elsewhere: [] };
const MAX_NAME_LENGTH = 512;
const MAX_VALUE_LENGTH = 64 * 1024;

/** Returns why this cannot be the name of a secret; undefined if it can. */
export function problemOfName(name: string): string | undefined {
  if (name === "" || name.trim() !== name) return "a secret's name must not be empty or begin or end with a space";
  if (name.length > MAX_NAME_LENGTH) return `a secret's name has at most ${MAX_NAME_LENGTH} characters`;
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

  /** Rejects if the secret is in a keychain that does not give it. */
  async get(name: string): Promise<string | undefined> {
    let problem: unknown;
    try {
      const kept = await this.#keychain?.get(name);
      if (kept !== undefined) return kept;
    } catch (error) {
      problem = this.#locked(error);
    }
    const { secrets, elsewhere } = await this.#sealed.read();
    if (Object.hasOwn(secrets, name)) return secrets[name];
    if (problem) throw problem;
    if (!this.#keychain && elsewhere.includes(name)) {
      throw new Error("it is in the keychain of the operating system, which cannot be reached from here");
    }
    return undefined;
  }

  /** Resolves with where the secret is now. */
  async set(name: string, value: string): Promise<KeptSecret["store"]> {
    const problem = problemOfName(name) ?? problemOfValue(value);
    if (problem !== undefined) throw new Error(problem);
    const keychain = this.#keychain;
    if (keychain && value.length <= (keychain.longest ?? MAX_VALUE_LENGTH)) {
      await this.#asked(keychain.set(name, value));
      await this.#sealed.change((book) => ({ ...without(name, book), elsewhere: [...book.elsewhere, name] }));
      return "keychain";
    }
    await this.#sealed.change((book) => {
      const { secrets, elsewhere } = without(name, book);
      return { secrets: { ...secrets, [name]: value }, elsewhere };
    });
    // What is in the keychain would be found first.
    if (keychain) await this.#asked(keychain.remove(name));
    return "file";
  }

  /** Resolves with whether there was such a secret. */
  async remove(name: string): Promise<boolean> {
    const wasInKeychain = this.#keychain && (await this.#asked(this.#keychain.remove(name)));
    const { secrets, elsewhere } = await this.#sealed.read();
    const wasInFile = Object.hasOwn(secrets, name);
    if (wasInFile || elsewhere.includes(name)) await this.#sealed.change((book) => without(name, book));
    return wasInKeychain === true || wasInFile;
  }

  /** Returns the names in alphabetical order. */
  async list(): Promise<KeptSecret[]> {
    const { secrets, elsewhere } = await this.#sealed.read();
    // One that cannot be reached is there all the same.
    const inKeychain = this.#keychain ? await this.#asked(this.#keychain.names()) : elsewhere;
    const inFile = Object.keys(secrets).filter((name) => !inKeychain.includes(name));
    const all: KeptSecret[] = [
      ...inKeychain.map((name) => ({ name, store: "keychain" as const })),
      ...inFile.map((name) => ({ name, store: "file" as const })),
    ];
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #asked<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error) => {
      throw this.#locked(error);
    });
  }

  #locked(error: unknown): Error {
    const advice = "unlock it, or set GOBLIN_KEYCHAIN=0 to use the encrypted file";
    return new Error(`${this.#keychain?.title} is locked or does not answer (${messageOf(error)}); ${advice}`);
  }
}

function without(name: string, { secrets, elsewhere }: SecretBook): SecretBook {
  const { [name]: _, ...others } = secrets;
  return { secrets: others, elsewhere: elsewhere.filter((one) => one !== name) };
}

function problemOfValue(value: string): string | undefined {
  if (value === "") return "a secret must not be empty";
  if (value.includes("\0")) return "a secret must not contain a NUL character";
  return value.length > MAX_VALUE_LENGTH ? `a secret has at most ${MAX_VALUE_LENGTH} characters` : undefined;
}
