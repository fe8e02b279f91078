/**
 * One client's session: who it is, what it negotiated, what it has under way, and how to reach it
 * outside of an answer.
 *
 * A session belongs to the principal that opened it and to nobody else. It owns its calls, its open
 * questions and whatever was registered with `onEnd`; ending it, which happens once, ends them all.
 */
import type { About, Call, Client, LogLevel } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure, type Id, notificationText, requestText } from "../protocol/json-rpc.ts";
import { lookUp, questionCapabilities } from "../protocol/methods.ts";
import { SmallMap } from "../structures/small-map.ts";

export interface SessionOptions {
  readonly id: string;
  readonly principal: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  /**
   * Sends a message to the client: on the call's own stream where there is one, else on the
   * standing one.
   */
  readonly send: (text: string, call: Call | undefined) => void;
  /** When it began, if that was before now. */
  readonly since?: number;
}

export class Session implements Client {
  readonly key: string;
  readonly scope: string;
  readonly party: string;
  readonly account: string;
  readonly principal: string;
  readonly taskOwner: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  readonly since: number;
  logLevel: LogLevel | "off" | undefined;
  lastUsed = Date.now();
  /** The handshake is complete; only then may the client be notified. */
  initialized = false;
  readonly #send: (text: string, call: Call | undefined) => void;
  readonly #calls = new SmallMap<Id, Call>();
  readonly #questions = new Map<Id, (answer: Answer) => void>();
  readonly #endings: (() => void)[] = [];
  #questionCount = 0;
  #ended = false;

  constructor(options: SessionOptions) {
    this.key = options.id;
    this.scope = options.id;
    this.party = options.id;
    this.account = options.id;
    this.principal = options.principal;
    this.taskOwner = options.principal || options.id;
    this.protocolVersion = options.protocolVersion;
    this.capabilities = options.capabilities;
    this.info = options.info;
    this.since = options.since ?? Date.now();
    this.#send = options.send;
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  get ended(): boolean {
    return this.#ended;
  }

  touch(): void {
    this.lastUsed = Date.now();
  }

  /**
   * Registers a request under the id that the client gave it. An id that is still in use is
   * refused.
   */
  begin(id: Id, call: Call): void {
    if (this.#calls.has(id)) {
      throw new GoblinError(
        "INVALID_REQUEST",
        `Request id ${JSON.stringify(id)} is still in use by an earlier request`,
      );
    }
    this.#calls.set(id, call);
  }

  end(id: Id): void {
    this.#calls.delete(id);
    this.lastUsed = Date.now();
  }

  /** `words`: why, as the client puts it. */
  cancel(id: Id, words?: string): void {
    this.#calls.get(id)?.cancel("client", words);
  }

  notify(text: string, call?: Call): void {
    if (!this.#ended) this.#send(text, call);
  }

  ask(method: string, params: string, { call, signal }: About): Promise<Answer> {
    const capability = lookUp(questionCapabilities, method);
    if (capability === undefined || !(capability in this.capabilities)) {
      return Promise.resolve(
        failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `The client does not support ${method}`)),
      );
    }
    if (this.#ended) return Promise.resolve(failure(new GoblinError("CANCELLED", "The client has gone")));
    if (call?.cancelled) return Promise.resolve(failure(callIsOver()));
    return new Promise((resolve) => {
      const id = `goblin-${++this.#questionCount}`;
      this.#questions.set(id, resolve);
      this.#send(requestText(id, method, params), call);
      call?.onCancel(() => this.#takeBack(id, callIsOver().message, call));
      signal?.addEventListener("abort", () => this.#takeBack(id, wordsOf(signal), call), { once: true });
    });
  }

  /** Hands the client's answer to whoever asked. False: nobody did. */
  answered(id: Id, answer: Answer): boolean {
    const resolve = this.#questions.get(id);
    if (!resolve) return false;
    this.#questions.delete(id);
    resolve(answer);
    return true;
  }

  onEnd(ending: () => void): void {
    if (this.#ended) ending();
    else this.#endings.push(ending);
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const call of this.#calls.values()) call.cancel("client");
    for (const id of [...this.#questions.keys()]) this.#abandonQuestion(id);
    for (const ending of this.#endings.splice(0)) ending();
  }

  #abandonQuestion(id: Id): void {
    this.answered(id, failure(callIsOver()));
  }

  /**
   * The client is told that nobody waits for its answer any more, so that it does not ask its user
   * on.
   */
  #takeBack(id: Id, reason: string, call: Call | undefined): void {
    if (!this.#questions.has(id)) return;
    this.#abandonQuestion(id);
    this.notify(notificationText("notifications/cancelled", JSON.stringify({ requestId: id, reason })), call);
  }
}

function callIsOver(): GoblinError {
  return new GoblinError("CANCELLED", "The call that the question belonged to is over");
}

function wordsOf({ reason }: AbortSignal): string {
  return typeof reason === "string" ? reason : "The server took the question back";
}
