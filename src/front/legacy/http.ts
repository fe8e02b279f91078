/**
 * Streamable HTTP with sessions (2025-03-26 to 2025-11-25) on `/mcp`: POST for messages, GET for
 * the standing stream, DELETE to end the session.
 *
 * A POST is answered with JSON if the answer is its only message. The first notification or
 * question of the request turns the reply into an event stream, if the client accepts one. Streams
 * carry event ids, so a client can resume a broken one. A broken connection does not cancel a
 * request; only `notifications/cancelled` does.
 */

import type { IncomingMessage } from "node:http";
import type { EarlyCancels, Session } from "../../core/session/session.ts";
import { Outbox } from "../../mcp/outbound/outbox.ts";
import { UnreadBudget } from "../../mcp/outbound/unread-budget.ts";
import { legacyVersions } from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, failure, type Id, type Inbound } from "../../mcp/protocol/json-rpc.ts";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import type { Batch } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import type { HttpExchange } from "../http/exchange.ts";
import { accepts, replyAnswer, replyError } from "../http/reply.ts";
import { traceOf } from "../http/trace.ts";
import { answerBatch, batchProblem } from "./batch.ts";
import { KeptStreams } from "./kept-streams.ts";
import { MovedSessions } from "./moved-sessions.ts";
import { attach, PostReply, SESSION_HEADER, type Streams } from "./reply.ts";
import { answerRequest, type OpenOptions, openSession, resumeSession, takeMessage } from "./requests.ts";

const VERSION_HEADER = "mcp-protocol-version";
const LEAVE_MS = 20;

export class LegacyHttp {
  readonly #context: FrontContext;
  readonly #sessions = new Map<string, Session>();
  readonly #streams = new WeakMap<Session, Streams>();
  readonly #kept = new KeptStreams();
  /** Of messages that are being read, or were. */
  readonly #early = new WeakMap<HttpExchange, EarlyCancels>();
  #leaving: NodeJS.Timeout | undefined;
  /** How many requests of a session are read or answered, by the session's id. */
  readonly #underWay = new Map<string, number>();
  #left: (() => void) | undefined;
  readonly #moved = new MovedSessions((id, { inFlight }) => inFlight === 0 && !this.#underWay.has(id));
  /** What names a session, and whether this process has it. */
  readonly named = {
    idOf: (exchange: HttpExchange): string | undefined => exchange.header(SESSION_HEADER),
    isOpen: (id: string): boolean => this.#sessions.has(id),
  };

  constructor(context: FrontContext) {
    this.#context = context;
  }

  /** The ids of the sessions that this process has. */
  ids(): Iterable<string> {
    return this.#sessions.keys();
  }

  /** Ends a session here that goes on at another replica. What is under way is still answered. */
  surrender(id: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    this.#context.continuity.surrender(session.key);
    this.#streamsOf(session).standing.end();
    this.#moved.add(id, session);
  }

