/**
 * The secrets of one server: completes its entry at each start.
 *
 * Invariant: a value is checked again for the place that it goes to, because the config's checks
 * saw only the reference. Errors name the key and the reference.
 */
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { ServerConfig } from "../../config/schema/server.ts";
import type { ServerAuth } from "../../config/schema/server-auth.ts";
import type { SecretReference, SecretText } from "../../config/secret-reference.ts";
import { HEADER_VALUE } from "../../lib/text/header-rules.ts";
import type { ServerTransport } from "../../mcp/links/transport.ts";
import { GoblinError, messageOf } from "../../mcp/protocol/errors.ts";

export interface ServerSecretsOptions {
  readonly lookUp: (reference: SecretReference) => Promise<string>;
  /** Has programs asked again; after a refusal only those that were not asked just now. */
  readonly forget: (references: readonly SecretReference[], isRefused: boolean) => void;
  /** Gets the values, before anybody uses them. */
  readonly found: (values: readonly string[]) => void;
}

/** Shorter lines of a value may be ordinary words. */
const MIN_LINE_LENGTH = 12;

export class ServerSecrets {
  readonly #server: ServerConfig;
  readonly #options: ServerSecretsOptions;
  #values: readonly string[] = [];
  #loginValues: readonly string[] = [];

  constructor(server: ServerConfig, options: ServerSecretsOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** The values of the last start and login, which must not appear in errors. */
  get values(): readonly string[] {
    return [...this.#values, ...this.#loginValues];
  }

  /** Returns the server's transport with all values. @throws GoblinError */
  async transport(): Promise<ServerTransport> {
    const found: string[] = [];
    const texts = await Promise.all(
      this.#texts(false).map(async (text) => ({ text, value: await this.#complete(text, found) })),
    );
    const { transport } = this.#server;
    const variables = transport.kind === "stdio" && transport.envFile ? await readEnvFile(transport.envFile) : {};
    found.push(...Object.values(variables));
    this.#values = [...new Set(found.flatMap(withLines))];
    this.#options.found(this.values);
    return texts.reduce<ServerTransport>(
      (complete, { text, value }) => put(complete, text, value),
      transport.kind === "stdio" ? { ...transport, env: { ...variables, ...transport.env } } : transport,
    );
  }

  /** Returns the settings of the server's login with all values. @throws GoblinError */
  async auth(): Promise<ServerAuth | undefined> {
    const { auth } = this.#server;
    const texts = this.#texts(true);
    if (!auth || texts.length === 0) return auth;
    const found: string[] = [];
    let complete = auth;
    for (const text of texts) complete = putInAuth(complete, text, await this.#complete(text, found));
    this.#loginValues = [...new Set(found.flatMap(withLines))];
    this.#options.found(this.values);
    return complete;
  }

  /** Has programs asked again at the next start. */
  forget(): void {
    this.#options.forget(this.#references, false);
  }

  /** After a refusal: returns whether there are other values now than those in use. */
  async isOutdated(inUse: ServerTransport): Promise<boolean> {
    this.#options.forget(this.#references, true);
    try {
      return JSON.stringify(await this.transport()) !== JSON.stringify(inUse);
    } catch {
      // The refusal says more than this.
      return false;
    }
  }

  #texts(ofAuth: boolean): readonly SecretText[] {
    return (this.#server.secretTexts ?? []).filter(({ at }) => (at[0] === "auth") === ofAuth);
  }

  get #references(): SecretReference[] {
    return (this.#server.secretTexts ?? []).flatMap(({ parts }) => parts.filter((part) => typeof part === "object"));
  }

  async #complete({ at, parts }: SecretText, found: string[]): Promise<string> {
    try {
      const values = await Promise.all(
        parts.map(async (part) => {
          if (typeof part === "string") return part;
          const value = await this.#options.lookUp(part);
          found.push(value);
          return value;
        }),
      );
      const value = values.join("");
      checkValue(at, value);
      return value;
    } catch (error) {
      const { reason } = error as GoblinError;
      throw new GoblinError("BACKEND_UNAVAILABLE", `${at.join(".")}: ${messageOf(error)}`, { reason });
    }
  }
}

/** A program may print a value line by line. */
function withLines(value: string): string[] {
  return [value, ...value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH)];
}

function checkValue([key]: SecretText["at"], value: string): void {
  if (value.includes("\0")) throw new Error("the value contains a NUL character");
  if (key === "headers" && !HEADER_VALUE.test(value)) {
    throw new Error("the value contains line breaks or other control characters, which no header can carry");
  }
  if (key !== "url") return;
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) throw new Error("not a valid http:// or https:// URL");
  const { username, password } = new URL(value);
  if (username + password !== "") throw new Error("must not contain a user name or password; use headers");
}

function put(transport: ServerTransport, { at: [key, name] }: SecretText, value: string): ServerTransport {
  if (transport.kind === "stdio") {
    if (key === "args") return { ...transport, args: transport.args.with(Number(name), value) };
    return { ...transport, env: { ...transport.env, [String(name)]: value } };
  }
  if (key === "url") return { ...transport, url: value };
  return { ...transport, headers: { ...transport.headers, [String(name)]: value } };
}

function putInAuth(auth: ServerAuth, { at: [, key, name] }: SecretText, value: string): ServerAuth {
  if (name === undefined || !auth.idp) return { ...auth, [String(key)]: value };
  return { ...auth, idp: { ...auth.idp, [name]: value } };
}

async function readEnvFile(path: string): Promise<Record<string, string>> {
  try {
    // `parseEnv` declares its values optional, but every name it returns has a value.
    return parseEnv(await readFile(path, "utf8")) as Record<string, string>;
  } catch (error) {
    const { code = "it is malformed" } = error as NodeJS.ErrnoException;
    throw new GoblinError("BACKEND_UNAVAILABLE", `the envFile ${path} cannot be read: ${code}`);
  }
}
