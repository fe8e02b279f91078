/**
 * What a pipe must know about its client to take it to another gateway: how it introduced itself,
 * what it wants to be told of, and what waits for an answer on either side. Pure.
 *
 * Invariant: only requests that change nothing, or that say what the client wants, are repeated.
 */

import { recordOf } from "../../../lib/structures/record.ts";
import { SUBSCRIPTION_ID } from "../../../mcp/protocol/envelope.ts";
import { type Id, notificationText } from "../../../mcp/protocol/json-rpc.ts";
import { allChangeKinds, changeFilters, changeNotifications } from "../../../mcp/protocol/methods.ts";
import { messagesIn, type PassingMessage } from "./messages.ts";

/** A line of the client. */
export interface ClientLine {
  readonly bytes: Buffer;
  readonly ids: readonly Id[];
  isSent: boolean;
}

export interface Requested {
  readonly id: Id;
  readonly line: ClientLine;
  readonly method: string;
  readonly uri: unknown;
  readonly since: number;
  isAcknowledged: boolean;
}

export interface Losses {
  /** Lines to send again. */
  readonly again: readonly ClientLine[];
  /** Requests that may have been carried out. */
  readonly unanswered: readonly Requested[];
  /** Questions that nobody waits for any more. */
  readonly questions: readonly Id[];
}

/** What the client is to get for a line of the gateway. */
export type Heard = "line" | "nothing" | "greeted" | { readonly texts: readonly string[] };

const LISTEN = "subscriptions/listen";
const REPEATABLE =
  /^(initialize|ping|server\/discover|subscriptions\/listen|logging\/setLevel|resources\/(un)?subscribe|[\w/]+\/list)$/;

export class ClientState {
  readonly #requests = new Map<Id, Requested>();
  readonly #questions = new Set<Id>();
  readonly #stale = new Set<Id>();
  readonly #subscriptions = new Map<unknown, ClientLine>();
  /** Requests that the pipe repeated: their answers are not for the client. */
  readonly #repeated = new Set<Id>();
  #opening: { readonly line: ClientLine; readonly result: PassingMessage["value"] } | undefined;
  #initialized: ClientLine | undefined;
  #level: ClientLine | undefined;

  get hasRequests(): boolean {
    return this.#requests.size > 0;
  }

  requests(): readonly Requested[] {
    return [...this.#requests.values()];
  }

  /** The client says something. Returns false if nobody waits for it any more. */
  say(message: PassingMessage, line: ClientLine, now: number): boolean {
    const { kind, id, method, params } = message;
    if (kind === "request") {
      this.#requests.set(id!, { id: id!, line, method, uri: params["uri"], since: now, isAcknowledged: false });
    } else if (method === "notifications/initialized") this.#initialized = line;
    else if (method === "notifications/cancelled") this.#requests.delete(params["requestId"] as Id);
    else if (kind === "result" || kind === "error") {
      this.#questions.delete(id!);
      return !this.#stale.delete(id!);
    }
    return true;
  }

  /** The gateway says something. `isLeaving`: it ends what the next gateway continues. */
  hear(message: PassingMessage, bytes: Buffer, isLeaving: boolean): Heard {
    const { kind, id, method } = message;
    if (kind === "request") this.#questions.add(id!);
    else if (method === "notifications/cancelled") {
      this.#questions.delete(messagesIn(bytes)[0]!.params["requestId"] as Id);
    } else if (method === "notifications/subscriptions/acknowledged") return this.#acknowledged(bytes);
    else if (kind === "result" || kind === "error") return this.#answered(message, bytes, isLeaving);
    return "line";
  }

  /** Forgets a request. Returns it if nobody has answered it. */
  take(id: Id): Requested | undefined {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    return request;
  }

  get(id: Id): Requested | undefined {
    return this.#requests.get(id);
  }

  /** The gateway has gone. */
  lose(): Losses {
    const sent = this.requests().filter(({ line }) => line.isSent);
    const isAgain = ({ method, line }: Requested): boolean => line.ids.length === 1 && REPEATABLE.test(method);
    const again = sent.filter(isAgain).map(({ line }) => line);
    for (const line of again) line.isSent = false;
    const unanswered = sent.filter((request) => !isAgain(request));
    for (const { id } of unanswered) this.#requests.delete(id);
    const questions = [...this.#questions];
    for (const id of questions) this.#stale.add(id);
    this.#questions.clear();
    this.#repeated.clear();
    return { again, unanswered, questions };
  }

  /** The line that introduces the client to the next gateway; undefined if it has not done so. */
  greeting(): Buffer | undefined {
    return this.#opening && this.#repeat(this.#opening.line);
  }

  /** What follows when the gateway has answered that. */
  wishes(): Buffer[] {
    const lines = [this.#initialized, this.#level, ...this.#subscriptions.values()];
    return lines.flatMap((line) => (line ? [this.#repeat(line)] : []));
  }

  /** Tells the client that lists may have changed. */
  changes(): string[] {
    const capabilities = recordOf(this.#opening?.result["capabilities"]);
    const kinds = allChangeKinds.filter((kind) => recordOf(capabilities[kind])["listChanged"] === true);
    return this.#initialized ? kinds.map((kind) => notificationText(changeNotifications[kind])) : [];
  }

  /** Returns why the next gateway cannot take the client; undefined if it can. */
  problem({ kind, value }: PassingMessage): string | undefined {
    if (kind === "error") return String(value["message"]);
    const [before, now] = [this.#opening?.result["protocolVersion"], value["protocolVersion"]];
    return before === now ? undefined : `it speaks version ${String(now)} of the protocol, not ${String(before)}`;
  }

  #repeat(line: ClientLine): Buffer {
    for (const id of line.ids) this.#repeated.add(id);
    return line.bytes;
  }

  #answered({ kind, id }: PassingMessage, bytes: Buffer, isLeaving: boolean): Heard {
    if (this.#repeated.delete(id!)) return this.#opening?.line.ids[0] === id ? "greeted" : "nothing";
    const request = this.#requests.get(id!);
    if (!request) return "line";
    // The gateway ends what the client listens to; the next one goes on with it.
    if (isLeaving && request.method === LISTEN) return "nothing";
    this.#requests.delete(id!);
    if (kind === "error") return "line";
    const { method, line, uri } = request;
    if (method === "initialize") this.#opening = { line, result: messagesIn(bytes)[0]!.value };
    else if (method === "logging/setLevel") this.#level = line;
    else if (method === "resources/subscribe") this.#subscriptions.set(uri, line);
    else if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    return "line";
  }

  /** A client that listens again is told of changes in place of the second acknowledgement. */
  #acknowledged(bytes: Buffer): Heard {
    const { params } = messagesIn(bytes)[0]!;
    const subscription = recordOf(params["_meta"])[SUBSCRIPTION_ID] as Id;
    const request = this.#requests.get(subscription);
    if (!request?.isAcknowledged) {
      if (request) request.isAcknowledged = true;
      return "line";
    }
    const granted = recordOf(params["notifications"]);
    const kinds = allChangeKinds.filter((kind) => granted[changeFilters[kind]] === true);
    const meta = JSON.stringify({ _meta: { [SUBSCRIPTION_ID]: subscription } });
    return { texts: kinds.map((kind) => notificationText(changeNotifications[kind], meta)) };
  }
}
