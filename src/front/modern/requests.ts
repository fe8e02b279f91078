/**
 * The protocol without handshake and sessions, 2026-07-28, on any transport: each request names its
 * own version and its client's capabilities.
 *
 * A server's question during a call becomes the call's answer (`input_required`), and the client's
 * retry resumes the call. Every result names its type and the server that answered. Lists and reads
 * carry cache hints.
 */

import { Dialogue, type Question } from "../../core/session/dialogue.ts";
import { ParkedCalls } from "../../core/session/parked.ts";
import { bindingOf } from "../../core/session/request-state.ts";
import { dropMembers, eachMember, memberSpan, memberText } from "../../lib/json/json-text.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { Call, type Client, type LinkOutcome } from "../../mcp/protocol/call.ts";
import {
  CLIENT_CAPABILITIES,
  CLIENT_INFO,
  metaOf,
  modernVersions,
  PROTOCOL_VERSION,
} from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import {
  type Answer,
  failure,
  type Inbound,
  type Params,
  requestParams,
  success,
} from "../../mcp/protocol/json-rpc.ts";
import { listMethods, routedMethods } from "../../mcp/protocol/methods.ts";
import type { Viewer } from "../../mcp/protocol/principal.ts";
import { NO_HINTS } from "../../upstream/catalog/definitions.ts";
import type { BodyHold } from "../bodies/body-budget.ts";
import type { FrontContext } from "../context.ts";
import { hasTasks, mayBeTask, missingTasks, runAsTask } from "./as-task.ts";
import { RequestClient, type RequestSender } from "./request-client.ts";
import { linkQuestions, toModern } from "./result.ts";

type RequestMessage = Extract<Inbound, { kind: "request" }>;

export interface RoundOptions extends RequestSender {
  /** Sends a notification that belongs to this request. */
  readonly emit: (text: string) => void;
  /** Gets the answer, once. A promise for each step would be more than 1 % of a small call. */
  readonly done: (answer: Answer) => void;
  /** Runs the listener when the client cancels the request, with its reason if it gave one. */
  readonly onAbort: (listener: (words?: string) => void) => void;
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** Of the body with the request: a call that is parked keeps it. */
  readonly hold?: BodyHold | undefined;
}

interface Round {
  readonly options: RoundOptions;
  /** Answers with what the function returns, or with the error that it throws. */
  readonly settle: (make: () => Answer) => void;
  readonly fail: (error: unknown) => void;
}

/** What one round is about. */
interface Asked {
  readonly call: Call;
  readonly dialogue: Dialogue;
  /** The id of the call that waited, if it did. */
  readonly id: string | undefined;
}

/** Methods of the experimental tasks in 2025-11-25, which the extension does not have. */
const removedMethods = new Set(["tasks/list", "tasks/result"]);

/** Methods that the gateway's own tasks have. */
const ownMethods = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

export class ModernFront {
  readonly #context: FrontContext;
  readonly #parked: ParkedCalls;
  /** The gateway's server info, in JSON. */
  readonly #identity: string;

