/**
 * 2026-07-28 over one two-way channel, as stdio is: requests are told apart by their ids,
 * `notifications/cancelled` gives one up, and a listen request is answered when it ends.
 */
import { metaOf, PROTOCOL_VERSION } from "../../protocol/envelope.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { type Answer, answerText, classify, failure, type Id, type Inbound } from "../../protocol/json-rpc.ts";
import type { Core } from "../core.ts";
import { type Listen, openListen } from "./listen.ts";
import { envelopeProblem, ModernFront } from "./requests.ts";

type RequestMessage = Extract<Inbound, { kind: "request" }>;

export class ModernChannel {
  readonly #core: Core;
  readonly #front: ModernFront;
  readonly #write: (text: string) => void;
  /** What to do when the client gives a request up. */
  readonly #open = new Map<Id, () => void>();
  readonly #listens = new Set<Listen>();

  constructor(core: Core, write: (text: string) => void) {
    this.#core = core;
    this.#front = new ModernFront(core);
    this.#write = write;
  }

  /** Takes a message of this version; false: it is of another. */
  receive(value: unknown, text: string): boolean {
    const message = classify(value, text);
    if (message.kind === "notification" && message.method === "notifications/cancelled") {
      return this.#cancelled(message.params["requestId"]);
    }
    if (message.kind !== "request" || !(PROTOCOL_VERSION in (metaOf(message.params) ?? {}))) return false;
    this.#request(message);
    return true;
  }

  close(): void {
    for (const listen of this.#listens) listen.end();
    for (const giveUp of this.#open.values()) giveUp();
    this.#front.close();
  }

  #request(message: RequestMessage): void {
    const { id, method } = message;
    const problem = envelopeProblem(message.params);
    if (problem) return this.#answer(id, failure(problem));
    if (this.#open.has(id)) {
      const error = new GoblinError("INVALID_REQUEST", `Request id ${JSON.stringify(id)} is still in use`);
      return this.#answer(id, failure(error));
    }
    if (method === "subscriptions/listen") return this.#listen(message);
    if (!this.#front.knows(method)) {
      return this.#answer(
        id,
        failure(new GoblinError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`)),
      );
    }
    let given = false;
    let giveUp = (): void => {};
    this.#open.set(id, () => {
      given = true;
      giveUp();
    });
    const onAbort = (listener: () => void): void => {
      giveUp = listener;
    };
    void this.#front.answer(message, { principal: "", emit: this.#write, onAbort }).then((answer) => {
      this.#open.delete(id);
      if (!given) this.#answer(id, answer);
    });
  }

  #listen({ id, params }: RequestMessage): void {
    const done = (): void => {
      this.#open.delete(id);
      this.#listens.delete(listen);
    };
    const listen = openListen(this.#core, { id, params, principal: "", write: this.#write, ended: done });
    this.#listens.add(listen);
    this.#open.set(id, () => {
      listen.close();
      done();
    });
  }

  #cancelled(id: unknown): boolean {
    const giveUp = typeof id === "string" || typeof id === "number" ? this.#open.get(id) : undefined;
    giveUp?.();
    return giveUp !== undefined;
  }

  #answer(id: Id, answer: Answer): void {
    this.#write(answerText(id, answer));
  }
}
