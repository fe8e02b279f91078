/**
 * The newest calls with what was asked and answered, for the API's eyes.
 *
 * A kept call refers to texts and buffers that exist anyway: nothing is copied or parsed until
 * somebody looks. Invariant: at most `keep` calls and about `keepBytes` bytes are held. A text
 * larger than an eighth of that is not held, only its size.
 */

import { Ring } from "../../lib/structures/ring.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import type { Answer, Raw } from "../../mcp/protocol/json-rpc.ts";
import type { CallRecord } from "./call-record.ts";

export class KeptCall {
  readonly record: CallRecord;
  /** The raw params; undefined if they are too large to keep. */
  readonly params: string | undefined;
  readonly paramsBytes: number;
  readonly ok: boolean;
  /** The raw result or error; undefined if it is too large to keep. */
  readonly answer: Raw | undefined;
  readonly answerBytes: number;
  /** From the entrance until the request went to the server; null if it never did. */
  readonly beforeMs: number | null;
  /** From then until the server's answer. */
  readonly serverMs: number | null;
  /** The notifications that the client got during the call. */
  readonly emitted: readonly string[];
  /** How many keys and tokens were masked. */
  readonly masked: number;
  /** How many bytes it keeps alive, roughly. */
  readonly bytes: number;

  /** `largest`: of a text that is kept. */
  constructor(record: CallRecord, { flight, answer, largest }: Ended) {
    const { call, startedAt, sentAt, answeredAt } = flight;
    const keepsParams = call.text.length <= largest;
    // A buffer keeps the memory alive that it is a part of.
    const weight = typeof answer.raw === "string" ? answer.raw.length : answer.raw.buffer.byteLength;
    const keepsAnswer = weight <= largest;
    this.record = record;
    this.params = keepsParams ? call.text : undefined;
    this.paramsBytes = call.text.length;
    this.ok = answer.ok;
    this.answer = keepsAnswer ? answer.raw : undefined;
    this.answerBytes = answer.raw.length;
    this.beforeMs = sentAt === 0 ? null : sentAt - startedAt;
    this.serverMs = sentAt === 0 || answeredAt === 0 ? null : answeredAt - sentAt;
    this.emitted = call.emitted ?? NOTHING;
    this.masked = flight.masked;
    this.bytes = (keepsParams ? call.text.length : 0) + (keepsAnswer ? weight : 0) + sizeOf(call);
  }
}

interface Ended {
  readonly flight: Flight;
  readonly answer: Answer;
  readonly largest: number;
}

export interface KeepLimits {
  /** 0 keeps nothing. */
  readonly keep: number;
  readonly keepBytes: number;
}

const MAX_PART_SIZE = 8;
const NOTHING: readonly string[] = [];

export class KeptCalls {
  readonly #limits: () => KeepLimits;
  #calls: Ring<KeptCall> | undefined;
  #bytes = 0;

  constructor(limits: () => KeepLimits) {
    this.#limits = limits;
  }

  /** Whether calls are kept. A call that begins now remembers its notifications then. */
  get isOn(): boolean {
    return this.#limits().keep > 0;
  }

  add(record: CallRecord, flight: Flight, answer: Answer): void {
    const { keep, keepBytes } = this.#limits();
    if (keep !== (this.#calls?.capacity ?? 0)) this.#resize(keep);
    const calls = this.#calls;
    if (!calls) return;
    const call = new KeptCall(record, { flight, answer, largest: keepBytes / MAX_PART_SIZE });
    if (calls.length === keep) this.#drop(calls);
    calls.push(call);
    this.#bytes += call.bytes;
    while (this.#bytes > keepBytes && calls.length > 0) this.#drop(calls);
  }

  get size(): number {
    return this.#calls?.length ?? 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Finds a call by its request id. */
  find(requestId: string): KeptCall | undefined {
    return this.#calls?.items().findLast(({ record }) => record.requestId === requestId);
  }

  #drop(calls: Ring<KeptCall>): void {
    this.#bytes -= calls.shift()?.bytes ?? 0;
  }

  /** Keeps the newest of what is there. */
  #resize(keep: number): void {
    const newest = keep === 0 ? [] : (this.#calls?.items() ?? []).slice(-keep);
    this.#calls = keep === 0 ? undefined : new Ring(keep);
    for (const call of newest) this.#calls?.push(call);
    this.#bytes = newest.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

function sizeOf({ emitted }: Call): number {
  return emitted === undefined ? 0 : emitted.reduce((sum, text) => sum + text.length, 0);
}
