/**
 * 2026-07-28 over one two-way channel, such as stdio. Ids tell requests apart,
 * `notifications/cancelled` cancels one, and a listen request is answered when it ends.
 */

import { randomUUID } from "node:crypto";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerText, failure, type Id, type Inbound, type Params } from "../../mcp/protocol/json-rpc.ts";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import type { BodyHold } from "../bodies/body-budget.ts";
import { cancelWords } from "../cancel-words.ts";
import type { EraChannel } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import { type ListenStream, openListen } from "./listen.ts";
import { envelopeProblem, ModernFront } from "./requests.ts";

type RequestMessage = Extract<Inbound, { kind: "request" }>;

export interface ModernChannelOptions {
  readonly principal: Principal;
  readonly account: string;
  /** Returns where its client is now; undefined: nowhere any more. */
  readonly place: () => Place | undefined;
  /** Writes one message. */
  readonly write: (text: string) => void;
}

export class ModernChannel implements EraChannel {
  readonly #context: FrontContext;
  readonly #front: ModernFront;
  readonly #principal: Principal;
  readonly #account: string;
  readonly #place: () => Place | undefined;
  readonly #write: (text: string) => void;
  /** The function that cancels each request in flight. */
  readonly #open = new Map<Id, (words?: string) => void>();
  readonly #listens = new Set<ListenStream>();
  /** One party, since only one client can write to this channel. */
  readonly #party = `channel:${randomUUID()}`;

  constructor(context: FrontContext, { principal, account, place, write }: ModernChannelOptions) {
    this.#context = context;
    this.#principal = principal;
    this.#place = place;
    this.#account = account;
    this.#front = new ModernFront(context);
    this.#write = write;
  }

  /** Handles requests and ignores other messages. A cancellation comes through `cancel`. */
  take(message: Inbound, large?: { readonly hold: BodyHold }): void {
    if (message.kind === "request") this.#request(message, large?.hold);
  }

  /** Cancels the request that a cancellation names. Returns false if it is unknown. */
  cancel({ requestId: id, reason }: Params): boolean {
    const abort = typeof id === "string" || typeof id === "number" ? this.#open.get(id) : undefined;
    abort?.(cancelWords(reason));
    return abort !== undefined;
  }

  close(): void {
    for (const listen of this.#listens) listen.end();
    for (const abort of this.#open.values()) abort();
    this.#front.close();
  }

  #request(message: RequestMessage, hold: BodyHold | undefined): void {
    const { id, method } = message;
    const problem = envelopeProblem(message.params);
    if (problem) return this.#answer(id, failure(problem));
    if (this.#open.has(id)) {
      const error = new GoblinError("INVALID_REQUEST", `Request id ${JSON.stringify(id)} is still in use`);
      return this.#answer(id, failure(error));
    }
    const place = this.#place();
    if (!place) return this.#answer(id, failure(new GoblinError("INVALID_REQUEST", "The profile does not exist")));
    if (method === "subscriptions/listen") return this.#listen(message, place);
    if (!this.#front.knows(method, { key: "", visibility: place.visibility })) {
      return this.#answer(
        id,
        failure(new GoblinError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`)),
      );
    }
    let given = false;
    let abort = (_words?: string): void => {};
    this.#open.set(id, (words) => {
      given = true;
      abort(words);
    });
    const onAbort = (listener: (words?: string) => void): void => {
      abort = listener;
    };
    const sender = { principal: this.#principal, place, account: this.#account, party: this.#party };
    const work = this.#front.answer(message, { ...sender, emit: this.#write, onAbort }).then((answer) => {
      this.#open.delete(id);
      if (!given) this.#answer(id, answer);
    });
    hold?.until(work);
  }

  #listen({ id, params }: RequestMessage, place: Place): void {
    const done = (): void => {
      this.#open.delete(id);
      this.#listens.delete(listen);
    };
    const listen = openListen(this.#context, {
      id,
      params,
      principal: this.#principal,
      place,
      account: this.#account,
      write: this.#write,
      ended: done,
    });
    this.#listens.add(listen);
    this.#open.set(id, () => {
      listen.close();
      done();
    });
  }

  #answer(id: Id, answer: Answer): void {
    this.#write(answerText(id, answer));
  }
}
