/**
 * The open connections of an HTTP server. Reports those whose request does not arrive in time,
 * closes those that are idle for long, or whose client does not read for long, all idle ones while
 * the server shuts down, and the others at its end.
 *
 * Node's own list serves only a server that listens itself, and cannot replace this one:
 * `server.close()` destroys a connection whose answer has ended but was not yet sent, so a client
 * loses the rest of a large one; `keepAliveTimeout` cuts off a slow reader of an encrypted answer;
 * and nothing documented tells which answers of a connection are pending, which requests behind
 * one, tunnels and refusals must wait for. Node's list also costs 2 to 3 % of a small call, and its
 * timers 1 %.
 *
 * This list notes the newest request only, and looks at all connections every few seconds. So a
 * timeout may be late by two such looks, and is never early. A head that stops soon after the
 * request before it looks like an idle connection, and is closed as one.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Bag, type Placed } from "../../../lib/structures/bag.ts";
import { sentBytes } from "./node-members.ts";

export interface ArrivalLimits {
  /** The timeout for the head of a request, and for the first one of a connection. */
  readonly headersMs: number;
  /** The timeout for a whole request. */
  readonly requestMs: number;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  readonly checkMs: number;
}

/** How long a connection may be idle. */
export const IDLE_MS = 60_000;

const STATE = Symbol("open connection");
type Connection = Socket & { [STATE]?: OpenConnection };
const UNWATCHED = Symbol("unwatched socket");
type UnwatchedConnection = Socket & { [UNWATCHED]?: UnwatchedSocket };

interface UnwatchedSocket extends Placed {
  readonly socket: Socket;
}

interface OpenConnection extends Placed {
  readonly socket: Connection;
  newest: Pick<IncomingMessage, "complete"> | undefined;
  answer: ServerResponse | typeof OVER | undefined;
  /** The answer before the newest one, if that had to queue. */
  before: OpenConnection["answer"];
  /** The answers that had to queue, and the one before them. Only pipelining clients have any. */
  queued: Set<ServerResponse> | undefined;
  /** Whether the newest request came after the last look. */
  isNew: boolean;
  /** Whether a look found that all its requests are answered. */
  isIdle: boolean;
  /**
   * When the connection was first seen, or else the newest request, or else how much of the answer
   * was sent, or else that all is answered.
   */
  seenAt: number;
  /** How much had been sent at the last look that found an answer unread. */
  sent: number;
  /** How much had been read when the newest request was complete; -1 before that. */
  bytesRead: number;
  /** When more than that was first seen; 0: nothing followed. */
  partSeenAt: number;
}

/** Takes the place of a request and its answer, so that their connection does not keep them. */
const OVER = { complete: true, writableEnded: true, writableFinished: true, socket: null } as const;

/**
 * How much longer an answer may be unread. Large ones have a watch of their own (`StallWatch`),
 * which says why it cuts a client off, and so must be first.
 */
const UNREAD = 2;

export class OpenConnections {
  readonly #open = new Bag<OpenConnection>();
  readonly #unwatched = new Bag<UnwatchedSocket>();
  readonly #limits: ArrivalLimits;
  readonly #late: (socket: Socket) => void;
  readonly #timer: NodeJS.Timeout;
  /** One listener for all: each connection would keep one of its own. */
  readonly #closed: (this: Connection) => void;
  readonly #unwatchedClosed: (this: UnwatchedConnection) => void;

