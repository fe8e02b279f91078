/**
 * One call of a client that answers questions only by repeating its request: the call runs on its own, and each round of the
 * client's waits for either its answer or the next questions of its server.
 */
import type { Call } from "../model/call.ts";
import { type Answer, failure } from "../model/json-rpc.ts";

export interface Question {
  readonly key: string;
  readonly method: string;
  /** Raw JSON. */
  readonly params: string;
}

interface Open extends Question {
  readonly resolve: (answer: Answer) => void;
}

export class Dialogue {
  readonly call: Call;
  /** Where notifications of the call go in this round; nowhere between rounds. */
  emit: (text: string) => void = () => {};
  #open = new Map<string, Open>();
  #count = 0;
  #answer: Answer | undefined;
  #wake: (() => void) | undefined;

  constructor(call: Call) {
    this.call = call;
  }

  /** Begins the call. */
  run(start: (call: Call) => Promise<Answer>): void {
    start(this.call)
      .catch((error: unknown) => failure(error))
      .then((answer) => {
        this.#answer = answer;
        this.#open.clear();
        this.#wake?.();
      });
  }

  /** A round is under way. */
  get isWaitedFor(): boolean {
    return this.#wake !== undefined;
  }

  ask(method: string, params: string): Promise<Answer> {
    return new Promise((resolve) => {
      const key = `q${++this.#count}`;
      this.#open.set(key, { key, method, params, resolve });
      // Questions that are asked together are put together.
      setImmediate(() => this.#wake?.());
    });
  }

  /** Hands over the client's answers, in raw JSON by key. */
  give(responses: ReadonlyMap<string, string>): void {
    for (const [key, raw] of responses) {
      const question = this.#open.get(key);
      this.#open.delete(key);
      question?.resolve({ ok: true, raw });
    }
  }

  /** The answer, or all questions that are open. */
  async next(): Promise<Answer | readonly Question[]> {
    while (this.#answer === undefined && this.#open.size === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return this.#answer ?? [...this.#open.values()];
  }
}
