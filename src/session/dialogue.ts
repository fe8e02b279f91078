/**
 * One call of a client that answers questions only by repeating its request: the call runs on its
 * own, and each round of the client's waits for either its answer or the next questions of its
 * server.
 */
import type { Call } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";

export interface Question {
  readonly key: string;
  readonly method: string;
  /** Raw JSON. */
  readonly params: string;
}

interface Open extends Question {
  readonly resolve: (answer: Answer) => void;
}

const nowhere = (): void => {};

export class Dialogue {
  readonly call: Call;
  /** Where notifications of the call go in this round; nowhere between rounds. */
  emit: (text: string) => void = nowhere;
  /** By key; most calls are never asked anything. */
  #open: Map<string, Open> | undefined;
  #count = 0;
  #answer: Answer | undefined;
  #wake: ((next: Answer | readonly Question[]) => void) | undefined;

  constructor(call: Call) {
    this.call = call;
  }

  /** Begins the call. */
  run(start: (call: Call) => Promise<Answer>): void {
    start(this.call).then(
      (answer) => this.#ended(answer),
      (error: unknown) => this.#ended(failure(error)),
    );
  }

  /** A round is under way. */
  get isWaitedFor(): boolean {
    return this.#wake !== undefined;
  }

  /** No round is under way any more. */
  rest(): void {
    this.emit = nowhere;
  }

  /** `signal` aborts when the server takes the question back. */
  ask(method: string, params: string, signal?: AbortSignal): Promise<Answer> {
    if (this.#answer || this.call.cancelled) return Promise.resolve(over());
    return new Promise((resolve) => {
      const key = `q${++this.#count}`;
      this.#open ??= new Map();
      this.#open.set(key, { key, method, params, resolve });
      signal?.addEventListener("abort", () => this.#open?.delete(key) && resolve(over()), { once: true });
      // Questions that are asked together are put together.
      setImmediate(() => this.#tellQuestions());
    });
  }

  /** Hands over the client's answers, in raw JSON by key. */
  give(responses: ReadonlyMap<string, string>): void {
    for (const [key, raw] of responses) {
      const question = this.#open?.get(key);
      this.#open?.delete(key);
      question?.resolve({ ok: true, raw });
    }
  }

  /** The answer, or all questions that are open. */
  next(): Promise<Answer | readonly Question[]> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#answer) this.#tell(this.#answer);
      else this.#tellQuestions();
    });
  }

  #ended(answer: Answer): void {
    const open = this.#open;
    this.#answer = answer;
    this.#open = undefined;
    this.#tell(answer);
    if (open) for (const { resolve } of open.values()) resolve(over());
  }

  #tellQuestions(): void {
    if (this.#open && this.#open.size > 0) this.#tell([...this.#open.values()]);
  }

  #tell(next: Answer | readonly Question[]): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(next);
  }
}

/** Whoever asked hears something, whatever became of the call. */
function over(): Answer {
  return failure(new GoblinError("CANCELLED", "The call that the question belonged to is over"));
}
