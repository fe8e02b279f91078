/**
 * The protocol versions with a handshake and sessions, 2024-11-05 to 2025-11-25, on any transport:
 * opens sessions, answers their requests, and handles their notifications and answers.
 */

import { randomUUID } from "node:crypto";
import { boundedCapabilities, boundedInfo } from "../../core/session/bounded.ts";
import type { SessionClaims } from "../../core/session/seal.ts";
import { type EarlyCancels, Session } from "../../core/session/session.ts";
import { toDisplayText } from "../../lib/json/json-text.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { Call } from "../../mcp/protocol/call.ts";
import { knowsTasks, legacyVersions } from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import {
  type Answer,
  answerOf,
  failure,
  type Inbound,
  type Params,
  paramsText,
  repeatedMember,
  requestParams,
  success,
} from "../../mcp/protocol/json-rpc.ts";
import { type LogLevel, severity } from "../../mcp/protocol/log-levels.ts";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import { cancelWords } from "../cancel-words.ts";
import type { FrontContext } from "../context.ts";
import { isSettled, settleWithClient } from "./result.ts";

type RequestMessage = Extract<Inbound, { kind: "request" }>;
type OtherMessage = Extract<Inbound, { kind: "notification" | "response" }>;

export interface OpenOptions {
  readonly principal: Principal;
  readonly place: Place;
  readonly account: string;
  readonly send: (text: string, call: Call | undefined) => void;
  readonly isActive: () => boolean;
  readonly id?: string;
  /** Gives up what was reserved for the session. */
  readonly slot?: (() => void) | undefined;
}

/**
 * Opens a session for an `initialize` request. The answer waits for servers that are starting, as a
 * client hears of their instructions only now. Throws if the limit of sessions is reached.
 */
export function openSession(
  context: FrontContext,
  params: Params,
  options: OpenOptions,
): { session: Session; answer: Answer | Promise<Answer> } {
  const wanted = params["protocolVersion"];
  if (typeof wanted !== "string") {
    throw new GoblinError("INVALID_PARAMS", 'initialize needs "protocolVersion"');
  }
  const session = new Session({
    id: options.id ?? randomUUID(),
    principal: options.principal,
    place: options.place,
    account: options.account,
    protocolVersion: legacyVersions.includes(wanted) ? wanted : legacyVersions[0]!,
    capabilities: boundedCapabilities(recordOf(params["capabilities"])),
    info: boundedInfo(recordOf(params["clientInfo"])),
    send: options.send,
  });
  context.sessions.add(session, options.isActive, options.slot);
  const waits = context.directory.whenDescribed(session);
  const describe = (): Answer => describedTo(context, session);
  const answer = waits ? waits.then(describe) : describe();
  if (answer instanceof Promise) session.greeting = answer;
  return { session, answer };
}

function describedTo({ directory }: FrontContext, session: Session): Answer {
  const { capabilities, instructions } = directory.describe(session);
  return success({
    protocolVersion: session.protocolVersion,
    capabilities,
    serverInfo: directory.serverInfo,
    ...(instructions && { instructions }),
  });
}

/** Resumes a session that an earlier process opened. Throws if the limit of sessions is reached. */
export function resumeSession(
  context: FrontContext,
  claims: SessionClaims,
  options: Omit<OpenOptions, "account">,
): Session {
  const { key, issued, principal: _, endpoint: __, ...negotiated } = claims;
  const session = new Session({
    ...negotiated,
    principal: options.principal,
    place: options.place,
    id: key,
    since: issued,
    send: options.send,
  });
  session.initialized = true;
  context.sessions.add(session, options.isActive);
  context.sessions.emit("resumed", session);
  return session;
}

export interface RequestOptions {
  readonly message: RequestMessage;
  /** Where notifications of the request go. */
  readonly to: { emit(text: string): void };
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** What was cancelled while the message was read. */
  readonly early?: EarlyCancels | undefined;
}

/**
 * Answers one request. Returns undefined if the client cancelled it or ended its session, and gets
 * no answer. Never rejects: a failure becomes an error answer.
 */
