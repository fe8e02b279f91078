/**
 * Passes one HTTP exchange to the replica that owns its session, as a stream in both directions.
 *
 * The owner is asked first. Until it has agreed, nothing of the request's body is read, so another
 * replica can still serve the request. Once it has agreed, the exchange is the owner's: if the
 * owner then fails, its client hears that the call may have run, and nobody runs it again.
 *
 * Both sides frame the messages themselves, from what their parsers accepted: no header of a client
 * decides where a message ends.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Agent, request } from "node:https";
import { ASKED_HEADER, connectTo, MOVED, NETWORK_HEADER, NOT_MINE, OWNER_HEADER } from "./channel.ts";
import type { Owner } from "./owners.ts";

export interface HandOverOptions {
  readonly agent: Agent;
  readonly owner: Owner;
  readonly network: string;
  /** How long the owner may take to agree. */
  readonly timeoutMs: number;
  /** Headers that are added to the answer. */
  readonly shared: Readonly<Record<string, string>> | undefined;
  /** The body, if it was read already. */
  readonly body?: string | undefined;
  /** The owner failed after it had agreed, before it answered. */
  readonly failed: () => void;
}

/**
 * `done`: the owner serves it, or its client has left. `gone`: that process has ended. `moved`: it
 * has left the session to another replica. `silent`: it says nothing, so nobody knows whether it
 * has ended. Nothing of the body was sent, except if it is done.
 */
export type HandOverResult =
  | { readonly kind: "done"; readonly cut: () => void }
  | { readonly kind: "gone" | "moved" }
  | { readonly kind: "silent"; readonly why: string };

export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Headers that concern one connection only (RFC 9110, 7.6.1), and those of a hand-over. */
const DROPPED = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  OWNER_HEADER,
  NETWORK_HEADER,
  ASKED_HEADER,
]);
/** Nobody listens there any more. */
const REFUSED = new Set(["ECONNREFUSED", "ENOENT"]);
/** A connection from the pool that the other side closed meanwhile. */
const CLOSED = new Set(["ECONNRESET", "EPIPE"]);

export async function handOver(exchange: Exchange, options: HandOverOptions): Promise<HandOverResult> {
  const first = await attempt(exchange, options, false);
  return first.kind === "closed" ? ((await attempt(exchange, options, true)) as HandOverResult) : first;
}

/** Asks whether the owner is there. */
export async function isThere({ agent, owner, timeoutMs }: Pick<HandOverOptions, "agent" | "owner" | "timeoutMs">) {
  return new Promise<"there" | "gone" | "silent">((resolve) => {
    const headers = { expect: "100-continue", [OWNER_HEADER]: owner.id };
    const asking = request({ ...connectTo(owner.address), agent, method: "HEAD", path: "/", headers });
    const timer = setTimeout(() => asking.destroy(new Error("silent")), timeoutMs).unref();
    asking.on("continue", () => asking.end());
    asking.on("response", (answer) => {
      clearTimeout(timer);
      answer.resume();
      resolve(answer.statusCode === NOT_MINE ? "gone" : "there");
    });
    asking.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(REFUSED.has(error.code ?? "") ? "gone" : "silent");
    });
    asking.flushHeaders();
  });
}

function attempt(
  { incoming, outgoing }: Exchange,
  options: HandOverOptions,
  isSecond: boolean,
): Promise<HandOverResult | { readonly kind: "closed" }> {
  const { agent, owner, timeoutMs, body } = options;
  return new Promise((resolve) => {
    const sent = request({
      ...connectTo(owner.address),
      agent: isSecond ? false : agent,
      ...(isSecond && agent.options),
      method: incoming.method,
      path: incoming.url,
      headers: headersOf(incoming, options),
    });
    let isAgreed = false;
    const timer = setTimeout(() => {
      sent.destroy();
      resolve({ kind: "silent", why: `it did not answer within ${timeoutMs} ms` });
    }, timeoutMs).unref();
    const cut = (): void => {
      if (outgoing.headersSent) outgoing.destroy();
      else options.failed();
      sent.destroy();
    };
    const left = (): void => void sent.destroy();
    if (outgoing.destroyed) left();
    else outgoing.once("close", left);
    sent.on("continue", () => {
      clearTimeout(timer);
      isAgreed = true;
      resolve({ kind: "done", cut });
      if (body !== undefined) sent.end(body);
      else if (hasBody(incoming)) incoming.pipe(sent);
      else sent.end();
    });
    sent.on("response", (answer) => {
      clearTimeout(timer);
      if (isAgreed) return pass(answer, outgoing, options);
      answer.resume();
      outgoing.off("close", left);
      if (answer.statusCode === NOT_MINE) resolve({ kind: "gone" });
      else if (answer.statusCode === MOVED) resolve({ kind: "moved" });
      else resolve({ kind: "silent", why: "it did not agree" });
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (outgoing.destroyed) return resolve({ kind: "done", cut });
      if (isAgreed) return cut();
      outgoing.off("close", left);
      if (REFUSED.has(error.code ?? "")) resolve({ kind: "gone" });
      else if (!isSecond && CLOSED.has(error.code ?? "")) resolve({ kind: "closed" });
      else resolve({ kind: "silent", why: reasonOf(error) });
    });
    sent.flushHeaders();
  });
}

function pass(answer: IncomingMessage, outgoing: ServerResponse, { shared }: HandOverOptions): void {
  const headers: OutgoingHttpHeaders = {};
  for (const name in answer.headers) if (!DROPPED.has(name)) headers[name] = answer.headers[name];
  outgoing.writeHead(answer.statusCode ?? 502, { ...headers, ...shared });
  // A stream may have nothing to say for a while, but its client waits for the head. Any other
  // answer takes its head along.
  if (answer.headers["content-length"] === undefined) outgoing.flushHeaders();
  answer.pipe(outgoing);
  // A stream that was cut must not look as if it had ended.
  answer.once("close", () => answer.complete || outgoing.destroy());
}

function headersOf({ headers }: IncomingMessage, { owner, network, body }: HandOverOptions): OutgoingHttpHeaders {
  const named = (headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const kept: OutgoingHttpHeaders = {};
  for (const name in headers) if (!DROPPED.has(name) && !named.includes(name)) kept[name] = headers[name];
  if (body !== undefined) kept["content-length"] = Buffer.byteLength(body);
  return { ...kept, expect: "100-continue", [OWNER_HEADER]: owner.id, [NETWORK_HEADER]: network };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** An error of OpenSSL has its file and line in it. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === "EPROTO" || code?.startsWith("ERR_SSL") === true ? "it does not have the same secret" : message;
}
