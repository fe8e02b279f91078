/**
 * Redis's protocol (RESP2): commands as bytes, and replies from bytes as they arrive.
 *
 * A reply that is longer than any reply of ours can be ends the connection: memory stays bounded.
 */

export type Reply = string | number | null | ReplyError | readonly Reply[];

/** A reply that refuses the command. */
export class ReplyError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const LONGEST = 16 * 1024 * 1024;
const LONGEST_ERROR = 500;
const MOST = 1_000_000;
const DEEPEST = 4;

export function encodeCommand(parts: readonly (string | number)[]): string {
  let text = `*${parts.length}\r\n`;
  for (const part of parts) {
    const given = String(part);
    text += `$${Buffer.byteLength(given)}\r\n${given}\r\n`;
  }
  return text;
}

/** What was read, and where the next reply begins. */
interface Read {
  readonly reply: Reply;
  readonly end: number;
}

export class ReplyParser {
  #bytes: Buffer = Buffer.alloc(0);

  /** Returns the replies that are complete now. Throws if the other side is no Redis. */
  push(chunk: Buffer): Reply[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const replies: Reply[] = [];
    let at = 0;
    for (let read = this.#read(at, 0); read; read = this.#read(at, 0)) {
      replies.push(read.reply);
      at = read.end;
    }
    this.#bytes = this.#bytes.subarray(at);
    if (this.#bytes.length > LONGEST) throw new Error("a reply is too long");
    return replies;
  }

  /** Returns undefined if the reply is not complete yet. */
  #read(at: number, depth: number): Read | undefined {
    const lineEnd = this.#bytes.indexOf("\r\n", at, "latin1");
    if (lineEnd === -1) return undefined;
    const kind = this.#bytes[at];
    const line = this.#bytes.toString("utf8", at + 1, lineEnd);
    const end = lineEnd + 2;
    switch (kind) {
      case 0x2b:
        return { reply: line, end };
      case 0x2d:
        return { reply: new ReplyError(line.slice(0, LONGEST_ERROR)), end };
      case 0x3a:
        return { reply: numberIn(line), end };
      case 0x24:
        return this.#text(numberIn(line), end);
      case 0x2a:
        return this.#list(numberIn(line), end, depth);
      default:
        throw new Error("the other side does not speak Redis's protocol");
    }
  }

  #text(length: number, at: number): Read | undefined {
    if (length === -1) return { reply: null, end: at };
    if (length < 0 || length > LONGEST) throw new Error("a reply is too long");
    if (this.#bytes.length < at + length + 2) return undefined;
    return { reply: this.#bytes.toString("utf8", at, at + length), end: at + length + 2 };
  }

  #list(length: number, at: number, depth: number): Read | undefined {
    if (length === -1) return { reply: null, end: at };
    if (length < 0 || length > MOST || depth >= DEEPEST) throw new Error("a reply is too long");
    const items: Reply[] = [];
    let next = at;
    for (let i = 0; i < length; i++) {
      const read = this.#read(next, depth + 1);
      if (!read) return undefined;
      items.push(read.reply);
      next = read.end;
    }
    return { reply: items, end: next };
  }
}

function numberIn(line: string): number {
  const value = Number(line);
  if (!Number.isSafeInteger(value)) throw new Error("a reply has no length");
  return value;
}
