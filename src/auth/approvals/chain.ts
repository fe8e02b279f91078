/**
 * Lines of JSON that are chained by their hashes: each names the hash of the one before, and its
 * own hash covers everything in it. A line that is changed, removed, added or moved breaks the
 * chain. Pure.
 *
 * The shown arguments come after the hash and are not covered by it: the digest of the real ones
 * is. So a line can be kept with or without them.
 */
import { createHash } from "node:crypto";
import { isRecord } from "../../lib/structures/record.ts";

export interface ChainedLine {
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
  /** The line with the shown arguments, if there are any. */
  readonly whole: string;
}

export interface ReadLine {
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ChainBreak {
  /** The number of the line in its text, from 1. */
  readonly line: number;
  readonly problem: string;
}

export interface ChainReport {
  readonly lines: readonly ReadLine[];
  readonly broken: ChainBreak | undefined;
}

/** What the first line of a chain names as the hash before it. */
const START = "0".repeat(64);
const FORM = /^(\{.*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"arguments":.*)?\}$/;

export class Chain {
  #seq: number;
  #prev: string;

  constructor(last: Pick<ReadLine, "seq" | "hash"> = { seq: 0, hash: START }) {
    this.#seq = last.seq;
    this.#prev = last.hash;
  }

  /** `args`: the arguments as they are shown. */
  next(event: Readonly<Record<string, unknown>>, args?: string): ChainedLine {
    const seq = ++this.#seq;
    const body = JSON.stringify({ seq, ...event, prev: this.#prev });
    const hash = hashOf(body);
    const start = `${body.slice(0, -1)},"hash":"${hash}"`;
    this.#prev = hash;
    const whole = args === undefined ? `${start}}` : `${start},"arguments":${JSON.stringify(args)}}`;
    return { seq, hash, text: `${start}}`, whole };
  }
}

/** Reads chained lines. Others, such as those of calls in an audit file, are passed over. */
export function readChain(text: string): ChainReport {
  const lines: ReadLine[] = [];
  let number = 0;
  for (const line of text.split("\n")) {
    number++;
    if (!line.includes('"prev":"') || !line.includes('"hash":"')) continue;
    const read = readLine(line);
    if (typeof read === "string") return { lines, broken: { line: number, problem: read } };
    const before = lines.at(-1);
    if (before && read.prev !== before.hash) {
      const problem = `it does not follow line ${before.seq} of the chain: a line was removed, added or moved`;
      return { lines, broken: { line: number, problem } };
    }
    lines.push(read);
  }
  return { lines, broken: undefined };
}

function readLine(line: string): ReadLine | string {
  const [, body, prev, hash] = FORM.exec(line) ?? [];
  if (body === undefined || prev === undefined || hash === undefined) return "it is not a line of a chain";
  if (hashOf(`${body}}`) !== hash) return "its content does not fit its hash: it was changed";
  const value: unknown = JSON.parse(line);
  if (!isRecord(value) || typeof value["seq"] !== "number") return "it is not a line of a chain";
  return { seq: value["seq"], prev, hash, value };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
