/**
 * Where one kind of data goes, and how: by the config, then by the variables of the signal, then by
 * the general ones.
 *
 * Invariant: no warning contains a value. A header or an address may hold a key.
 */
import type { OtelConfig } from "../../config/schema/otel.ts";
import { pairs, positive } from "./variables.ts";

export interface Signal {
  readonly url: string;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface SignalSources {
  readonly config: Pick<OtelConfig, "endpoint">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (message: string) => void;
}

const TIMEOUT_MS = 10_000;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns undefined if nothing says where to send it, or it cannot be sent there. */
export function readSignal(name: "TRACES" | "METRICS", { config, env, warn }: SignalSources): Signal | undefined {
  if (/^none$/i.test(env[`OTEL_${name}_EXPORTER`] ?? "")) return undefined;
  const general = (option: string): string => `OTEL_EXPORTER_OTLP_${option}`;
  /** The variable that says it: an empty one counts as not set. */
  const variable = (option: string): string =>
    general(env[general(`${name}_${option}`)] ? `${name}_${option}` : option);
  const source = config.endpoint === undefined ? variable("ENDPOINT") : "otel.endpoint";
  const given = config.endpoint ?? env[source];
  if (!given) return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    warn(`${source} is no http or https URL, so nothing is sent there. Set it to one such as http://127.0.0.1:4318`);
    return undefined;
  }
  // The config's address is one of OTLP over HTTP, so the variable speaks of another one.
  if (config.endpoint === undefined && !speaks(variable("PROTOCOL"), env, warn)) return undefined;
  if (source !== general(`${name}_ENDPOINT`)) {
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${name.toLowerCase()}`;
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
  const headers = { ...(username !== "" && { authorization: `Basic ${basic}` }) };
  const add = (from: string, entries: Iterable<readonly [string, string]>): void => {
    for (const [key, value] of entries) {
      const header = key.toLowerCase();
      if (HEADER_NAME.test(header) && HEADER_VALUE.test(value)) Object.assign(headers, { [header]: value });
      else warn(`${from} has an entry that is no header, which is left out. Write name=value, percent-encoded`);
    }
  };
  for (const from of [general("HEADERS"), general(`${name}_HEADERS`)]) add(from, pairs(env[from]));
  return { url: url.href, headers, timeoutMs: positive(env[variable("TIMEOUT")], TIMEOUT_MS) };
}

/** Whether the gateway can send what the variable asks for, or something in its place. */
function speaks(variable: string, env: SignalSources["env"], warn: SignalSources["warn"]): boolean {
  switch (env[variable]?.trim().toLowerCase() || "http/json") {
    case "http/json":
      return true;
    case "http/protobuf":
      warn(`${variable} asks for http/protobuf. Goblin sends http/json, which collectors take at the same address`);
      return true;
    default:
      warn(
        `${variable} asks for a protocol that Goblin does not speak, so nothing is sent. ` +
          "Set it to http/json, and the endpoint to the collector's address for OTLP over HTTP, usually port 4318",
      );
      return false;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
