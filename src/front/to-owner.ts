/**
 * Sends requests to the replica that owns what they are for. Without replicas there is none of
 * this, and routes are served as they are.
 */
import type { Cluster } from "../cluster/cluster.ts";
import type { Continuity } from "../core/session/continuity.ts";
import { errorTable, type GoblinError } from "../mcp/protocol/errors.ts";
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

export interface ReadRequest {
  readonly principal: Principal;
  readonly id: Id;
  /** The whole body. */
  readonly body: string;
}

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

  /** Hands over a request that was read. Returns undefined if it is to be served here. */
  read(exchange: HttpExchange, named: string | undefined, request: ReadRequest): Promise<boolean> | undefined {
    const owner = named === undefined || exchange.isHandedOver ? undefined : this.#cluster.ownerOf(named);
    if (!owner || !exchange.node) return undefined;
    const { principal, id, body } = request;
    return this.#cluster.handOver({ ...exchange.node, ...requestOf(exchange, principal, id), body }, owner);
  }
}

function requestOf(exchange: HttpExchange, principal: Principal, id: Id | null) {
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
