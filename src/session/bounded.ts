/**
 * What a client says of itself, cut to what is needed: it is kept for as long as the session, and
 * there may be thousands.
 *
 * What an honest client says is kept whole. Nothing that is kept refers to the message it came in.
 */
import { GoblinError } from "../protocol/errors.ts";

type Said = Readonly<Record<string, unknown>>;

const MAX_INFO = 4096;
const MAX_CAPABILITIES = 8192;
const MAX_TEXT = 64;
const KNOWN_CAPABILITIES = new Set(["sampling", "elicitation", "roots", "experimental", "tasks", "extensions"]);

/** Name, title and version, none of them long. */
export function shortInfo(info: Said): Said {
  const kept: Record<string, unknown> = {};
  for (const name of ["name", "title", "version"]) {
    const value = info[name];
    if (typeof value === "string") kept[name] = value.slice(0, MAX_TEXT);
  }
  return kept;
}

/** Those that the protocol knows, without their details. */
export function bareCapabilities(capabilities: Said): Said {
  return Object.fromEntries(Object.keys(known(capabilities)).map((name) => [name, {}]));
}

export function boundedInfo(info: Said): Said {
  const text = JSON.stringify(info);
  // Parsed anew: a part of a long string would keep all of it.
  return text.length <= MAX_INFO ? info : (JSON.parse(JSON.stringify(shortInfo(info))) as Said);
}

/** Throws when even those that the protocol knows are too much. */
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