export async function answerRequest(
  context: FrontContext,
  session: Session,
  { message, to, trace, early }: RequestOptions,
): Promise<Answer | undefined> {
  const { id, method, params } = message;
  const startedAt = performance.now();
  let begun: Call | undefined;
  try {
    switch (method) {
      case "ping":
        return { ok: true, raw: "{}" };
      case "initialize":
        return failure(new GoblinError("INVALID_REQUEST", "The session is initialized already"));
      case "logging/setLevel":
        return setLevel(context, session, params);
    }
    const { text, nameAt } = requestParams(message.text);
    const call = new Call({
      id,
      method,
      params,
      text,
      nameAt,
      client: session,
      emit: (emitted) => to.emit(emitted),
      trace,
    });
    session.begin(id, call, early);
    begun = call;
    if (call.cancelled) return undefined;
    if (wantsTask(call)) {
      const answer = await asTask(call, { context, startedAt });
      return !call.task && isUnanswered(call, session) ? undefined : answer;
    }
    const first = await context.relay.handle(call);
    const answer = isSettled(call, first) ? first : await settleWithClient(call, first, { context, startedAt });
    return isUnanswered(call, session) ? undefined : answer;
  } catch (error) {
    return failure(error, begun && { requestId: begun.requestId });
  } finally {
    if (begun) session.end(id);
  }
}

/** Whether the client cancelled the call or ended its session. It hears of other ends. */
function isUnanswered({ cancelled }: Call, session: Session): boolean {
  return cancelled === "client" && (!session.ended || session.hasLeft);
}

/** Whether the client asks for a task in the request itself. */
function wantsTask({ method, params, client }: Call): boolean {
  return method === "tools/call" && isRecord(params["task"]) && knowsTasks(client.protocolVersion);
}

/** Answers with a task of the gateway if the call has to wait for a person. */
function asTask(call: Call, given: { context: FrontContext; startedAt: number }): Promise<Answer> {
  const { relay, heldTasks } = given.context;
  const { ttl } = recordOf(call.params["task"]);
  return heldTasks.run(call, { ttlMs: typeof ttl === "number" ? ttl : undefined }, async () => {
    const first = await relay.handle(call);
    return isSettled(call, first) ? first : settleWithClient(call, first, given);
  });
}

function initialized({ sessions }: FrontContext, session: Session): void {
  if (session.initialized) return;
  session.greeting = undefined;
  session.initialized = true;
  sessions.emit("initialized", session);
}

/** Handles a message that needs no answer. */
export function takeMessage(context: FrontContext, session: Session, message: OtherMessage): void {
  if (message.kind === "response") {
    session.answered(message.id, clientAnswer(message.text));
    return;
  }
  switch (message.method) {
    case "notifications/initialized":
      // A client that does not wait for the answer must not be notified before it either.
      if (session.greeting) void session.greeting.then(() => initialized(context, session));
      else initialized(context, session);
      return;
    case "notifications/cancelled": {
      const { requestId: id, reason } = message.params;
      if (typeof id === "string" || typeof id === "number") session.cancel(id, cancelWords(reason));
      return;
    }
    case "notifications/roots/list_changed":
      context.sessions.emit("rootsChanged", session);
      return;
    case "notifications/progress":
      return;
    default:
      context.sessions.emit("notified", session, message.method, paramsText(message.text));
  }
}

/** Reads a client's answer to a server's question. An ambiguous answer becomes an error. */
function clientAnswer(text: string): Answer {
  const twice = repeatedMember(text);
  if (twice === undefined) return answerOf(text);
  return failure(
    new GoblinError("INVALID_REQUEST", `The client's answer cannot be used: "${twice}" appears in it twice`),
  );
}

function setLevel(context: FrontContext, session: Session, params: Params): Answer {
  const level = params["level"];
  if (typeof level !== "string" || severity(level) === -1) {
    return failure(new GoblinError("INVALID_PARAMS", `Unknown log level: ${toDisplayText(level)}`));
  }
  session.logLevel = level as LogLevel;
  context.continuity.logLevel(session.key, level);
  context.sessions.emit("logLevel", session);
  return { ok: true, raw: "{}" };
}
