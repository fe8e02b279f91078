/**
 * What a line of a recording says before its message: pieces of JSON that are put together. What
 * many lines have in common is made once. All of it is ASCII, so that its length in bytes is known.
 */
import type { Call, Client } from "../../mcp/protocol/call.ts";
import type { Shape } from "../../mcp/protocol/frame.ts";

/** What the line of a whole call has before the id of the call. */
export const CALL = ',"call":"';
/** Whose message a line has, and which way it went. */
export const CLIENT_IN = ',"side":"client","dir":"in"';
export const CLIENT_OUT = ',"side":"client","dir":"out"';
export const SERVER_IN = ',"side":"server","dir":"in"';
export const SERVER_OUT = ',"side":"server","dir":"out"';

const SHOWN = 200;
const MAX_NAMES = 200;
/** What a line says about the shape of the server's answer. */
const FIRST: Readonly<Record<Shape, string>> = { jsonrpc: "", result: ',"first":"result"' };
const WHOLES = Array.from({ length: 1000 }, (_, whole) => String(whole));
const FRACTIONS = Array.from({ length: 1000 }, (_, part) => String(part).padStart(3, "0"));

/** What lines say about a client, and the newest line of a whole call. */
interface KnownClient {
  readonly members: string;
  method: string;
  over: string;
  rest: string;
}

export class FrameHeads {
  readonly #secrets: () => readonly string[];
  /** The secrets that the names of clients were searched for. */
  #hidden: readonly string[] = [];
  #clients = new WeakMap<Client, KnownClient>();
  /** The newest client without a session. */
  #latest: { readonly name: unknown; readonly who: string; readonly known: KnownClient } | undefined;
  /** Methods and server ids as JSON. Clients may invent methods, so few are kept. */
  readonly #names = new Map<string, string>();
  readonly #endings = { jsonrpc: { outcome: "", text: "" }, result: { outcome: "", text: "" } };
  #last: { readonly call: Call; readonly text: string } | undefined;
  /** The newest time, and how lines of that millisecond begin. */
  #clock = { ms: -1, text: "" };

  /** `secrets`: what names must not show. Another array each time that it changes. */
  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets;
  }

  /** The time in milliseconds of the newest line. */
  get ms(): number {
    return this.#clock.ms;
  }

  /** How a line begins. `at`: microseconds since 1970. */
  begin(way: string, at: number): string {
    const ms = Math.floor(at / 1000);
    if (ms !== this.#clock.ms) this.#clock = { ms, text: `{"t":${ms}.` };
    return this.#clock.text + FRACTIONS[at - ms * 1000] + way;
  }

  /** The members about who made a call, and what it was. Two lines in a row are often of one. */
  call(call: Call): string {
    if (this.#last?.call !== call) this.#last = { call, text: this.#about(call) };
    return this.#last.text;
  }

  #about(call: Call): string {
    return `,"call":"${call.requestId}","method":${this.name(call.method)}${this.#client(call).members}`;
  }

  /**
   * The id of a call and the members after it, up to its times. Calls of one client often have all
   * but their id in common.
   */
  whole(call: Call, over: string): string {
    const known = this.#client(call);
    if (known.method !== call.method || known.over !== over) {
      known.method = call.method;
      known.over = over;
      known.rest = `","method":${this.name(call.method)}${known.members}${over},"us":[`;
    }
    return call.requestId + known.rest;
  }

  #client({ client, who }: Call): KnownClient {
    if (this.#secrets() !== this.#hidden) {
      this.#hidden = this.#secrets();
      this.#clients = new WeakMap();
      this.#latest = undefined;
    }
    const { name } = client.info;
    // A client without a session is another one for each request.
    const latest = this.#latest;
    if (!client.hasSession && latest && latest.name === name && latest.who === who.name) return latest.known;
    let known = this.#clients.get(client);
    if (known === undefined) {
      const members =
        (who.name === "" ? "" : `,"who":${asciiJson(this.#shown(who.name))}`) +
        (typeof name === "string" ? `,"client":${asciiJson(this.#shown(name))}` : "") +
        (client.hasSession ? `,"session":${asciiJson(client.key.slice(0, 8))}` : "");
      known = { members, method: "", over: "", rest: "" };
      if (client.hasSession) this.#clients.set(client, known);
      else this.#latest = { name, who: who.name, known };
    }
    return known;
  }

  /** The thread masks messages, not what is said about them. */
  #shown(name: string): string {
    return this.#hidden.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), name);
  }

  name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const text = asciiJson(name);
    if (this.#names.size < MAX_NAMES) this.#names.set(name, text);
    return text;
  }

  /** A name as the message has it. */
  exact(name: string): string {
    return name.length <= SHOWN ? this.name(name) : asciiJson(name, name.length);
  }

  /** What the line of a whole call has between its times and its params. */
  ending(outcome: string, shape: Shape): string {
    const known = this.#endings[shape];
    if (known.outcome !== outcome) {
      known.outcome = outcome;
      known.text = `],"outcome":"${outcome}"${FIRST[shape]},"params":`;
    }
    return known.text;
  }

  /** Whether the members about a call name its method as the message does. */
  isExact(method: string): boolean {
    return method.length <= SHOWN;
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

/** A duration in milliseconds, as microseconds. V8 takes 100 ns to write a number. */
export function shownUs(ms: number): string {
  if (ms >= 1000) return String(Math.floor(ms * 1000));
  const whole = (ms * 1000) | 0;
  const thousands = (whole / 1000) | 0;
  return thousands === 0 ? WHOLES[whole]! : WHOLES[thousands]! + FRACTIONS[whole - thousands * 1000]!;
}

/** A name as JSON, cut, and without other characters than ASCII. */
function asciiJson(name: string, most = SHOWN): string {
  return JSON.stringify(name.slice(0, most)).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
