/**
 * Prepares an answer for the client: identifiers get the clients' form, and errors name their
 * server. A server's error keeps its code, message and data, except for secrets from the config.
 */

import { JsonKey } from "../../../lib/json/json-key.ts";
import { includesInSlices, membersInSlices } from "../../../lib/json/json-slices.ts";
import { applyEdits, type Edit, memberText, type Span } from "../../../lib/json/json-text.ts";
import { SECRET_FORMATS } from "../../../lib/text/secrets/formats.ts";
import { finish, inSlices, type Sliced } from "../../../lib/timing/slices.ts";
import { begunTask, exposeTaskIds, splitTaskId } from "../../../mcp/identifiers/task-ids.ts";
import type { Call } from "../../../mcp/protocol/call.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, type Raw, rawText, withErrorData } from "../../../mcp/protocol/json-rpc.ts";
import type { Masker } from "../../../observe/telemetry/masker.ts";
import type { Roster } from "../../../upstream/servers/roster.ts";
import { maskInSlices } from "../../masking/mask-json.ts";
import { SecretFinder } from "../../masking/secret-finder.ts";
import type { Route } from "../../routing/resolve.ts";
import {
  exposeUris,
  exposeUrisInSlices,
  LARGE_RESULT,
  mayNameUris,
  type RewriteContext,
} from "../../routing/rewrite.ts";
import type { SeenUris } from "../../routing/seen-uris.ts";
import type { ServerStates } from "../../session/request-state.ts";
import type { Tasks } from "../../session/tasks.ts";
import type { Stage } from "../compose.ts";

/** The members of a result that can name a task. */
const TASK_MEMBERS = ["resultType", "taskId", "task", "tasks", "_meta"];
const TASK_ID = new JsonKey("taskId");
const IS_ERROR = new JsonKey("isError");
const REQUEST_STATE = new JsonKey("requestState");
/** The members of a result that decide whether it carries a server's state. */
const STATE_MEMBERS = ["resultType", "requestState"];

export interface OutputParts {
  readonly tasks: Tasks;
  readonly masker: Masker;
  readonly roster: Pick<Roster, "get">;
  readonly seen: SeenUris;
  readonly states: Pick<ServerStates, "seal">;
}

