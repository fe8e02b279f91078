/**
 * What a line of a recording says before its message: pieces of JSON that are put together. What
 * many lines have in common is made once. All of it is ASCII, so that its length in bytes is known.
 */
import type { Call, Client } from "../protocol/call.ts";
import type { Side } from "./frame.ts";

const SHOWN = 200;
const MOST_NAMES = 200;
const FRACTIONS = Array.from({ length: 1000 }, (_, part) => String(part).padStart(3, "0"));

export class FrameHeads {
  readonly #clients = new WeakMap<Client, string>();
  /** Methods and server ids as JSON. Clients may invent methods, so few are kept. */
  readonly #names = new Map<string, string>();
  /** The newest time, and how lines of that millisecond begin. */
  #clock = { ms: -1, text: "" };

  /** The time in milliseconds of the newest line. */
  get ms(): number {
    return this.#clock.ms;
  }

  /** How a line begins. */
  begin(side: Side, dir: "in" | "out", t: number): string {
    const ms = Math.floor(t);
    if (ms !== this.#clock.ms) this.#clock = { ms, text: `{"t":${ms}.` };
    return `${this.#clock.text}${FRACTIONS[((t - ms) * 1000) | 0]},"side":"${side}","dir":"${dir}"`;
  }

  /** The members about who made a call, and what it was. */
  call({ client, method, who, requestId }: Call): string {
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

/** A name as JSON, cut, and without other characters than ASCII. */
function asciiJson(name: string, most = SHOWN): string {
  return JSON.stringify(name.slice(0, most)).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
