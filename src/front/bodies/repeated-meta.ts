/**
 * Parses the messages of a connection, without parsing a `_meta` again that its client repeats.
 * Clients without a session say in each request who they are and what they can: half of a small
 * request, and 1 µs of its call.
 *
 * Invariant: the message is what `JSON.parse` makes of it. A known `_meta` is cut out of the text,
 * and a mark takes its place that no client can guess. Only if the mark is the `_meta` of the
 * parsed params was it cut out there, and not in an argument, where rules may look.
 */
import { randomUUID } from "node:crypto";
import { memberSpan } from "../../lib/json/json-text.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { isClearMeta } from "../../mcp/protocol/json-rpc.ts";
import type { IncomingBody } from "../classify.ts";

/**
 * A shorter one is parsed as fast as it is compared. A longer one is not kept, nor one with more
 * objects and lists: two characters of text can take 50 bytes of memory.
 */
const MIN_LENGTH = 64;
const MAX_LENGTH = 1024;
const MAX_CONTAINERS = 16;
/** After this many different ones in a row, a connection is left alone. */
const MAX_MISSES = 4;

const MARK = randomUUID();
const MARK_TEXT = JSON.stringify(MARK);
const REPEATED = Symbol("repeated _meta");

/** Its newest `_meta` is kept with it. */
export interface MetaConnection {
  [REPEATED]?: RepeatedMeta | undefined;
}

/** A `_meta`, as text and parsed. Never changes: requests share it. */
interface Meta {
  readonly text: string;
  readonly value: object;
}

/** The one that was learned last: most clients of a gateway are of one kind. */
let newest: Meta = { text: "", value: {} };

/** Throws as `JSON.parse` does. */
export function parseMessage(text: string, connection: MetaConnection | undefined): IncomingBody {
  const repeated = connection?.[REPEATED];
  const known = repeated?.read(text);
  if (known) return known;
  const value: unknown = JSON.parse(text);
  if (connection && text.length >= MIN_LENGTH && !repeated?.isLost) {
    const meta = recordOf(recordOf(value)["params"])["_meta"];
    if (isRecord(meta)) {
      connection[REPEATED] ??= new RepeatedMeta();
      connection[REPEATED].learn(text, meta);
    }
  }
  return { value, text, metaAt: undefined };
}

/** No other request is expected on the connection. */
export function forgetMeta(connection: MetaConnection): void {
  if (connection[REPEATED]) connection[REPEATED] = undefined;
}

class RepeatedMeta {
  #meta: Meta | undefined;
  /** Where it was, from the start of the message and from its end. */
  #start = 0;
  #fromEnd = 0;
  #misses = 0;

  /** Whether it is never the same as before. */
  get isLost(): boolean {
    return this.#misses >= MAX_MISSES;
  }

  /** Returns undefined if the message does not have the known `_meta` at one of its places. */
  read(text: string): IncomingBody | undefined {
    const meta = this.#meta;
    if (!meta) return undefined;
    const { length } = meta.text;
    let start = text.length - this.#fromEnd - length;
    if (!hasAt(text, meta.text, start)) {
      start = this.#start;
      if (!hasAt(text, meta.text, start)) return undefined;
    }
    const end = start + length;
    let value: unknown;
    try {
      value = JSON.parse(text.slice(0, start) + MARK_TEXT + text.slice(end));
    } catch {
      // The error must be about the message itself.
      return this.#miss();
    }
    const params = recordOf(recordOf(value)["params"]) as { _meta?: unknown };
    if (params._meta !== MARK) return this.#miss();
    params._meta = meta.value;
    this.#misses = 0;
    return { value, text, metaAt: { start, end } };
  }

  /** `text`: a valid message, with this `_meta`. */
  learn(text: string, value: object): void {
    this.#meta = undefined;
    this.#miss();
    if (this.isLost) return;
    const params = memberSpan(text, 0, "params");
    const at = params && memberSpan(text, params.start, "_meta");
    if (!at || at.end - at.start < MIN_LENGTH || at.end - at.start > MAX_LENGTH) return;
    const own = text.slice(at.start, at.end);
    if (newest.text !== own) {
      if ((own.match(/[[{]/g)?.length ?? 0) > MAX_CONTAINERS) return;
      // A copy: a part of the message would keep all of it.
      const copy = Buffer.from(own).toString();
      // The place of a known one is not searched again.
      if (copy !== own || !isClearMeta(copy)) return;
      newest = { text: copy, value: frozen(value) };
    }
    this.#meta = newest;
    this.#start = at.start;
    this.#fromEnd = text.length - at.end;
  }

  /** The message was parsed for nothing, or has another one. */
  #miss(): undefined {
    this.#misses++;
    if (this.isLost) this.#meta = undefined;
  }
}

function hasAt(text: string, part: string, at: number): boolean {
  return at > 0 && text.slice(at, at + part.length) === part;
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) frozen(inner);
  return Object.freeze(value);
}