  constructor(context: FrontContext) {
    this.#context = context;
    this.#parked = new ParkedCalls({
      limit: () => context.config.current.limits.callsAwaitingInput,
      onLimit: context.onLimit,
      key: context.continuity.keyFor("parked calls"),
      own: (state) => context.continuity.own(state),
    });
    this.#identity = JSON.stringify(context.directory.serverInfo);
  }

  /** Whether this version has the method. */
  knows(method: string, viewer: Viewer): boolean {
    return (
      method === "server/discover" ||
      listMethods.get(method) !== undefined ||
      routedMethods.get(method) !== undefined ||
      (this.#context.directory.routesExtension(method, viewer) && !removedMethods.has(method)) ||
      (ownMethods.has(method) && this.#hasOwnTasks(viewer))
    );
  }

  /**
   * Answers one request. A call that waits for input continues in the background. Never throws: a
   * failure becomes an error answer.
   */
  answer(message: RequestMessage, options: RoundOptions): void {
    const { method, params } = message;
    const dialogue = new Dialogue();
    const client = new RequestClient(params, options, dialogue);
    let call: Call | undefined;
    let isDone = false;
    const finish = (make: () => Answer): Answer => {
      try {
        return this.#finish(client, method, make());
      } catch (error) {
        const answer = failure(error, call && { requestId: call.requestId });
        return toModern(answer, { method, identity: this.#identity, hints: NO_HINTS });
      }
    };
    const settle = (make: () => Answer): void => {
      if (isDone) return;
      const answer = finish(make);
      isDone = true;
      options.done(answer);
    };
    const fail = (error: unknown): void => {
      // A defect of `done`, which must not be hidden.
      if (isDone) throw error;
      settle(() => {
        throw error;
      });
    };
    try {
      if (method === "server/discover") {
        const described = this.#context.directory.whenDescribed(client) ?? Promise.resolve();
        return void described.then(() => settle(() => this.#discover(client)), fail);
      }
      if (method.startsWith("tasks/") && !hasTasks(client)) throw missingTasks();
      const { text, nameAt } = requestParams(message.text);
      call = new Call({
        id: message.id,
        method,
        params,
        text,
        nameAt,
        client,
        emit: (notification) => dialogue.emit(notification),
        trace: options.trace,
      });
      this.#round(call, dialogue, { options, settle, fail });
    } catch (error) {
      fail(error);
    }
  }

  close(): void {
    this.#parked.close();
  }

  #round(call: Call, fresh: Dialogue, { options, settle, fail }: Round): void {
    const { hold, emit, onAbort } = options;
    const opened = this.#parked.open(call.params["requestState"], () => bindingOf(call));
    let dialogue = fresh;
    let id: string | undefined;
    let asked: Call | undefined;
    let begun: Promise<Answer> | undefined;
    if (typeof opened === "object") {
      ({ dialogue, id } = opened);
      dialogue.emit = emit;
      dialogue.give(responsesIn(call.text));
    } else {
      const again = opened === "again" ? withoutRetry(call, linksOf(responsesIn(call.text))) : call;
      if (mayBeTask(call)) begun = this.#context.heldTasks.watch(again, { give: (given) => fresh.give(given) });
      asked = again;
      fresh.emit = emit;
      fresh.run(call, () => {
        const work = begun ? runAsTask(again, this.#context) : this.#context.relay.handle(again);
        hold?.until(work);
        return work;
      });
    }
    let waiting = true;
    onAbort((words) => {
      if (waiting) dialogue.call.cancel("client", words);
    });
    const ended = (next: Answer | readonly Question[]): void => {
      waiting = false;
      dialogue.rest();
      if (begun && asked?.task) {
        this.#goOn(asked, dialogue);
        void begun.then((answer) => settle(() => answer), fail);
      } else settle(() => this.#outcome(next, { call, dialogue, id }));
    };
    if (begun) void Promise.race([begun, dialogue.next()]).then(ended).catch(fail);
    else dialogue.whenNext(ended);
  }

  /** Returns the answer to one round: that of the call, or what the server asks. */
  #outcome(next: Answer | readonly Question[], { call, dialogue, id }: Asked): Answer {
    if (!("ok" in next)) return this.#parked.park(dialogue, next, { binding: bindingOf(call), known: id });
    if (id !== undefined) this.#parked.forget(id);
    const questions = next.ok ? undefined : linkQuestions(next, call.client);
    return questions ? this.#parked.again(questions, bindingOf(call)) : next;
  }

  /** Whether there may be tasks of the gateway, also after the rules have changed. */
  #hasOwnTasks(viewer: Viewer): boolean {
    const { heldTasks } = this.#context;
    return heldTasks.isOffered(viewer) || heldTasks.size > 0;
  }

  /** Has what comes of a call that is a task now go to the task. */
  #goOn(call: Call, dialogue: Dialogue): void {
    const { heldTasks } = this.#context;
    dialogue.follow((next) => {
      if ("ok" in next) heldTasks.ended(call, this.#finish(call.client, call.method, next));
      else heldTasks.needs(call, next);
    });
  }

  #discover(client: Client): Answer {
    const { capabilities, instructions } = this.#context.directory.describe(client);
    return success({ supportedVersions: modernVersions, capabilities, ...(instructions && { instructions }) });
  }

  #finish(client: Client, method: string, answer: Answer): Answer {
    const hints = this.#context.directory.cacheHints(method, client);
    const isPrivate = client.principal !== "" || client.visibility !== undefined;
    return toModern(answer, { method, identity: this.#identity, hints, isPrivate });
  }
}

/** Returns the problem with the request's version, capabilities or client info, if any. */
export function envelopeProblem(params: Params): GoblinError | undefined {
  const meta = metaOf(params) ?? {};
  const version = meta[PROTOCOL_VERSION];
  if (typeof version !== "string")
    return new GoblinError("INVALID_PARAMS", `_meta needs "${PROTOCOL_VERSION}", a string`);
  const capabilities = meta[CLIENT_CAPABILITIES];
  if (!isRecord(capabilities)) {
    return new GoblinError("INVALID_PARAMS", `_meta needs "${CLIENT_CAPABILITIES}", an object`);
  }
  const info = meta[CLIENT_INFO];
  if (info !== undefined && !isRecord(info)) {
    return new GoblinError("INVALID_PARAMS", `_meta "${CLIENT_INFO}" must be an object`);
  }
  if (modernVersions.includes(version)) return undefined;
  const message = `Unsupported protocol version: ${version.slice(0, 40)}`;
  return new GoblinError("UNSUPPORTED_PROTOCOL_VERSION", message, {
    data: { supported: [...modernVersions], requested: version },
  });
}

function responsesIn(paramsJson: string): Map<string, string> {
  const responses = new Map<string, string>();
  const span = memberSpan(paramsJson, 0, "inputResponses");
  if (span) eachMember(paramsJson, span.start, (key, start, end) => responses.set(key, paramsJson.slice(start, end)));
  return responses;
}

/** Returns the same request without the members of the previous round. */
function withoutRetry(call: Call, links: LinkOutcome): Call {
  const { inputResponses: _, requestState: __, ...params } = call.params;
  const text = dropMembers(call.text, (key) => key === "inputResponses" || key === "requestState");
  return call.derive({ method: call.method, params, text, links });
}

/** Whether the user agreed to open all links. */
function linksOf(responses: ReadonlyMap<string, string>): LinkOutcome {
  const isOpened = [...responses.values()].every((raw) => memberText(raw, "action") === '"accept"');
  return isOpened && responses.size > 0 ? "opened" : "refused";
}
