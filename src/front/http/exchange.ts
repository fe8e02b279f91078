/**
 * One HTTP request and its answer, as the protocol code sees them. Implemented on Node's own
 * objects (fast), and on the web's Request and Response (other runtimes and in-process tests).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import type { BodyHold } from "../bodies/body-budget.ts";

export interface HttpExchange {
  /** Headers that are added to every answer. */
  shared: Readonly<Record<string, string>> | undefined;
  /** Of a large body: keeps it counted until the calls in it are over. */
  hold: BodyHold | undefined;
  /** Set when its client was let in. */
  place: Place;
  /** The remote address, or its /64 network for IPv6; the empty string if it is unknown. */
  readonly network: string;
  /** The connection that it came on, if that is known. */
  readonly connection?: object | undefined;
  /** Whether another replica handed it over. */
  readonly isHandedOver?: boolean | undefined;
  /** Node's own objects, if there are any. */
  readonly node?: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse } | undefined;
  readonly method: string;
  /** The path of the request, without its query. */
  readonly path: string;
  /** `name` must be in lower case. */
  header(name: string): string | undefined;
  query(name: string): string | undefined;
  /**
   * Reads the body and calls `done` at most once. `done` gets undefined if the body exceeds the
   * limit, and the id of its request if that can be read. It is not called if the client
   * disconnects. The body is counted in `hold`; one that `hold` refuses is read on without being
   * kept, and `done` gets undefined.
   */
  body(limit: number, done: (body: Buffer | undefined, id?: number) => void): void;
  /**
   * Sends the whole answer. Must be called only once; does nothing if the client has disconnected.
   */
  reply(status: number, headers: Readonly<Record<string, string>>, body?: Body): void;
  /** Answers with an event stream. The headers of the request cannot be read any more. */
  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream;
  /** Runs the listener once, if the connection ends before the answer is complete. */
  onAbort(listener: () => void): void;
  /** Runs the listener once, when the answer was sent or the connection has ended. */
  onDone(listener: () => void): void;
}

/** Answers an exchange of a client that was let in. */
export type Serve = (exchange: HttpExchange, principal: Principal) => void;

export type Body = string | readonly (string | Buffer)[];

export interface StreamEvents {
  /** The stream has room again. */
  drained(): void;
  closed(): void;
  /** Everything was sent, and the connection stayed open for a while afterwards. */
  readonly delivered?: (() => void) | undefined;
}

export interface RawStream {
  /** Whether the stream accepts no data now, because of backpressure or because it has ended. */
  readonly isFull: boolean;
  /** Must be called only while `isFull` is false. */
  write(text: string): void;
  end(): void;
  /** Closes the connection without waiting for the client to read the rest. */
  cut(): void;
}

export const JSON_HEADERS = { "content-type": "application/json" } as const;
export const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** The answer wherever there is nothing, whether there could be something or not. */
export const NOTHING = { error: { code: "NOT_FOUND", message: "Nothing here. The MCP endpoint is /mcp" } } as const;

export function notAllowed(allow: string): (exchange: HttpExchange) => void {
  return (exchange) => exchange.reply(405, { allow });
}
