/**
 * 2026-07-28 over HTTP: POST only. The headers repeat parts of the body, and closing the connection
 * cancels the request. The reply becomes an event stream if there are messages besides the answer.
 */

import { parkedId } from "../../core/session/parked.ts";
import { taskPlace } from "../../core/session/tasks.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { AccountBudgets } from "../../mcp/outbound/account-budgets.ts";
import { Outbox } from "../../mcp/outbound/outbox.ts";
import { metaOf, PROTOCOL_VERSION } from "../../mcp/protocol/envelope.ts";
import { errorTable, GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerText, failure, type Id, type Inbound, type Params } from "../../mcp/protocol/json-rpc.ts";
import { decodeHeader, MIRROR_PREFIX, mirroredValue, mirrorsOf, nameFields } from "../../mcp/protocol/mirrors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { FrontContext } from "../context.ts";
import { openEventStream } from "../event-stream.ts";
import type { HttpExchange } from "../http/exchange.ts";
import { accepts, replyAnswer, replyError } from "../http/reply.ts";
import { traceOf } from "../http/trace.ts";
import type { ToOwner } from "../to-owner.ts";
import { type ListenStream, openListen } from "./listen.ts";
import { envelopeProblem, ModernFront } from "./requests.ts";

const VERSION_HEADER = "mcp-protocol-version";
const KEEP_ALIVE_MS = 15_000;
/** Smaller answers fit into the connection's buffers. */
const LARGE = 64 * 1024;
/** By number: a server of this version may refuse with them too. */
const REFUSED: ReadonlyMap<number, number> = new Map(
  (["HEADER_MISMATCH", "MISSING_CLIENT_CAPABILITY", "UNSUPPORTED_PROTOCOL_VERSION"] as const).map((code) => [
    errorTable[code].rpc,
    errorTable[code].http,
  ]),
);

type RequestMessage = Extract<Inbound, { kind: "request" }>;

export class ModernHttp {
  readonly #context: FrontContext;
  readonly #front: ModernFront;
  /** The open listen requests and streams, each with its principal. */
  readonly #listens = new Map<ListenStream, Principal>();
  readonly #streams = new Map<Outbox, Principal>();
  readonly #budgets: AccountBudgets;

  readonly #toOwner: ToOwner | undefined;

  /** `toOwner`: where there are replicas. */
  constructor(context: FrontContext, toOwner?: ToOwner) {
    this.#context = context;
    this.#toOwner = toOwner;
    this.#budgets = new AccountBudgets(context);
    this.#front = new ModernFront(context);
  }

