/**
 * Answers the requests of a server: `ping` at once, questions by the client of the call that they
 * belong to.
 *
 * While a question is open, the deadlines of the calls that it may belong to stand still. A
 * question that the server cancels, or whose connection ends, is not answered.
 */
import { toDisplayText } from "../../../lib/json/json-text.ts";
import { answerText, failure, type Params, paramsText } from "../../protocol/json-rpc.ts";
import type { PeerEvents } from "../peer.ts";
import type { Pending } from "../pending.ts";
import type { Arrival, RequestFrame } from "../receiver.ts";
import { OpenQuestions } from "./open-questions.ts";

export interface ServerRequestsOptions {
  readonly pending: Pending;
  readonly ask: PeerEvents["ask"];
  readonly send: (text: string) => void;
}

export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  /** Kept so that the server can cancel them. */
  readonly #open = new OpenQuestions();

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
  }

  async answer({ id, method, text }: RequestFrame, { stream, call }: Arrival): Promise<void> {
    const { pending, ask, send } = this.#options;
    if (method === "ping") return send(answerText(id, { ok: true, raw: "{}" }));
    const origin = stream === undefined ? pending.asker() : (call ?? "none");
    let signal: AbortSignal;
    try {
      signal = this.#open.add(id, typeof origin === "object" ? origin : undefined);
    } catch (error) {
      return send(answerText(id, failure(error)));
    }
    const flights = pending.waitingFor(origin, stream);
    const isOwn = flights.length === 1 && (stream !== undefined || !pending.hasAbandoned);
    for (const { deadline } of flights) deadline?.asks();
    const others = flights.length > 1 ? flights.map(({ call }) => call).filter((call) => call !== origin) : undefined;
    const answer = await ask(method, paramsText(text), { origin, others, signal }).catch(failure);
    for (const { deadline } of flights) deadline?.answered(isOwn);
    if (this.#open.answered(id, signal)) send(answerText(id, answer));
  }

  /** The server cancels one of its questions. `params`: those of its notification. */
  cancelled({ requestId, reason }: Params): void {
    if (typeof requestId !== "string" && typeof requestId !== "number") return;
    this.#open.takeBack(requestId, reason === undefined ? undefined : toDisplayText(reason));
  }

  /** Cancels the open questions: their answers can no longer be delivered. */
  dropAll(): void {
    this.#open.takeBackAll("The server has gone");
  }
}