  /** `late`: called with a connection whose request did not arrive in time. */
  constructor(limits: ArrivalLimits, late: (socket: Socket) => void) {
    this.#limits = limits;
    this.#late = late;
    this.#timer = setInterval(() => this.#check(), limits.checkMs).unref();
    const open = this.#open;
    this.#closed = function () {
      if (!this[STATE]) return;
      open.delete(this[STATE]);
      settleQueued(this[STATE]);
    };
    const unwatched = this.#unwatched;
    this.#unwatchedClosed = function () {
      if (this[UNWATCHED]) unwatched.delete(this[UNWATCHED]);
    };
  }

  add(socket: Connection): void {
    const open: OpenConnection = {
      place: -1,
      socket,
      newest: undefined,
      answer: undefined,
      before: undefined,
      queued: undefined,
      isNew: false,
      isIdle: false,
      seenAt: performance.now(),
      sent: -1,
      bytesRead: -1,
      partSeenAt: 0,
    };
    socket[STATE] = open;
    this.#open.add(open);
    socket.on("close", this.#closed);
  }

  /** Takes a socket that is only closed at the end, because other code watches over it. */
  addUnwatched(socket: UnwatchedConnection): void {
    socket[UNWATCHED] = { place: -1, socket };
    this.#unwatched.add(socket[UNWATCHED]);
    socket.on("close", this.#unwatchedClosed);
  }

  /** The connection has become a tunnel; the code that serves it ends it. */
  release(socket: Connection): void {
    const open = socket[STATE];
    if (!open) return;
    this.#open.delete(open);
    delete socket[STATE];
    this.addUnwatched(socket);
  }

  /** The head of a request has arrived. */
  began(request: IncomingMessage, answer: ServerResponse): void {
    const open = (request.socket as Connection)[STATE];
    if (!open) return;
    if (answer.socket) open.before = undefined;
    else queue(open, answer);
    open.newest = request;
    open.answer = answer;
    open.isNew = true;
  }

  /** An answer has ended. If it was sent, nothing of it is kept until the next look. */
  static over(socket: Connection, answer: ServerResponse): void {
    const open = socket[STATE];
    if (open?.answer === answer && open.newest?.complete && answer.writableFinished) open.newest = open.answer = OVER;
  }

  /**
   * Returns the last answer that must be sent before the connection may carry anything else. A
   * request that has not arrived in full does not have one yet.
   */
  static pending(socket: Connection): ServerResponse | undefined {
    const open = socket[STATE];
    const answer = open?.newest?.complete ? open.answer : open?.before;
    return answer instanceof ServerResponse && !answer.closed ? answer : undefined;
  }

  /** Whether no request followed the one of this answer. */
  static isNewest(socket: Connection, answer: ServerResponse): boolean {
    return socket[STATE]?.answer === answer;
  }

  /** Whether the answer to a request that has not arrived in full has begun. */
  static isAnswering(socket: Connection): boolean {
    const open = socket[STATE];
    return open?.newest?.complete === false && open.answer instanceof ServerResponse && open.answer.headersSent;
  }

  /**
   * Runs the task when all pending answers were sent. Node has left the socket alone, so its
   * answers no longer hear when it has room again.
   */
  static afterPending(socket: Connection, task: () => void): void {
    const pending = OpenConnections.pending(socket);
    if (!pending) return task();
    const drained = (): void => {
      for (const answer of new Set([...(socket[STATE]?.queued ?? []), pending]))
        if (answer.socket === socket) answer.emit("drain");
    };
    socket.on("drain", drained);
    pending.once("close", () => {
      socket.off("drain", drained);
      task();
    });
  }

  /** Runs the task when the answers before this one were sent. */
  static inTurn(socket: Connection, answer: ServerResponse, task: () => void): void {
    const before = socket[STATE]?.before;
    if (answer.socket || !(before instanceof ServerResponse)) task();
    else before.once("close", task);
  }

  /**
   * Closes the connections whose requests are all answered, unless the next one is known to have
   * begun. At once: a request that comes now would be answered by a gateway that ends.
   */
  closeIdle(): void {
    for (const { socket, newest, answer, isNew, bytesRead } of this.#open.items()) {
      // An answer that has ended may still wait for the one before it.
      const isSent = answer?.writableFinished || (answer?.writableEnded && answer.socket);
      const isAnswered = newest?.complete && isSent && socket.writableLength === 0;
      const hasBegun = !isNew && bytesRead !== -1 && bytesRead !== socket.bytesRead;
      if (isAnswered && !hasBegun) socket.destroy();
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#unwatched.items()) socket.destroy();
    for (const { socket } of this.#open.items()) socket.destroy();
  }

  #check(): void {
    const now = performance.now();
    for (const open of this.#open.items()) if (this.#isLate(open, now)) this.#late(open.socket);
  }

  #isLate(open: OpenConnection, now: number): boolean {
    const { headersMs, requestMs, idleMs } = this.#limits;
    if (open.isNew) {
      open.isNew = false;
      open.isIdle = false;
      open.seenAt = now;
      open.bytesRead = -1;
      open.partSeenAt = 0;
    }
    if (!open.newest) return now - open.seenAt >= headersMs;
    if (!open.newest.complete) {
      // Its client may wait for the answers before it.
      if (isQueued(open.answer)) open.seenAt = now;
      return now - open.seenAt >= requestMs;
    }
    const { bytesRead } = open.socket;
    if (open.bytesRead === -1) open.bytesRead = bytesRead;
    if (open.socket.writableLength > 0) {
      this.#closeUnread(open, now);
      return false;
    }
    // Until then, the answer holds the connection, whatever follows.
    if (!open.answer!.writableFinished) return false;
    open.newest = open.answer = OVER;
    open.before = undefined;
    if (!open.isIdle) {
      open.isIdle = true;
      open.seenAt = now;
    }
    if (bytesRead !== open.bytesRead && open.partSeenAt === 0) open.partSeenAt = now;
    if (open.partSeenAt > 0) return now - open.partSeenAt >= headersMs;
    if (now - open.seenAt >= idleMs) open.socket.destroy();
    return false;
  }

  #closeUnread(open: OpenConnection, now: number): void {
    const sent = sentBytes(open.socket);
    if (sent !== open.sent) {
      open.sent = sent;
      open.seenAt = now;
    } else if (now - open.seenAt >= UNREAD * this.#limits.idleMs) open.socket.destroy();
  }
}

/** Node gives an answer the connection when all answers before it were sent. */
function isQueued(answer: OpenConnection["answer"]): boolean {
  return answer instanceof ServerResponse && !answer.socket && !answer.writableFinished;
}

function queue(open: OpenConnection, answer: ServerResponse): void {
  open.before = open.answer;
  open.queued ??= new Set();
  for (const each of [open.before, answer]) {
    if (!(each instanceof ServerResponse) || each.closed || open.queued.has(each)) continue;
    open.queued.add(each);
    each.once("close", () => open.queued?.delete(each));
  }
}

/** Node emits "close" only on the answer that has the connection. All work ends with that event. */
function settleQueued({ queued }: OpenConnection): void {
  for (const answer of queued ?? []) {
    if (!isQueued(answer)) continue;
    answer.destroy();
    answer.emit("close");
  }
}
