/**
 * The protocol without handshake and sessions, 2026-07-28, on any transport: each request names its
 * own version and its client's capabilities.
 *
 * A server's question during a call becomes the call's answer (`input_required`), and the client's
 * retry resumes the call. Every result names its type and the server that answered. Lists and reads
 * carry cache hints.
 */

import { Dialogue } from "../../core/session/dialogue.ts";
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
  /** Runs the listener when the client cancels the request, with its reason if it gave one. */
  readonly onAbort: (listener: (words?: string) => void) => void;
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** Of the body with the request: a call that is parked keeps it. */
  readonly hold?: BodyHold | undefined;
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
   * Answers one request. A call that waits for input continues in the background. Never rejects: a
   * failure becomes an error answer.
   */
  async answer(message: RequestMessage, options: RoundOptions): Promise<Answer> {
    const { method, params } = message;
    let call: Call | undefined;
    try {
      const dialogue = new Dialogue();
      const client = new RequestClient(params, options, dialogue);
      if (method === "server/discover") {
        await this.#context.directory.whenDescribed(client);
        return this.#finish(client, method, this.#discover(client));
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
      return this.#finish(client, method, await this.#round(call, dialogue, options));
    } catch (error) {
      const answer = failure(error, call && { requestId: call.requestId });
      return toModern(answer, { method, identity: this.#identity, hints: NO_HINTS });
    }
  }

  close(): void {
    this.#parked.close();
  }

  /** Starts or resumes a call, and waits for its answer or for its server's next questions. */
  async #round(call: Call, fresh: Dialogue, { hold, emit, onAbort }: RoundOptions): Promise<Answer> {
    const { heldTasks, relay } = this.#context;
    const opened = this.#parked.open(call.params["requestState"], () => bindingOf(call));
    const isResumed = typeof opened === "object";
    const { dialogue, id } = isResumed ? opened : { dialogue: fresh, id: undefined };
    const sent = opened === "again" ? withoutRetry(call, linksOf(responsesIn(call.text))) : call;
    const task =
      !isResumed && mayBeTask(call) ? heldTasks.watch(sent, { give: (given) => fresh.give(given) }) : undefined;
    dialogue.emit = emit;
    if (isResumed) dialogue.give(responsesIn(call.text));
    else {
      dialogue.run(call, () => {
        const work = task ? runAsTask(sent, this.#context) : relay.handle(sent);
        hold?.until(work);
        return work;
      });
    }
    let isWaiting = true;
    onAbort((words) => {
      if (isWaiting) dialogue.call.cancel("client", words);
    });
    const next = await (task ? Promise.race([task, dialogue.next()]) : dialogue.next());
    isWaiting = false;
    dialogue.rest();
    if (task && sent.task) {
      this.#sendToTask(sent, dialogue);
      return task;
    }
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

  /** Sends the rest of the call's output to its task. */
  #sendToTask(call: Call, dialogue: Dialogue): void {
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
