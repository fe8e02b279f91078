/**
 * Sends requests to the replica that owns what they are for. Without replicas there is none of
 * this, and routes are served as they are.
 */
import type { Cluster } from "../cluster/cluster.ts";
import type { Owner } from "../cluster/owners.ts";
import type { Continuity } from "../core/session/continuity.ts";
import { errorTable, GoblinError } from "../mcp/protocol/errors.ts";
import { answerText, failure, type Id } from "../mcp/protocol/json-rpc.ts";
import type { Principal } from "../mcp/protocol/principal.ts";
import { type HttpExchange, JSON_HEADERS, type Serve } from "./http/exchange.ts";
import { replyError } from "./http/reply.ts";

export interface IdLookup {
  /** Returns the id that the request names. */
  readonly idOf: (exchange: HttpExchange) => string | undefined;
  /** Whether this process has what the id stands for. */
  readonly isOpen: (id: string) => boolean;
}

/** The worker that serves all but MCP. */
export interface FirstWorker {
  /** Whether it is this one. */
  readonly isFirst: boolean;
  /** Resolves with it when it serves; rejects after this time. */
  first(ms: number): Promise<Owner>;
}

export interface ReadRequest {
  readonly principal: Principal;
  readonly id: Id;
  /** The whole body. */
  readonly body: string;
}

/** How long a request waits for a first worker that has just ended. */
const FIRST_MS = 10_000;
/** The most that a client waits before it tries again. */
const RETRY_AFTER = "1";

export class ToOwner {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Returns a route that hands over requests for sessions that other replicas have, unread. */
  session({ idOf, isOpen }: IdLookup, continuity: Pick<Continuity, "prepare">, serve: Serve): Serve {
    return (exchange, principal) => {
      const id = idOf(exchange);
      const isHere = id === undefined || isOpen(id) || !this.#cluster.isElsewhere(id);
      if (isHere || !exchange.node) return serve(exchange, principal);
      // The replica that took the session over may get a request of another one before its own.
      const passed = exchange.isHandedOver
        ? Promise.resolve(false)
        : this.#cluster.handOverSession({ ...exchange.node, ...requestOf(exchange, principal, null) }, id);
      const prepared = passed.then(async (isDone) => {
        if (!isDone) await continuity.prepare(id);
        return isDone;
      });
      serveUnless(prepared, exchange, () => serve(exchange, principal));
    };
  }

  /** Returns a route that hands over requests for streams that other replicas have, unread. */
  stream({ idOf, isOpen }: IdLookup, serve: Serve): Serve {
    return (exchange, principal) => {
      const id = idOf(exchange);
      const owner = id === undefined || exchange.isHandedOver || isOpen(id) ? undefined : this.#cluster.ownerOf(id);
      if (!owner || !exchange.node) return serve(exchange, principal);
      const passed = this.#cluster.handOver({ ...exchange.node, ...requestOf(exchange, principal, null) }, owner);
      serveUnless(passed, exchange, () => serve(exchange, principal));
    };
  }

  /** Returns a route that hands every request to the first worker, unread. That one checks it. */
  first(workers: Pick<FirstWorker, "first">): (exchange: HttpExchange) => void {
    const pass = async (exchange: HttpExchange): Promise<void> => {
      if (!exchange.node) return;
      const request = { ...exchange.node, ...requestOf(exchange, NOBODY, null) };
      // It may end, and be replaced, while it is asked.
      for (let tries = 0; tries < 2; tries++)
        if (await this.#cluster.handOver(request, await workers.first(FIRST_MS))) return;
      throw new Error("it ended again");
    };
    const absent = "The worker that serves this is about to start again; try again later";
    return (exchange) =>
      void pass(exchange).catch(() => replyLater(exchange, new GoblinError("REPLICA_UNAVAILABLE", absent), null));
  }

  /** Hands over a request that was read. Returns undefined if it is to be served here. */
  read(exchange: HttpExchange, named: string | undefined, request: ReadRequest): Promise<boolean> | undefined {
    const owner = named === undefined || exchange.isHandedOver ? undefined : this.#cluster.ownerOf(named);
    if (!owner || !exchange.node) return undefined;
    const { principal, id, body } = request;
    return this.#cluster.handOver({ ...exchange.node, ...requestOf(exchange, principal, id), body }, owner);
  }
}

/** The first worker decides who sends the request. */
const NOBODY = { id: "" };

function requestOf(exchange: HttpExchange, principal: Pick<Principal, "id">, id: Id | null) {
  const { network, shared } = exchange;
  const refuse = (error: GoblinError): void => replyLater(exchange, error, id);
  return { network, shared, account: principal.id || network, refuse };
}

/** Serves what no other replica answers for. */
function serveUnless(passed: Promise<boolean>, exchange: HttpExchange, serve: () => void): void {
  void passed.then((isDone) => isDone || serve()).catch((error: unknown) => replyError(exchange, error));
}

/** The client may try again: the other replica may be back by then. */
function replyLater(exchange: HttpExchange, error: GoblinError, id: Id | null): void {
  const { http } = errorTable[error.code];
  const headers = http === 503 ? { ...JSON_HEADERS, "retry-after": RETRY_AFTER } : JSON_HEADERS;
  exchange.reply(http, headers, answerText(id, failure(error)));
}
