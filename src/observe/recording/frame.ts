/**
 * A line of a recording: a message as it passed a side of the gateway, and its circumstances.
 *
 * Invariant: `frame` is the message's own JSON, byte for byte, unless something in it was masked.
 * A message that is not JSON, or has line breaks between its values, is in `text` instead. So a
 * message can never end its line or pass for a member of it.
 */
import { memberText } from "../../lib/json/json-text.ts";

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

/** Thrown for a line in a format that this version does not read. */
export class OlderFormat extends Error {}

/** How the member with the message begins, if the message is JSON. */
export const FRAME = ',"frame":';
const LINE_BREAK = /[\r\n]/;

const FRACTIONS = Array.from({ length: 1000 }, (_, part) => String(part).padStart(3, "0"));
/** The newest millisecond and its text: many lines share it, and V8 writes large numbers slowly. */
let clock = { ms: -1, text: "" };

/** Returns how a line begins. `at`: microseconds since 1970. */
export function lineBeginning(side: Side, dir: Frame["dir"], at: number): string {
  const ms = Math.floor(at / 1000);
  if (ms !== clock.ms) clock = { ms, text: `{"t":${ms}.` };
  return `${clock.text}${FRACTIONS[at - ms * 1000]},"side":"${side}","dir":"${dir}"`;
}

/** Returns the rest of a line: its message, and what follows. */
export function lineEnding(message: string, { isJson = true, isMasked = false } = {}): string {
  const member = isJson && !LINE_BREAK.test(message) ? `${FRAME}${message}` : `,"text":${JSON.stringify(message)}`;
  return `${member}${isMasked ? ',"masked":true' : ""}}\n`;
}

/**
 * @returns undefined if it is not a line, such as the last one before a crash
 * @throws OlderFormat
 */
export function readFrame(line: string): Frame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { frame, text, ...head } = value as FrameHead & { frame?: unknown; text?: unknown };
  if (typeof head.t !== "number") return undefined;
  if (head.side !== "client" && head.side !== "server") {
    // Unreleased builds put a whole call into one line.
    if ("us" in value && "sent" in value) throw new OlderFormat("holds lines in format 1");
    return undefined;
  }
  const message = typeof text === "string" ? text : frame === undefined ? undefined : memberText(line, "frame");
  return { ...head, message };
}
