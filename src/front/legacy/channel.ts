/**
 * A session over one two-way channel, such as HTTP+SSE or stdio: all messages share one stream. The
 * session begins with `initialize` and ends with the channel.
 */

import type { EarlyCancels, Session } from "../../core/session/session.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerText, failure, type Id, type Inbound } from "../../mcp/protocol/json-rpc.ts";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import type { BodyHold } from "../bodies/body-budget.ts";
import type { Batch, EraChannel } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import { batchProblem } from "./batch.ts";
import { answerRequest, openSession, takeMessage } from "./requests.ts";

export interface ChannelOptions {
  readonly context: FrontContext;
  readonly principal: Principal;
  readonly place: Place;
  readonly account: string;
  readonly id?: string;
  /** Gives up what was reserved for its session. */
  readonly slot?: () => void;
  readonly write: (text: string) => void;
}

export interface LargeMessage {
  /** Keeps it counted until the calls in it are over. */
  readonly hold: BodyHold;
  /** What was cancelled while it was read. */
  readonly early: EarlyCancels | undefined;
}

export class LegacyChannel implements EraChannel {
  readonly #options: ChannelOptions;
  #session: Session | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Whether the session has begun. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** A large message is being read. Its request can be cancelled before it is known. */
  arrives(onDone: (arrived: () => void) => void): EarlyCancels | undefined {
    const session = this.#session;
    if (!session) return undefined;
    const early = session.arrives();
    onDone(() => session.arrived(early));
    return early;
  }

  /** Handles a batch, if the session's version allows one. */
  takeBatch(batch: Batch, large?: LargeMessage): void {
    const problem = batchProblem(this.#options.context, this.#session, batch);
    if (problem) return this.unreadable(problem);
    for (const message of batch.messages()) this.take(message, large);
  }

  /**
   * Answers with an error without an id: the message could not be read, so its request is unknown.
   */
  unreadable(error: GoblinError): void {
    this.#answer(null, failure(error));
  }

  /** Who sends the messages from now on: the same principal, perhaps with a newer token. */
  identify(principal: Principal, place: Place): void {
    this.#session?.identify(principal, place);
  }

  close(): void {
    this.#options.slot?.();
    this.#session?.close();
  }

  take(message: Inbound, large?: LargeMessage): void {
    if (message.kind === "invalid") {
      return this.#answer(
        message.id,
        failure(new GoblinError("INVALID_REQUEST", `Invalid request: ${message.reason}`)),
      );
    }
    if (message.kind === "request" && message.method === "initialize" && !this.#session) return this.#open(message);
    const session = this.#session;
    if (!session) {
      if (message.kind !== "request") return;
      const ping = message.method === "ping";
      const error = new GoblinError("INVALID_REQUEST", "The session is not initialized: send initialize first");
      return this.#answer(message.id, ping ? { ok: true, raw: "{}" } : failure(error));
    }
    session.touch();
    const { context, write } = this.#options;
    if (message.kind !== "request") return takeMessage(context, session, message);
    const options = { message, to: { emit: write }, early: large?.early };
    const work = answerRequest(context, session, options).then((answer) => {
      if (answer) this.#answer(message.id, answer);
    });
    large?.hold.until(work);
  }

  #open(message: Extract<Inbound, { kind: "request" }>): void {
    const { context, principal, place, account, id, write, slot } = this.#options;
    try {
      const send = (text: string, _call: Call | undefined): void => write(text);
      const options = { principal, place, account, send, isActive: () => true, slot, ...(id && { id }) };
      const opened = openSession(context, message.params, options);
      this.#session = opened.session;
      if (!(opened.answer instanceof Promise)) return this.#answer(message.id, opened.answer);
      void opened.answer.then((answer) => this.#answer(message.id, answer));
    } catch (error) {
      this.#answer(message.id, failure(error));
    }
  }

  #answer(id: Id | null, answer: Answer): void {
    this.#options.write(answerText(id, answer));
  }
}
