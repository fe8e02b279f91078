/**
 * One client's session: its identity, its negotiated state, its calls in flight, and the way to
 * reach the client outside of an answer.
 *
 * A session belongs only to the principal that opened it. It owns its calls, its open questions and
 * the callbacks registered with `onEnd`. It ends once, and that ends all of them.
 */

import { SmallMap } from "../../lib/structures/small-map.ts";
import type { About, Call, Client } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, failure, type Id, notificationText, requestText } from "../../mcp/protocol/json-rpc.ts";
import type { LogLevel } from "../../mcp/protocol/log-levels.ts";
import { canBeAsked, cannotBeAsked, isQuestion } from "../../mcp/protocol/methods.ts";
import { ownerAt, type Place, type Principal, type Visibility, visibilityAt } from "../../mcp/protocol/principal.ts";
import { relatedTo } from "./held/task-text.ts";

/** The most cancellations that are kept for one message, and their longest id. */
const MAX_EARLY_CANCELLATIONS = 100;
const MAX_ID_LENGTH = 1000;

/**
 * Cancellations that came while a large message was read, with the client's reasons. One of them
 * may mean a request in that message.
 */
export type EarlyCancels = Map<Id, string | undefined>;
/** Answers to questions of an earlier process must not pass for answers to this one's. */
const PROCESS = Date.now().toString(36);

type Identity = "account" | "protocolVersion" | "capabilities" | "info";

export interface SessionOptions extends Pick<Client, Identity> {
  readonly id: string;
  readonly principal: Principal;
  readonly place: Place;
  /**
   * Sends a message to the client: on the call's own stream if it has one, otherwise on the
   * standing stream.
   */
  readonly send: (text: string, call: Call | undefined) => void;
  /** The start time, if an earlier process opened the session. */
  readonly since?: number;
}

export class Session implements Client {
  readonly key: string;
  readonly hasSession = true;
  readonly scope: string;
  readonly party: string;
  readonly account: string;
  readonly meter: string;
  readonly principal: string;
  /** The principal as its latest request showed it: groups and scopes may change with a token. */
  who: Principal;
  /** The endpoint that it was opened at. At any other, its id is unknown. */
  readonly endpoint: string;
  /** It changes with the principal's groups and scopes, and with the config. */
  visibility: Visibility | undefined;
  readonly taskOwner: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  readonly since: number;
  logLevel: LogLevel | "off" | undefined;
  lastUsed = Date.now();
  /** Whether the handshake is complete. The client must not be notified before that. */
  initialized = false;
  /** The answer to its handshake, while that waits for servers that are starting. */
  greeting: Promise<unknown> | undefined;
  readonly #send: (text: string, call: Call | undefined) => void;
  readonly #calls = new SmallMap<Id, Call>();
  /** One for each large message that is being read. Made on first use: most sessions need none. */
  #arriving: Set<EarlyCancels> | undefined;
  #questions: Map<Id, (answer: Answer) => void> | undefined;
  #endings: readonly (() => void)[] = [];
  #questionCount = 0;
  #isRetired = false;
  #ended = false;
  #hasLeft = false;