  post(exchange: HttpExchange, message: Inbound, principal: Principal): void {
    switch (message.kind) {
      case "invalid":
        return replyError(
          exchange,
          new GoblinError("INVALID_REQUEST", `Invalid request: ${message.reason}`),
          message.id,
        );
      case "response":
        return replyError(exchange, new GoblinError("INVALID_REQUEST", "Answers cannot be posted in this version"));
      case "notification":
        return exchange.reply(202, {});
      case "request": {
        const viewer = { key: "", visibility: exchange.place.visibility };
        const { directory } = this.#context;
        const schemaOf = (tool: string): unknown => directory.inputSchema(tool, viewer);
        const problem =
          versionMismatch(exchange, message) ??
          envelopeProblem(message.params) ??
          headerProblem(exchange, message, schemaOf);
        if (problem) return replyError(exchange, problem, message.id);
        const isListen = message.method === "subscriptions/listen";
        if (!isListen && !this.#front.knows(message.method, viewer)) {
          const error = new GoblinError("METHOD_NOT_FOUND", `Method not found: ${message.method.slice(0, 100)}`);
          return replyError(exchange, error, message.id);
        }
        const serve = (): void =>
          isListen ? this.#listen(exchange, message, principal) : this.#request(exchange, message, principal);
        const passed = this.#toOwner?.read(exchange, placeOf(message.params), {
          principal,
          id: message.id,
          body: message.text,
        });
        if (!passed) return serve();
        exchange.hold?.until(passed);
        void passed.then((isDone) => isDone || serve());
      }
    }
  }

  close(): void {
    for (const listen of this.#listens.keys()) listen.end();
    this.#front.close();
  }

  /** Ends the streams of principals that are no longer admitted, and the calls behind them. */
  revoke(isValid: (principal: Principal) => boolean): void {
    for (const [listen, principal] of this.#listens) if (!isValid(principal)) listen.end();
    for (const [stream, principal] of this.#streams) if (!isValid(principal)) stream.cut();
  }

  #request(exchange: HttpExchange, message: RequestMessage, principal: Principal): void {
    let stream: Outbox | undefined;
    const account = principal.id || exchange.network;
    const answered = this.#front.answer(message, {
      principal,
      place: exchange.place,
      account,
      trace: traceOf(exchange),
      hold: exchange.hold,
      onAbort: (listener) => exchange.onAbort(listener),
      emit: (text) => {
        if (accepts(exchange, "text/event-stream")) stream ??= this.#open(exchange, principal, account);
        stream?.push(text);
      },
    });
    exchange.hold?.until(answered);
    void answered.then((answer) => {
      if (stream) {
        stream.push(answerText(message.id, answer));
        stream.finish();
        return;
      }
      const status = answer.ok ? undefined : REFUSED.get(answer.code);
      if (status === undefined) this.#reply(exchange, answer, { id: message.id, account });
      else exchange.reply(status, { "content-type": "application/json" }, answerText(message.id, answer));
    });
  }

  #reply(exchange: HttpExchange, answer: Answer, { id, account }: { readonly id: Id; readonly account: string }): void {
    const { length } = answer.raw;
    if (length <= LARGE) return replyAnswer(exchange, id, answer);
    const { budget, leave } = this.#budgets.enter(account);
    if (budget.isSpent) {
      budget.strike();
      leave();
      return replyAnswer(exchange, id, failure(budget.error));
    }
    const read = budget.hold(length);
    exchange.onDone(() => {
      read();
      leave();
    });
    replyAnswer(exchange, id, answer);
  }

  #open(exchange: HttpExchange, principal: Principal, account: string): Outbox {
    const { budget, leave } = this.#budgets.enter(account);
    const stream = new Outbox({ budget });
    this.#streams.set(stream, principal);
    const closed = (): void => {
      this.#streams.delete(stream);
      leave();
    };
    openEventStream(exchange, stream, { keepAliveMs: KEEP_ALIVE_MS, closed });
    return stream;
  }

  #listen(exchange: HttpExchange, message: RequestMessage, principal: Principal): void {
    const account = principal.id || exchange.network;
    let slot: () => void;
    try {
      slot = this.#context.sessions.reserve(account);
    } catch (error) {
      return replyError(exchange, error, message.id);
    }
    const { budget, leave } = this.#budgets.enter(account);
    const stream = new Outbox({ budget });
    openEventStream(exchange, stream, {
      keepAliveMs: KEEP_ALIVE_MS,
      retryHint: this.#context.retryHint,
      closed: () => {
        slot();
        leave();
        this.#listens.delete(listen);
        listen.close();
      },
    });
    const listen = openListen(this.#context, {
      id: message.id,
      params: message.params,
      principal,
      place: exchange.place,
      account,
      write: (text) => stream.push(text),
      ended: () => {
        this.#listens.delete(listen);
        stream.finish();
      },
    });
    this.#listens.set(listen, principal);
  }
}

/**
 * Returns an id that begins with the mark of the replica that has what a request is about: a call
 * that waits, or a task. A stream for several tasks goes where the first one is.
 */
function placeOf({ requestState, taskId, notifications }: Params): string | undefined {
  const listened = isRecord(notifications) ? notifications["taskIds"] : undefined;
  return parkedId(requestState) ?? taskPlace(Array.isArray(listened) ? listened[0] : taskId);
}

/** Checked before version support: if header and body disagree, neither is authoritative. */
function versionMismatch(exchange: HttpExchange, message: RequestMessage): GoblinError | undefined {
  const version = metaOf(message.params)?.[PROTOCOL_VERSION];
  const header = exchange.header(VERSION_HEADER)?.trim();
  if (typeof version !== "string" || header === version) return undefined;
  return mismatch("MCP-Protocol-Version", header, version);
}

/** Checks that the other headers match the body. */
function headerProblem(
  exchange: HttpExchange,
  message: RequestMessage,
  schemaOf: (tool: string) => unknown,
): GoblinError | undefined {
  const method = exchange.header("mcp-method")?.trim();
  if (method !== message.method) return mismatch("Mcp-Method", method, message.method);
  const field = nameFields.get(message.method);
  const named = field === undefined ? undefined : message.params[field];
  if (typeof named !== "string") return undefined;
  const name = exchange.header("mcp-name");
  if (name === undefined || decodeHeader(name) !== named) return mismatch("Mcp-Name", name, named);
  if (message.method !== "tools/call") return undefined;
  for (const { header: mirrored, path } of mirrorsOf(schemaOf(named))) {
    const wanted = mirroredValue(message.params["arguments"], path);
    if (wanted === undefined) continue;
    const given = exchange.header(MIRROR_PREFIX + mirrored);
    const decoded = given === undefined ? undefined : decodeHeader(given);
    if (decoded === undefined || !sameValue(decoded, wanted)) return mismatch(`Mcp-Param-${mirrored}`, given, wanted);
  }
  return undefined;
}

function sameValue(a: string, b: string): boolean {
  return a === b || (a.trim() !== "" && Number.isFinite(Number(a)) && Number(a) === Number(b));
}

function mismatch(header: string, given: string | undefined, wanted: string): GoblinError {
  const what = given === undefined ? "is missing" : "does not match the body";
  const message = `Header mismatch: ${header} ${what}`;
  return new GoblinError("HEADER_MISMATCH", message, { data: { header, expected: wanted.slice(0, 200) } });
}
