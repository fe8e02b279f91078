/**
 * A line of a recording: a message as it passed a side of the gateway, and what is known about it;
 * or a whole call (`whole-call.ts`).
 *
 * Invariant: `frame` is the message's own JSON, byte for byte, unless something in it was masked.
 * A message that is no JSON, or has line breaks between its values, is in `text` instead. So a
 * message can never end its line or pass for a member of it.
 */
import { memberText } from "../../lib/json/json-text.ts";
import { framesOfCall, isWholeCall } from "./whole-call.ts";

/** `client`: between a client and the gateway. `server`: between the gateway and a server. */
export type Side = "client" | "server";

/** What a line says beside the message. */
export interface FrameHead {
  /** Milliseconds since 1970, with fractions. */
  readonly t: number;
  readonly side: Side;
  /** `in`: the gateway received it. `out`: the gateway sent it. */
  readonly dir: "in" | "out";
  /** The call's id, as the log and the API have it. */
  readonly call?: string | undefined;
  readonly server?: string | undefined;
  /** The connection to the server; ids of messages are unique in it. */
  readonly link?: number | undefined;
  readonly method?: string | undefined;
  /** The principal's name. */
  readonly who?: string | undefined;
  /** The client's name for itself. */
  readonly client?: string | undefined;
  readonly session?: string | undefined;
  /** Of an answer to a client. */
  readonly ms?: number | undefined;
  readonly outcome?: string | undefined;
  /** The size of the message, where it is not in the line. */
  readonly bytes?: number | undefined;
  /** Whether something in the message was masked. */
  readonly masked?: boolean | undefined;
}

export interface Frame extends FrameHead {
  /** The message as text; undefined if it was not recorded. */
  readonly message: string | undefined;
}

export interface MessageKind {
  readonly isJson: boolean;
  readonly isMasked: boolean;
}

const LINE_BREAK = /[\r\n]/;

/** Returns the members that hold a message, with the comma before them. */
function messageMembers(message: string, isJson: boolean): string {
  return isJson && !LINE_BREAK.test(message) ? `,"frame":${message}` : `,"text":${JSON.stringify(message)}`;
}

/** Reads a line. Empty: it is not one, such as the last one before a crash. */
export function readFrames(line: string): Frame[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  if (typeof value !== "object" || value === null) return [];
  const { frame, text, ...head } = value as FrameHead & { frame?: unknown; text?: unknown };
  if (typeof head.t !== "number") return [];
  if (isWholeCall(value)) return framesOfCall(line, value);
  if (head.side !== "client" && head.side !== "server") return [];
  const message = typeof text === "string" ? text : frame === undefined ? undefined : memberText(line, "frame");
  return [{ ...head, message }];
}

/** Writes the line of a message that was masked, or taken from the line of a call. */
export function frameLine(head: string, message: string, { isJson, isMasked }: MessageKind): string {
  return `${head}${messageMembers(message, isJson)}${isMasked ? ',"masked":true' : ""}}\n`;
}
