/**
 * Parses the HTTP/1.1 responses of one connection, one after the other: bytes in; head, body and
 * end out.
 *
 * The end of a response decides which request the next bytes belong to. Any ambiguity about it is
 * therefore an error (RFC 9112, section 6). Body bytes are only lent: the next read overwrites
 * them.
 */

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names and values, alternating. */
  readonly headers: readonly string[];
  /** The length of the body, if the server declares it. */
  readonly length: number | undefined;
}

export interface ResponseHandler {
  head(head: AnswerHead): void;
  body(lent: Buffer): void;
}

/** The response violates HTTP/1.1. */
export class MalformedResponseError extends Error {
  readonly code = "BAD_HTTP";
}

/** The response goes on and on without becoming an answer. */
export class EndlessResponseError extends Error {
  readonly code = "ENDLESS_ANSWER";
}

const MAX_HEAD = 64 * 1024;
const MAX_LINE = 16 * 1024;
/** For interim responses, trailers and chunk extensions of one response together. */
const MAX_OVERHEAD = 64 * 1024;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const ZERO = 48;
const NOT_HTTP = "The answer is not HTTP/1.1";
const LINE_END = "A line in the head of the answer does not end with CRLF";
const HEAD_END = Buffer.from("\r\n\r\n");

type Awaited = "head" | "length" | "close" | "size" | "chunk" | "chunkEnd" | "trailers" | "nothing";

export class ResponseParser {
  readonly #user: ResponseHandler;
  #awaited: Awaited = "head";
  /** Bytes left in the body or in the current chunk. */
  #left = 0;
  /** The start of an incomplete head or line. */
  #begun = "";
  #reusable = true;
  /** Bytes of this response that are neither its head nor its body. */
  #overhead = 0;
  /** The server's keep-alive timeout, if it sends one. */
  keepAliveMs: number | undefined;

  constructor(user: ResponseHandler) {
    this.#user = user;
  }

  get complete(): boolean {
    return this.#awaited === "nothing";
  }

  /** Whether the connection can take another request after this response. */
  get reusable(): boolean {
    return this.#reusable;
  }

  /** Whether no byte of the response has arrived. */
  get nothingReceived(): boolean {
    return this.#awaited === "head" && this.#begun === "";
  }

  next(): void {
    this.#awaited = "head";
    this.#reusable = true;
    this.#overhead = 0;
  }

  /**
   * Consumes bytes up to the end of the response and returns how many. Throws a
   * MalformedResponseError.
   */
  read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#awaited !== "nothing") at = this.#step(bytes, at);
    return at;
  }

  /** The server closed the connection. Returns whether that completes the response. */
  end(): boolean {
    if (this.#awaited !== "close") return false;
    this.#awaited = "nothing";
    return true;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#awaited) {
      case "head":
        return this.#head(bytes, at);
      case "length":
      case "chunk":
        return this.#body(bytes, at);
      case "close":
        this.#user.body(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      default:
        return this.#line(bytes, at);
    }
  }

  #head(bytes: Buffer, at: number): number {
    const end = this.#begun === "" ? bytes.indexOf(HEAD_END, at) : -1;
    if (end !== -1) {
      this.#take(bytes.toString("latin1", at, end));
      return end + HEAD_END.length;
    }
    return this.#longHead(bytes, at);
  }

  /** Reads a head that arrives in pieces. */
  #longHead(bytes: Buffer, at: number): number {
    const before = this.#begun.length;
    const text = this.#begun + bytes.toString("latin1", at, Math.min(bytes.length, at + MAX_HEAD + 1));
    if (!"HTTP/1.".startsWith(text.slice(0, 7))) throw new MalformedResponseError(NOT_HTTP);
    const end = text.indexOf("\r\n\r\n");
    if (end !== -1) {
      this.#begun = "";
      this.#take(text.slice(0, end));
      return at + end + HEAD_END.length - before;
    }
    if (/[^\r]\n/.test(text)) throw new MalformedResponseError(LINE_END);
    if (text.length > MAX_HEAD)
      throw new MalformedResponseError(`The head of the answer has more than ${MAX_HEAD} bytes`);
    this.#begun = text;
    return bytes.length;
  }

  #take(text: string): void {
    const status = statusOf(text);
    if (status < 200) {
      if (status === 101) throw new MalformedResponseError("The server switched to a protocol other than HTTP/1.1");
      return this.#count(text.length, "interim responses");
    }
    const headers = headersOf(text);
    const framing = framingOf(headers, text.charCodeAt(7) !== ZERO);
    const bodiless = status === 204 || status === 304;
    this.#reusable = framing.persistent;
    this.keepAliveMs = framing.keepAliveMs;
    this.#left = framing.length ?? 0;
    if (bodiless || framing.length === 0) this.#awaited = "nothing";
    else if (framing.chunked) this.#awaited = "size";
    else if (framing.length !== undefined) this.#awaited = "length";
    else {
      this.#awaited = "close";
      this.#reusable = false;
    }
    this.#user.head({ status, headers, length: bodiless ? 0 : framing.length });
  }

  #body(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#awaited = this.#awaited === "chunk" ? "chunkEnd" : "nothing";
    this.#user.body(bytes.subarray(at, end));
    return end;
  }

  #line(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline + 1;
    if (this.#begun.length + end - at > MAX_LINE)
      throw new MalformedResponseError("A line between the chunks of the answer is too long");
    this.#begun += bytes.toString("latin1", at, end);
    if (newline === -1) return end;
    const line = this.#begun.trimEnd();
    this.#begun = "";
    this.#between(line);
    return end;
  }

  /** A response without an end must not keep a core busy for as long as a call lasts. */
  #count(bytes: number, what: string): void {
    this.#overhead += bytes;
    if (this.#overhead > MAX_OVERHEAD)
      throw new EndlessResponseError(`its answer has more than ${MAX_OVERHEAD} bytes of ${what}`);
  }

  /** Handles a line between chunks: a chunk size, the end of a chunk, or a trailer. */
  #between(line: string): void {
    if (this.#awaited === "trailers") {
      if (line === "") this.#awaited = "nothing";
      else this.#count(line.length, "trailers");
    } else if (this.#awaited === "chunkEnd") {
      if (line !== "") throw new MalformedResponseError("A chunk of the answer is longer than its size");
      this.#awaited = "size";
    } else {
      const size = /^([0-9a-f]{1,12})[ \t]*(;|$)/i.exec(line);
      if (!size) throw new MalformedResponseError("A chunk of the answer has no size");
      this.#left = Number.parseInt(size[1]!, 16);
      if (line.length > size[1]!.length) this.#count(line.length - size[1]!.length, "chunk extensions");
      this.#awaited = this.#left === 0 ? "trailers" : "chunk";
    }
  }
}