/** What servers of the common SDKs say of a tool that they do not have. */
const UNKNOWN_TOOL = /unknown tool|tool [^"]{0,200}(?:not found|does not exist)|no such tool/i;
/** Longer answers are no such refusal. */
const MAX_REFUSAL = 1000;
/** Larger errors are masked in slices. */
const LARGE_ERROR = 64 * 1024;

function refusesTool(answer: Answer): boolean {
  if (answer.ok && !IS_ERROR.isIn(answer.raw)) return false;
  return (answer.ok || answer.symbol === undefined) && UNKNOWN_TOOL.test(rawText(answer.raw));
}

export class Output implements Stage {
  readonly #tasks: Tasks;
  readonly #masker: Masker;
  readonly #roster: Pick<Roster, "get">;
  readonly #seen: SeenUris;
  readonly #states: Pick<ServerStates, "seal">;

  constructor({ tasks, masker, roster, seen, states }: OutputParts) {
    this.#tasks = tasks;
    this.#masker = masker;
    this.#roster = roster;
    this.#seen = seen;
    this.#states = states;
  }

  leave({ call }: Flight, route: Route, answer: Answer): Answer | Promise<Answer> {
    const { serverId } = route;
    if (answer.raw.length < MAX_REFUSAL && call.method === "tools/call" && refusesTool(answer))
      this.#roster.get(serverId)?.contradicted(call.client.key);
    if (answer.ok) {
      if (answer.raw.length > LARGE_RESULT) return this.#leaveLarge(call, route, answer.raw);
      let { raw } = answer;
      if (mayNameUris(raw)) raw = exposeUris(raw, call.method, this.#rewriting(call, route));
      if (TASK_ID.isIn(raw)) raw = this.#withTaskIds(rawText(raw), call, route);
      if (REQUEST_STATE.isIn(raw)) raw = finish(this.#withSealedState(raw, call, route));
      return raw === answer.raw ? answer : { ok: true, raw };
    }
    const extra: Record<string, string> = { serverId };
    if (answer.symbol === undefined && call.method === "prompts/get") {
      const isMissing = answer.code === errorTable.METHOD_NOT_FOUND.rpc;
      extra["code"] = errorTable[isMissing ? "PROMPT_NOT_IMPLEMENTED" : "PROMPT_BACKEND_ERROR"].wire;
    }
    if (answer.symbol !== undefined) extra["requestId"] = call.requestId;
    // A server may quote its own key in an error.
    if (answer.raw.length <= LARGE_ERROR)
      return withErrorData({ ...answer, raw: this.#masker.json(answer.raw) }, extra);
    return this.#maskedLarge(answer.raw).then((raw) => withErrorData({ ...answer, raw }, extra));
  }

  /** Escapes in escapes make the search slow, so a large error must not be searched at once. */
  async #maskedLarge(raw: string): Promise<string> {
    const finder = new SecretFinder(this.#masker.known, SECRET_FORMATS);
    const masked = await inSlices(maskInSlices(Buffer.from(raw), finder, new Map()));
    return masked ? masked.toString("utf8") : raw;
  }

  async #leaveLarge(call: Call, route: Route, answered: Raw): Promise<Answer> {
    const exposing = exposeUrisInSlices(answered, call.method, this.#rewriting(call, route));
    const raw = await inSlices(this.#withSealedState(await inSlices(exposing), call, route));
    if (!(await inSlices(includesInSlices(raw, ['"taskId"'])))) return { ok: true, raw };
    const text = rawText(raw);
    const spans = await inSlices(membersInSlices(text, 0, TASK_MEMBERS));
    const edits: Edit[] = [];
    // Everything about tasks is in these members. A larger one is not about a task.
    const parts = TASK_MEMBERS.flatMap((key, i) => {
      const span = spans[i];
      return span && span.end - span.start < LARGE_RESULT ? [{ key, ...span }] : [];
    });
    const own = `{${parts.map(({ key, start, end }) => `"${key}":${text.slice(start, end)}`).join(",")}}`;
    const exposed = this.#withTaskIds(own, call, route);
    if (exposed === own) return { ok: true, raw };
    for (const { key, start, end } of parts) edits.push({ start, end, text: memberText(exposed, key)! });
    return { ok: true, raw: applyEdits(text, edits) };
  }

  #rewriting({ method, client }: Call, { serverId, snapshot, name, target }: Route): RewriteContext {
    return {
      serverId,
      resources: snapshot.resources,
      asked: method === "resources/read" ? { own: target, form: name } : undefined,
      unlisted: (uri) => this.#seen.add(uri, { serverId, account: client.account }),
    };
  }

  /** Seals the state in a server's questions. All other results stay as they are. */
  *#withSealedState(raw: Raw, call: Call, { serverId }: Route): Sliced<Raw> {
    if (!(yield* includesInSlices(raw, ['"requestState"']))) return raw;
    const text = rawText(raw);
    const [type, state] = yield* membersInSlices(text, 0, STATE_MEMBERS);
    const read = (span: Span): string => text.slice(span.start, span.end);
    if (!type || !state || read(type) !== '"input_required"') return raw;
    return applyEdits(text, [{ ...state, text: this.#states.seal(read(state), call, serverId) }]);
  }

  #withTaskIds(text: string, { client, params, method }: Call, { serverId, name }: Route): string {
    const begun = method.startsWith("tasks/") ? undefined : begunTask(text);
    if (begun !== undefined) this.#tasks.started(serverId, begun, client).tool = name;
    const asked = typeof params["taskId"] === "string" ? params["taskId"] : "";
    const askedOf = splitTaskId(asked)?.taskId;
    return exposeTaskIds(text, (id) => (id === askedOf ? asked : this.#tasks.exposed(serverId, id, client)));
  }
}
