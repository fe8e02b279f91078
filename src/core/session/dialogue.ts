/**
 * One call of a client that answers questions only by repeating its request. The call runs
 * independently of the client's requests. Each round waits for the call's answer or for the
 * server's next questions.
 */
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";

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
  #call: Call | undefined;
  /** Receives the call's notifications in this round; discards them between rounds. */
  emit: (text: string) => void = nowhere;
  /** The open questions by key. Created on demand: most calls have none. */
  #open: Map<string, Open> | undefined;
  #count = 0;
  #answer: Answer | undefined;
  #wake: ((next: Answer | readonly Question[]) => void) | undefined;
  /** Hears of each change of the open questions, and of the answer. */
  #follower: ((next: Answer | readonly Question[]) => void) | undefined;

  /** The call that was started. */
  get call(): Call {
    if (!this.#call) throw new Error("the dialogue has no call yet");
    return this.#call;
  }

  /** Starts the call, once. */
  run(call: Call, start: () => Promise<Answer>): void {
    this.#call = call;
    start().then(
      (answer) => this.#ended(answer),
      (error: unknown) => this.#ended(failure(error)),
    );
  }

  /** Whether a round is in progress. */
  get isWaitedFor(): boolean {
    return this.#wake !== undefined;
  }

  /** Ends the round: notifications are discarded until the next one. */
  rest(): void {
    this.emit = nowhere;
  }

  /** Asks the client a question. `signal` aborts when the server withdraws it. */
  ask(method: string, params: string, signal?: AbortSignal): Promise<Answer> {
    if (this.#answer || this.#call?.cancelled) return Promise.resolve(over());
    return new Promise((resolve) => {
      const key = `q${++this.#count}`;
      this.#open ??= new Map();
      this.#open.set(key, { key, method, params, resolve });
      const takeBack = (): void => {
        if (!this.#open?.delete(key)) return;
        resolve(over());
        this.#tellChange();
      };
      signal?.addEventListener("abort", takeBack, { once: true });
      // Waits briefly, so that questions asked together reach the client together.
      setImmediate(() => this.#tellQuestions());
    });
  }

  /** Delivers the client's answers, as raw JSON by key. */
  give(responses: ReadonlyMap<string, string>): void {
    for (const [key, raw] of responses) {
      const question = this.#open?.get(key);
      this.#open?.delete(key);
      question?.resolve({ ok: true, raw });
    }
    this.#tellChange();
  }

  /** Has the listener told of all that comes, instead of in rounds. */
  follow(listener: (next: Answer | readonly Question[]) => void): void {
    this.#wake = undefined;
    this.#follower = listener;
    if (this.#answer) listener(this.#answer);
    else this.#tellQuestions();
  }

  /** Waits for the answer or for open questions. */
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
    if (open) for (const { resolve } of open.values()) resolve(over());
    this.#tell(answer);
  }

  #tellQuestions(): void {
    if (this.#open && this.#open.size > 0) this.#tell([...this.#open.values()]);
  }

  #tellChange(): void {
    if (!this.#answer) this.#follower?.([...(this.#open?.values() ?? [])]);
  }

  #tell(next: Answer | readonly Question[]): void {
    if (this.#follower) return this.#follower(next);
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(next);
  }
}

/** The questions by key, as clients read them. */
export function questionsText(questions: readonly Question[]): string {
  const requests = questions.map(
    ({ key, method, params }) => `${JSON.stringify(key)}:{"method":"${method}","params":${params}}`,
  );
  return `{${requests.join(",")}}`;
}

/** The answer to a question that can no longer be answered: the asker must always get one. */
function over(): Answer {
  return failure(new GoblinError("CANCELLED", "The call that the question belonged to is over"));
}