  constructor(options: SessionOptions) {
    this.key = options.id;
    this.scope = options.id;
    this.party = options.id;
    this.account = options.account;
    this.meter = options.id;
    this.who = options.principal;
    this.principal = options.principal.id;
    this.endpoint = options.place.endpoint;
    this.visibility = visibilityAt(options.place, options.info);
    this.taskOwner = ownerAt(options.principal, options.place.endpoint) || options.id;
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

  /** Whether its client ended it, and reads no more answers. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Whether it goes on in another process. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Who sends its messages from now on: the same principal, perhaps with another token. */
  identify(principal: Principal, place: Place): void {
    this.who = principal;
    this.visibility = visibilityAt(place, this.info);
  }

  touch(): void {
    this.lastUsed = Date.now();
  }

  /** A large message of this session is being read, until `arrived`. */
  arrives(): EarlyCancels {
    const early: EarlyCancels = new Map();
    this.#arriving ??= new Set();
    this.#arriving.add(early);
    return early;
  }

  arrived(early: EarlyCancels): void {
    this.#arriving?.delete(early);
  }

  /**
   * Registers a request under the client's id. Throws if the id is still in use. `early`: what was
   * cancelled while its message was read.
   */
  begin(id: Id, call: Call, early?: EarlyCancels): void {
    if (this.#calls.has(id)) {
      throw new GoblinError(
        "INVALID_REQUEST",
        `Request id ${JSON.stringify(id)} is still in use by an earlier request`,
      );
    }
    this.#calls.set(id, call);
    if (early?.has(id)) call.cancel("client", early.get(id));
  }

  end(id: Id): void {
    this.#calls.delete(id);
    this.lastUsed = Date.now();
  }

  /** `words`: the client's own reason. */
  cancel(id: Id, words?: string): void {
    const call = this.#calls.get(id);
    if (call) return call.cancel("client", words);
    if (typeof id === "string" && id.length > MAX_ID_LENGTH) return;
    for (const early of this.#arriving ?? []) if (early.size < MAX_EARLY_CANCELLATIONS) early.set(id, words);
  }

  notify(text: string, call?: Call): void {
    if (!this.#ended && (call || !this.#isRetired)) this.#send(text, call);
  }

  ask(method: string, params: string, { call, others, signal }: About): Promise<Answer> {
    if (isQuestion(method) && !canBeAsked(this.capabilities, method))
      return Promise.resolve(failure(cannotBeAsked(method)));
    if (this.#ended || this.#isRetired)
      return Promise.resolve(failure(new GoblinError("CANCELLED", "The client has gone")));
    if (call?.cancelled) return Promise.resolve(failure(callIsOver()));
    return new Promise((resolve) => {
      const id = `goblin-${PROCESS}-${++this.#questionCount}`;
      const { task } = call ?? {};
      const answered = task?.asks();
      this.#questions ??= new Map();
      this.#questions.set(id, (answer) => {
        answered?.();
        resolve(answer);
      });
      this.#send(requestText(id, method, task ? relatedTo(task.id, params) : params), call);
      const cancelled = (): void => {
        if (call?.cancelled && !others?.some((other) => !other.cancelled))
          this.#takeBack(id, callIsOver().message, call);
      };
      call?.onCancel(cancelled);
      if (others) for (const other of others) other.onCancel(cancelled);
      signal?.addEventListener("abort", () => this.#takeBack(id, wordsOf(signal), call), { once: true });
    });
  }

  /** Delivers the client's answer to the asker. Returns false if the question is unknown. */
  answered(id: Id, answer: Answer): boolean {
    const resolve = this.#questions?.get(id);
    if (!resolve) return false;
    this.#questions?.delete(id);
    resolve(answer);
    return true;
  }

  onEnd(ending: () => void): void {
    if (this.#ended) ending();
    // An array that grows has room for 16 more, in every session.
    else this.#endings = [...this.#endings, ending];
  }

  /**
   * The session goes on in another process, which gets the client's messages from now on. Calls
   * under way are still answered from here; questions cannot be.
   */
  retire(): void {
    this.#isRetired = true;
    this.#abandonQuestions();
  }

  /** Ends it for its client, which reads no more answers. */
  leave(): void {
    this.#hasLeft = true;
    this.close();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const call of this.#calls.values()) call.cancel("client");
    this.#abandonQuestions();
    const endings = this.#endings;
    this.#endings = [];
    for (const ending of endings) ending();
  }

  #abandonQuestions(): void {
    for (const id of [...(this.#questions?.keys() ?? [])]) this.#abandonQuestion(id);
  }

  #abandonQuestion(id: Id): void {
    this.answered(id, failure(callIsOver()));
  }

  /** Withdraws a question. The client is told, so that it stops asking its user. */
  #takeBack(id: Id, reason: string, call: Call | undefined): void {
    if (!this.#questions?.has(id)) return;
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