function statusOf(head: string): number {
  const status = Number(head.slice(9, 12));
  if (!head.startsWith("HTTP/1.") || head.charCodeAt(8) !== SPACE || !(status >= 100)) {
    throw new MalformedResponseError(NOT_HTTP);
  }
  return status;
}

function headersOf(head: string): string[] {
  const headers: string[] = [];
  let at = endOfLine(head, 0) + 2;
  while (at < head.length) {
    const end = endOfLine(head, at);
    const colon = head.indexOf(":", at);
    if (colon <= at || colon > end || head.charCodeAt(at) <= SPACE || head.charCodeAt(colon - 1) <= SPACE) {
      throw new MalformedResponseError("A header of the answer has no name");
    }
    headers.push(head.slice(at, colon).toLowerCase(), head.slice(colon + 1, end).trim());
    at = end + 2;
  }
  return headers;
}

function endOfLine(head: string, from: number): number {
  const newline = head.indexOf("\n", from);
  if (newline === -1) return head.length;
  if (head.charCodeAt(newline - 1) !== RETURN) throw new MalformedResponseError(LINE_END);
  return newline - 1;
}

interface Framing {
  length: number | undefined;
  chunked: boolean;
  persistent: boolean;
  keepAliveMs: number | undefined;
}

function framingOf(headers: readonly string[], persistent: boolean): Framing {
  const framing: Framing = { length: undefined, chunked: false, persistent, keepAliveMs: undefined };
  let closes = false;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1]!;
    switch (headers[i]) {
      case "content-length":
        framing.length = lengthOf(value, framing.length);
        break;
      case "transfer-encoding":
        if (framing.chunked || value.toLowerCase() !== "chunked")
          throw new MalformedResponseError("The answer has an unknown transfer encoding");
        framing.chunked = true;
        break;
      case "connection":
        if (/\bclose\b/i.test(value)) closes = true;
        else if (/\bkeep-alive\b/i.test(value)) framing.persistent = true;
        break;
      case "keep-alive":
        framing.keepAliveMs = keepAliveMs(value);
        break;
    }
  }
  if (closes) framing.persistent = false;
  // Both lengths are given. Chunked encoding wins, but the connection must not be reused.
  if (framing.chunked && framing.length !== undefined) {
    framing.length = undefined;
    framing.persistent = false;
  }
  return framing;
}

function lengthOf(value: string, before: number | undefined): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(length) || (before !== undefined && before !== length)) {
    throw new MalformedResponseError("The length of the answer is not clear");
  }
  return length;
}

function keepAliveMs(value: string): number | undefined {
  const seconds = /timeout=(\d{1,6})/i.exec(value);
  return seconds ? Number(seconds[1]) * 1000 : undefined;
}

/** Returns all values of the headers with this name, as one list. `name` must be in lower case. */
export function headersIn(headers: readonly string[], name: string): string | undefined {
  const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1] === name);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the first header with this name. `name` must be in lower case. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
}