  /** Counts a request of a session as under way until it is answered. */
  hold(exchange: HttpExchange): void {
    const id = exchange.header(SESSION_HEADER);
    if (id === undefined || exchange.method === "GET") return;
    this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1);
    exchange.onDone(() => {
      const others = this.#underWay.get(id)! - 1;
      if (others > 0) this.#underWay.set(id, others);
      else this.#underWay.delete(id);
    });
  }

  /** Leaves all sessions to other replicas, each as soon as none of its requests is under way. */
  leave(): void {
    this.#leaving ??= setInterval(() => this.#leaveIdle(), LEAVE_MS);
  }

  /** Resolves when all sessions were left to others, or after this time. */
  async left(ms: number): Promise<void> {
    if (this.#leaving === undefined || this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#left = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Whether the session of a request was left to another replica. An idle one is left now. */
  hasMoved({ headers }: IncomingMessage): boolean {
    const id = headers[SESSION_HEADER];
    if (typeof id !== "string") return false;
    if (this.#leaving !== undefined && this.#isIdle(id)) this.surrender(id);
    return this.#moved.has(id) || (this.#leaving !== undefined && !this.#sessions.has(id));
  }

  /** Leaves what is left. */
  close(): void {
    if (this.#leaving === undefined) return;
    clearInterval(this.#leaving);
    for (const id of [...this.#sessions.keys()]) this.surrender(id);
    this.#moved.close();
  }

  /** A large message is being read. Its request can be cancelled before it is known. */
  arrives(exchange: HttpExchange, principal: Principal): void {
    const session = this.#sessions.get(exchange.header(SESSION_HEADER) ?? "");
    if (session?.principal !== principal.id || session.endpoint !== exchange.place.endpoint) return;
    const early = session.arrives();
    this.#early.set(exchange, early);
    exchange.onDone(() => session.arrived(early));
  }

  /** Handles a POST of one message. */
  post(exchange: HttpExchange, message: Inbound, principal: Principal): void {
    if (message.kind === "invalid") {
      return replyError(exchange, new GoblinError("INVALID_REQUEST", `Invalid request: ${message.reason}`), message.id);
    }
    if (!accepts(exchange, "application/json") && !accepts(exchange, "text/event-stream")) {
      const wanted = "Accept must include application/json or text/event-stream";
      return replyError(
        exchange,
        new GoblinError("NOT_ACCEPTABLE", wanted),
        message.kind === "request" ? message.id : null,
      );
    }
    if (message.kind === "request" && message.method === "initialize")
      return this.#initialize(exchange, message, principal);
    const session = this.#session(exchange, principal, message.kind === "request" ? message.id : null);
    if (!session) return;
    session.touch();
    if (message.kind === "request") this.#request(exchange, session, message);
    else {
      takeMessage(this.#context, session, message);
      exchange.reply(202, {});
    }
  }

  get(exchange: HttpExchange, principal: Principal): void {
    if (!accepts(exchange, "text/event-stream")) {
      return replyError(exchange, new GoblinError("NOT_ACCEPTABLE", "Accept must include text/event-stream"));
    }
    const session = this.#session(exchange, principal, null);
    if (!session) return;
    session.touch();
    const streams = this.#streamsOf(session);
    const lastEventId = exchange.header("last-event-id");
    const outbox =
      (lastEventId !== undefined && streams.requests?.get(lastEventId.slice(0, lastEventId.lastIndexOf("-")))) ||
      streams.standing;
    attach(exchange, { outbox, streams, lastEventId });
  }

  delete(exchange: HttpExchange, principal: Principal): void {
    const session = this.#session(exchange, principal, null);
    if (!session) return;
    const { continuity } = this.#context;
    this.#sessions.delete(this.#streamsOf(session).id);
    continuity.ended(session.key);
    // Once answered, the end must hold even if the process is killed now. The calls of the session
    // end after that: some clients stop reading answers when they send DELETE, and fail at one that
    // comes before its answer.
    void continuity.written().then(() => {
      exchange.onDone(() => session.leave());
      exchange.reply(204, {});
    });
  }

  /** Ends the sessions of principals that are no longer admitted, with their streams and calls. */
  revoke(isValid: (principal: Principal) => boolean): void {
    for (const session of [...this.#sessions.values(), ...this.#moved.resting])
      if (!isValid(session.who)) session.close();
  }

  /** Closes the standing streams of other principals. Their sessions stay, and can be resumed. */
  disconnect(isLive: (principal: Principal) => boolean): void {
    for (const session of this.#sessions.values()) if (!isLive(session.who)) this.#streamsOf(session).standing.cut();
  }

  #initialize(exchange: HttpExchange, message: Extract<Inbound, { kind: "request" }>, principal: Principal): void {
    const open = this.#sessions.get(exchange.header(SESSION_HEADER) ?? "");
    if (open?.principal === principal.id && open.endpoint === exchange.place.endpoint) {
      const why = "The session is initialized already: end it, or leave the Mcp-Session-Id header out";
      return replyError(exchange, new GoblinError("INVALID_REQUEST", why), message.id);
    }
    try {
      const streams = this.#newStreams();
      const account = principal.id || exchange.network;
      const { session, answer } = openSession(this.#context, message.params, {
        principal,
        place: exchange.place,
        account,
        ...sinkFor(streams),
      });
      const { key, endpoint, protocolVersion, capabilities, info, since: issued } = session;
      const sealed = { key, principal: principal.id, endpoint, account, protocolVersion, capabilities, info, issued };
      const id = this.#context.continuity.seal(sealed, exchange.header("x-request-id"));
      this.#register(session, streams, id);
      const reply = (given: Answer): void => replyAnswer(exchange, message.id, given, { [SESSION_HEADER]: id });
      if (answer instanceof Promise) void answer.then(reply);
      else reply(answer);
    } catch (error) {
      replyError(exchange, error, message.id);
    }
  }

  /** Resumes a session of an earlier process. Its id contains everything that was negotiated. */
  #resume(id: string, principal: Principal, place: Place): Session | undefined {
    const claims = this.#context.continuity.open(id, { principal: principal.id, endpoint: place.endpoint });
    if (!claims) return undefined;
    this.#moved.end(id);
    try {
      const streams = this.#newStreams();
      const session = resumeSession(this.#context, claims, { principal, place, ...sinkFor(streams) });
      this.#moved.forget(id);
      this.#register(session, streams, id);
      return session;
    } catch {
      return undefined;
    }
  }

  #newStreams(): Streams {
    // An event id of an earlier process must not match an event of this one.
    const prefix = `s${Math.floor(Math.random() * 36 ** 4).toString(36)}`;
    const budget = UnreadBudget.of(this.#context);
    const standing = new Outbox({ budget, name: prefix });
    const { retryHint } = this.#context;
    return { id: "", prefix, standing, requests: undefined, count: 0, budget, kept: this.#kept, retryHint };
  }

  #register(session: Session, streams: Streams, id: string): void {
    // A copy with the id in it would get a table of its own from V8.
    streams.id = id;
    this.#sessions.set(id, session);
    this.#streams.set(session, streams);
    session.onEnd(() => {
      this.#sessions.delete(id);
      if (!session.isRetired) this.#context.continuity.ended(session.key);
      streams.standing.end();
      for (const outbox of streams.requests?.values() ?? []) {
        this.#kept.drop(outbox);
        // Otherwise its call is about to be answered, because it was cancelled.
        if (session.hasLeft) outbox.end();
      }
    });
  }

  #request(exchange: HttpExchange, session: Session, message: Extract<Inbound, { kind: "request" }>): void {
    // First, as the reply may be a stream at once, and then the headers are gone.
    const trace = traceOf(exchange);
    const reply = new PostReply(exchange, this.#streamsOf(session));
    const options = { message, to: reply, trace, early: exchange.hold && this.#early.get(exchange) };
    const work = answerRequest(this.#context, session, options).then((answer) => {
      try {
        reply.answer(message.id, answer);
      } catch (error) {
        reply.answer(message.id, failure(error));
      }
    });
    exchange.hold?.until(work);
  }

  /** Handles a POST of several messages. */
  batch(exchange: HttpExchange, batch: Batch, principal: Principal): void {
    const session = this.#session(exchange, principal, null);
    if (!session) return;
    session.touch();
    const problem = batchProblem(this.#context, session, batch);
    if (problem) return replyError(exchange, problem);
    const reply = new PostReply(exchange, this.#streamsOf(session));
    const work = answerBatch(this.#context, batch.messages(), { session, reply, early: this.#early.get(exchange) });
    exchange.hold?.until(work);
  }

  #leaveIdle(): void {
    for (const id of this.#sessions.keys()) if (this.#isIdle(id)) this.surrender(id);
    if (this.#sessions.size === 0) this.#left?.();
  }

  #isIdle(id: string): boolean {
    return this.#sessions.get(id)?.inFlight === 0 && !this.#underWay.has(id);
  }

  #streamsOf(session: Session): Streams {
    return this.#streams.get(session)!;
  }

  /** Returns the session that the request names, or replies with an error. */
  #session(exchange: HttpExchange, principal: Principal, id: Id | null): Session | undefined {
    const sessionId = exchange.header(SESSION_HEADER);
    if (sessionId === undefined) {
      replyError(
        exchange,
        new GoblinError("INVALID_REQUEST", "Mcp-Session-Id header is missing: initialize first"),
        id,
      );
      return undefined;
    }
    const { place } = exchange;
    const session = this.#sessions.get(sessionId) ?? this.#resume(sessionId, principal, place);
    if (session?.principal !== principal.id || session.endpoint !== place.endpoint) {
      const { sessionIdleMs } = this.#context.config.current.limits;
      const why = `Session not found: initialize again. A session ends after ${sessionIdleMs} ms without traffic (limits.sessionIdleMs)`;
      replyError(exchange, new GoblinError("SESSION_NOT_FOUND", why), id);
      return undefined;
    }
    const version = exchange.header(VERSION_HEADER);
    if (version !== undefined && !legacyVersions.includes(version)) {
      const known = legacyVersions.join(", ");
      const message = `Unsupported protocol version ${version} in MCP-Protocol-Version (known: ${known})`;
      replyError(exchange, new GoblinError("INVALID_REQUEST", message), id);
      return undefined;
    }
    session.identify(principal, place);
    return session;
  }
}

function sinkFor({ standing }: Pick<Streams, "standing">): Pick<OpenOptions, "send" | "isActive"> {
  return {
    send: (text, call) => (call ? call.emit(text) : standing.push(text)),
    isActive: () => standing.isOpen,
  };
}
