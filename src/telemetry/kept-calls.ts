/**
 * The newest calls with what was asked and answered, for the API's eyes.
 *
 * A kept call refers to texts and buffers that exist anyway: nothing is copied or parsed until
 * somebody looks. Invariant: at most `keep` calls and about `keepBytes` bytes are held. A text
 * larger than an eighth of that is not held, only its size.
 */
import type { Call } from "../protocol/call.ts";
import type { Flight } from "../protocol/flight.ts";
import type { Answer, Raw } from "../protocol/json-rpc.ts";
import type { CallRecord } from "./activity.ts";

export interface KeptCall {
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
}

export interface KeepLimits {
  /** 0 keeps nothing. */
  readonly keep: number;
  readonly keepBytes: number;
}

const LARGEST_PART = 8;
const NOTHING: readonly string[] = [];

export class KeptCalls {
  readonly #limits: () => KeepLimits;
  /** Oldest first from `#first`; the places before it are empty. */
  #calls: (KeptCall | undefined)[] = [];
  #first = 0;
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
    if (keep > 0) this.#push(kept({ record, flight, answer, largest: keepBytes / LARGEST_PART }));
    while (this.size > keep || (this.#bytes > keepBytes && this.size > 0)) this.#drop();
  }

  get size(): number {
    return this.#calls.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Finds a call by its request id. */
  find(requestId: string): KeptCall | undefined {
    for (let index = this.#calls.length - 1; index >= this.#first; index--) {
      const call = this.#calls[index];
      if (call?.record.requestId === requestId) return call;
    }
    return undefined;
  }

  #push(call: KeptCall): void {
    this.#calls.push(call);
    this.#bytes += call.bytes;
  }

  #drop(): void {
    this.#bytes -= this.#calls[this.#first]?.bytes ?? 0;
    this.#calls[this.#first++] = undefined;
    // Half of the places are empty: move once, so that a drop costs little on average.
    if (this.#first * 2 < this.#calls.length) return;
    this.#calls = this.#calls.slice(this.#first);
    this.#first = 0;
  }
}

function kept(options: {
  readonly record: CallRecord;
  readonly flight: Flight;
  readonly answer: Answer;
  readonly largest: number;
}): KeptCall {
  const { record, flight, answer, largest } = options;
  const { call, startedAt, sentAt, answeredAt } = flight;
  const emitted = call.emitted ?? NOTHING;
  const keepsParams = call.text.length <= largest;
  // A buffer keeps the memory alive that it is a part of.
  const weight = typeof answer.raw === "string" ? answer.raw.length : answer.raw.buffer.byteLength;
  const keepsAnswer = weight <= largest;
  return {
    record,
    params: keepsParams ? call.text : undefined,
    paramsBytes: call.text.length,
    ok: answer.ok,
    answer: keepsAnswer ? answer.raw : undefined,
    answerBytes: answer.raw.length,
    beforeMs: sentAt === 0 ? null : sentAt - startedAt,
    serverMs: sentAt === 0 || answeredAt === 0 ? null : answeredAt - sentAt,
    emitted,
    masked: flight.masked,
    bytes: (keepsParams ? call.text.length : 0) + (keepsAnswer ? weight : 0) + sizeOf(call),
  };
}

function sizeOf({ emitted }: Call): number {
  return emitted === undefined ? 0 : emitted.reduce((sum, text) => sum + text.length, 0);
}
