/**
 * The open questions of one server on one connection, by the server's id, so that the server can
 * cancel them. They are limited per call and in total. Further questions are refused; earlier ones
 * are still answered.
 */
import type { Call } from "../../protocol/call.ts";
import { GoblinError } from "../../protocol/errors.ts";

const MAX_QUESTIONS_PER_CALL = 32;
const MAX_QUESTIONS = 256;

interface OpenQuestion {
  readonly call: Call | undefined;
  readonly abort: AbortController;
}

export class OpenQuestions {
  readonly #open = new Map<string | number, OpenQuestion>();

  /**
   * Throws if too many questions are open. `call`: the call that the question belongs to, if known.
   * The returned signal aborts when the server cancels the question.
   */
  add(id: string | number, call: Call | undefined): AbortSignal {
    if (this.#open.size >= MAX_QUESTIONS) throw tooMany("this server", MAX_QUESTIONS);
    if (call && this.#countOf(call) >= MAX_QUESTIONS_PER_CALL) throw tooMany("this call", MAX_QUESTIONS_PER_CALL);
    const abort = new AbortController();
    this.#open.set(id, { call, abort });
    return abort.signal;
  }

  /** Removes an answered question. Returns false if the server has cancelled it. */
  answered(id: string | number, signal: AbortSignal): boolean {
    return this.#open.get(id)?.abort.signal === signal && this.#open.delete(id);
  }

  /** `reason`: the server's reason, if it gave one. */
  takeBack(id: string | number, reason?: string): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.abort.abort(reason);
  }

  takeBackAll(reason: string): void {
    for (const id of [...this.#open.keys()]) this.takeBack(id, reason);
  }

  #countOf(call: Call): number {
    let count = 0;
    for (const other of this.#open.values()) if (other.call === call) count++;
    return count;
  }
}

function tooMany(whose: string, most: number): GoblinError {
  return new GoblinError("LIMIT_EXCEEDED", `LimitExceeded: ${most} questions of ${whose} wait for an answer already`);
}
