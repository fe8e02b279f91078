/**
 * What a line of a recording says before its message: pieces of JSON that are put together. What
 * many lines have in common is made once. All of it is ASCII, so that its length in bytes is known.
 */
import type { Call, Client } from "../protocol/call.ts";

/** Whose message a line has, and which way it went. */
export const CLIENT_IN = ',"side":"client","dir":"in"';
export const CLIENT_OUT = ',"side":"client","dir":"out"';
export const SERVER_IN = ',"side":"server","dir":"in"';
export const SERVER_OUT = ',"side":"server","dir":"out"';

const SHOWN = 200;
const MOST_NAMES = 200;
const FRACTIONS = Array.from({ length: 1000 }, (_, part) => String(part).padStart(3, "0"));

export class FrameHeads {
  readonly #clients = new WeakMap<Client, string>();
  /** Methods and server ids as JSON. Clients may invent methods, so few are kept. */
  readonly #names = new Map<string, string>();
  #last: { readonly call: Call; readonly text: string } | undefined;
  /** The newest time, and how lines of that millisecond begin. */
  #clock = { ms: -1, text: "" };

  /** The time in milliseconds of the newest line. */
  get ms(): number {
    return this.#clock.ms;
  }

  /** How a line begins. */
  begin(way: string, t: number): string {
    const ms = Math.floor(t);
    if (ms !== this.#clock.ms) this.#clock = { ms, text: `{"t":${ms}.` };
    return this.#clock.text + FRACTIONS[((t - ms) * 1000) | 0] + way;
  }

  /** The members about who made a call, and what it was. Two lines in a row are often of one. */
  call(call: Call): string {
    if (this.#last?.call !== call) this.#last = { call, text: this.#about(call) };
    return this.#last.text;
  }

  #about({ client, method, who, requestId }: Call): string {
    let known = this.#clients.get(client);
    if (known === undefined) {
      const { name } = client.info;
      known =
        (who.name === "" ? "" : `,"who":${asciiJson(who.name)}`) +
        (typeof name === "string" ? `,"client":${asciiJson(name)}` : "") +
        (client.hasSession ? `,"session":${asciiJson(client.key.slice(0, 8))}` : "");
      this.#clients.set(client, known);
    }
    return `,"call":"${requestId}","method":${this.name(method)}${known}`;
  }

  name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const text = asciiJson(name);
    if (this.#names.size < MOST_NAMES) this.#names.set(name, text);
    return text;
  }

  /** A method as the message has it. */
  method(method: string): string {
    return method.length <= SHOWN ? this.name(method) : asciiJson(method, method.length);
  }

  server(serverId: string | undefined): string {
    return serverId === undefined ? "" : `,"server":${this.name(serverId)}`;
  }
}

/** A duration in milliseconds, to the microsecond. */
export function shownMs(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}.${FRACTIONS[((ms - whole) * 1000) | 0]}`;
}

/** A name as JSON, cut, and without other characters than ASCII. */
function asciiJson(name: string, most = SHOWN): string {
  return JSON.stringify(name.slice(0, most)).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
