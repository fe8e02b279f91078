/**
 * Which gateway a pipe attaches to, as the other commands find it, but without the schema of the
 * config: clients wait for this.
 *
 * Invariant: as for the other commands, a config in the current folder can lead only to this
 * machine.
 */
import { resolve } from "node:path";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { addressIn, type WrittenAddress } from "../../../config/written-address.ts";
import { isLoopback } from "../../../lib/text/loopback.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface AttachOptions {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
  readonly profile?: string | undefined;
  /** The only server, under its own names. */
  readonly server?: string | undefined;
  /** Minutes after which a gateway that this one starts ends without clients. */
  readonly stopWhenIdle?: string | undefined;
}

export interface AttachTarget {
  /** The root URL, by the config or the user. */
  readonly url: string;
  readonly token: string | undefined;
  readonly config: string | undefined;
  /** The config was found in the current folder. */
  readonly isFound: boolean;
  /** Whether the user named the address, so that no other gateway counts and none is started. */
  readonly isNamed: boolean;
}

/** The words of `goblin stdio --attach`; undefined for anything else, which the parser explains. */
export function attachWords(words: readonly string[]): AttachOptions | undefined {
  if (words[0] !== "stdio" || !words.includes("--attach")) return undefined;
  const found: Record<string, string> = {};
  for (let i = 1; i < words.length; i++) {
    if (words[i] === "--attach") continue;
    const name = OPTIONS[words[i]!];
    const value = words[++i];
    if (name === undefined || value === undefined || value.startsWith("-")) return undefined;
    if (name === "stopWhenIdle" && !(Number(value) > 0 && Number(value) <= 1440)) return undefined;
    found[name] = value;
  }
  return found["profile"] !== undefined && found["server"] !== undefined ? undefined : found;
}

const OPTIONS: Readonly<Record<string, keyof AttachOptions>> = {
  "-c": "config",
  "--config": "config",
  "-u": "url",
  "--url": "url",
  "-p": "profile",
  "--profile": "profile",
  "-s": "server",
  "--server": "server",
  "--stop-when-idle": "stopWhenIdle",
};

/** Returns undefined if that takes more than a look at the text of the config. */
export async function quickTarget(options: AttachOptions, env: Environment): Promise<AttachTarget | undefined> {
  const given = env["GOBLIN_TOKEN"] || undefined;
  if (env["GOBLIN_HOST"] || env["GOBLIN_PORT"]) return undefined;
  if (options.url !== undefined) {
    if (options.config !== undefined || !/^https?:\/\//.test(options.url) || !URL.canParse(options.url))
      return undefined;
    return { url: new URL(options.url).origin, token: given, config: undefined, isFound: false, isNamed: true };
  }
  const named = options.config ?? (env["GOBLIN_CONFIG"] || undefined);
  const config = named === undefined ? findConfig(process.cwd(), env) : resolve(named);
  const found = named === undefined && config !== undefined && isFound(config, process.cwd(), env);
  const written: WrittenAddress = config === undefined ? {} : await addressIn(config);
  if (written.isPartial || written.port === 0) return undefined;
  const { host = "127.0.0.1", port = 3000 } = written;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  if (found && !isLoopback(name)) return undefined;
  const url = `${written.tls ? "https" : "http"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
  return { url, token: given ?? written.token, config, isFound: found, isNamed: false };
}
