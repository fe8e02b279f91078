/**
 * Reads just enough of the lines that pass through a pipe. Pure. What it cannot read has no kind,
 * and passes all the same.
 */

import { isRecord, recordOf } from "../../../lib/structures/record.ts";
import type { Id } from "../../../mcp/protocol/json-rpc.ts";

export interface PassingMessage {
  readonly kind: "request" | "notification" | "result" | "error" | "unknown";
  readonly id: Id | null;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value of a result or an error. */
  readonly value: Readonly<Record<string, unknown>>;
}

const UNKNOWN: PassingMessage = { kind: "unknown", id: null, method: "", params: {}, value: {} };

/** Reads a line in full. A batch is several messages. */
export function messagesIn(line: Buffer): readonly PassingMessage[] {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return Array.isArray(value) ? value.map(messageOf) : [messageOf(value)];
  } catch {
    return [UNKNOWN];
  }
}

function messageOf(value: unknown): PassingMessage {
  if (!isRecord(value)) return UNKNOWN;
  const { id, method, result, error } = value;
  const hasId = typeof id === "string" || typeof id === "number";
  const params = recordOf(value["params"]);
  if (typeof method === "string") {
    return { ...UNKNOWN, kind: hasId ? "request" : "notification", id: hasId ? id : null, method, params };
  }
  if (!hasId) return UNKNOWN;
  return { ...UNKNOWN, kind: error === undefined ? "result" : "error", id, value: recordOf(error ?? result) };
}

/** A gateway writes the id first. Large answers are not read any further. */
const HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*),"(result|error|method)":/;
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":"((?:[^"\\]|\\.)*)"/;
const HEAD_BYTES = 1024;

/** Reads the beginning of a gateway's line. The params and the value are left out. */
export function headOf(line: Buffer): PassingMessage {
  const text = line.toString("utf8", 0, HEAD_BYTES);
  const found = HEAD.exec(text);
  if (found) {
    const kind = found[2] === "method" ? "request" : (found[2] as "result" | "error");
    return { ...UNKNOWN, kind, id: JSON.parse(found[1]!) as Id };
  }
  const told = NOTIFICATION.exec(text);
  if (told) return { ...UNKNOWN, kind: "notification", method: told[1]! };
  return messagesIn(line)[0] ?? UNKNOWN;
}
