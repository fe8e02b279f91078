/**
 * Cuts a client's description of itself to a bounded size: it is kept as long as the session, and
 * there may be thousands.
 *
 * A description of normal size is kept whole. The kept values never hold on to the message that
 * they came in.
 */
import { GoblinError } from "../../mcp/protocol/errors.ts";

type Said = Readonly<Record<string, unknown>>;

const MAX_INFO = 4096;
const MAX_CAPABILITIES = 8192;
const MAX_TEXT = 64;
const KNOWN_CAPABILITIES = new Set(["sampling", "elicitation", "roots", "experimental", "tasks", "extensions"]);

/** Returns name, title and version, each cut to a short length. */
export function shortInfo(info: Said): Said {
  const kept: Record<string, unknown> = {};
  for (const name of ["name", "title", "version"]) {
    const value = info[name];
    if (typeof value === "string") kept[name] = value.slice(0, MAX_TEXT);
  }
  return kept;
}

/** Returns the capabilities that the protocol knows, without their details. */
export function bareCapabilities(capabilities: Said): Said {
  return Object.fromEntries(Object.keys(known(capabilities)).map((name) => [name, {}]));
}

export function boundedInfo(info: Said): Said {
  const text = JSON.stringify(info);
  // Parsed again, because a slice of a long string would keep the whole string in memory.
  return text.length <= MAX_INFO ? info : (JSON.parse(JSON.stringify(shortInfo(info))) as Said);
}

/**
 * Drops unknown capabilities if there are too many. Throws if the known ones alone are too large.
 */
export function boundedCapabilities(capabilities: Said): Said {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES) return capabilities;
  const kept = known(capabilities);
  const { length } = JSON.stringify(kept);
  if (length <= MAX_CAPABILITIES) return kept;
  const message = `The client's "capabilities" are too large: ${length} characters, at most ${MAX_CAPABILITIES}; declare less`;
  throw new GoblinError("INVALID_PARAMS", message);
}

function known(capabilities: Said): Said {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => KNOWN_CAPABILITIES.has(name)));
}
