/**
 * Looks up what configs only refer to: `${keychain:NAME}`, `${op://…}`, `${file:path}`, `${cmd:…}`
 * and `${input:id}`.
 *
 * Files and the store are read each time. A program's answer is shared by all servers that refer to
 * it, and kept for a while, because a password manager may ask its user each time. It is asked
 * again after a restart by hand and after a refusal. Nothing is opened before it is needed.
 */
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { LiveConfig } from "../../config/live-config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import type { SecretReference } from "../../config/secret-reference.ts";
import { GoblinError, messageOf } from "../../mcp/protocol/errors.ts";
import { runProgram } from "./run-program.ts";
import { SecretStore } from "./secret-store.ts";
import { ServerSecrets } from "./server-secrets.ts";

export interface SecretsOptions {
  readonly config: Pick<LiveConfig, "current">;
  /** The environment of the state folder and of programs. Default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Gets all values that must not appear in the log or in errors, whenever they change. */
  readonly hide: (values: readonly string[]) => void;
}

type ProgramReference = Extract<SecretReference, { source: "op" | "command" }>;

const KEPT_MS = 5 * 60_000;
/** A program that was asked so recently would say the same again. */
const FRESH_MS = 60_000;
const MAX_FILE_BYTES = 64 * 1024;

interface Asked {
  readonly at: number;
  readonly answer: Promise<string>;
}

export class Secrets {
  readonly #options: SecretsOptions;
  readonly #env: NonNullable<SecretsOptions["env"]>;
  readonly #asked = new Map<string, Asked>();
  readonly #values = new Map<string, readonly string[]>();
  #store: Promise<SecretStore> | undefined;

  constructor(options: SecretsOptions) {
    this.#options = options;
    this.#env = options.env ?? process.env;
  }

  /** Returns undefined if the server's entry refers to nothing. */
  of(server: ServerConfig): ServerSecrets | undefined {
    const { transport, secretTexts } = server;
    if (secretTexts === undefined && (transport.kind !== "stdio" || transport.envFile === undefined)) return undefined;
    return new ServerSecrets(server, {
      lookUp: (reference) => this.#lookUp(reference),
      forget: (references, isRefused) => this.#forget(references, isRefused),
      found: (values) => {
        this.#values.set(server.id, values);
        this.#options.hide([...this.#values.values()].flat());
      },
    });
  }

  /** @throws GoblinError that names the reference and the remedy, never a value */
  async #lookUp(reference: SecretReference): Promise<string> {
    switch (reference.source) {
      case "keychain":
        return this.#kept(reference.name, `the secret "${reference.name}"`);
      case "input":
        return this.#kept(reference.name, `the input "${reference.id}"`);
      case "file":
        return readSecretFile(reference.path);
      case "op":
      case "command":
        return this.#ask(reference);
    }
  }

  async #kept(name: string, what: string): Promise<string> {
    let value: string | undefined;
    try {
      this.#store ??= SecretStore.open(this.#env);
      value = await (await this.#store).get(name);
    } catch (error) {
      this.#store = undefined;
      throw unusable(`${what} cannot be read: ${messageOf(error)}`);
    }
    if (value !== undefined) return value;
    const message = `${what} is not set: run goblin secret set ${shellWord(name)}`;
    throw new GoblinError("BACKEND_UNAVAILABLE", message, { reason: "unset" });
  }

  #ask(reference: ProgramReference): Promise<string> {
    const key = keyOf(reference);
    const known = this.#asked.get(key);
    if (known && Date.now() - known.at < KEPT_MS) return known.answer;
    const answer = this.#run(reference);
    this.#asked.set(key, { at: Date.now(), answer });
    // What failed is asked again next time.
    answer.catch(() => {
      if (this.#asked.get(key)?.answer === answer) this.#asked.delete(key);
    });
    return answer;
  }

  async #run(reference: ProgramReference): Promise<string> {
    const isOp = reference.source === "op";
    const what = isOp ? "${op://…}" : "${cmd:…}";
    try {
      return await runProgram({
        words: isOp ? ["op", "read", "--no-newline", reference.reference] : reference.words,
        folder: isOp ? tmpdir() : reference.folder,
        env: this.#env,
        timeoutMs: this.#options.config.current.timeouts.secretMs,
        tells: isOp,
      });
    } catch (error) {
      throw unusable(`${what}: ${messageOf(error)}`);
    }
  }

  #forget(references: readonly SecretReference[], isRefused: boolean): void {
    for (const reference of references) {
      if (reference.source !== "op" && reference.source !== "command") continue;
      const key = keyOf(reference);
      const age = Date.now() - (this.#asked.get(key)?.at ?? 0);
      if (!isRefused || age > FRESH_MS) this.#asked.delete(key);
    }
  }
}

function keyOf(reference: ProgramReference): string {
  return JSON.stringify(reference.source === "op" ? reference.reference : [reference.folder, ...reference.words]);
}

/** Without the last line break, which editors and `echo` add. */
async function readSecretFile(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error("it is not a file");
    if (found.size > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw unusable(`the file ${path} cannot be read: ${code ?? messageOf(error)}`);
  }
}

function unusable(message: string): GoblinError {
  return new GoblinError("BACKEND_UNAVAILABLE", message);
}

/** Quotes a name for a shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
