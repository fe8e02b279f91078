/**
 * Prepares an answer for the client: identifiers get the clients' form, and errors name their
 * server. A server's error keeps its code, message and data, except for secrets from the config.
 */

import { begunTask, exposeTaskIds, splitTaskId } from "../../identifiers/task-ids.ts";
import type { Call } from "../../protocol/call.ts";
import { errorTable } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Answer, rawText, withErrorData } from "../../protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import { exposeUris } from "../../routing/rewrite.ts";
import type { Tasks } from "../../session/tasks.ts";
import type { Masker } from "../../telemetry/masker.ts";
import type { Stage } from "../compose.ts";

export class Output implements Stage {
  readonly #tasks: Tasks;
  readonly #masker: Masker;

  constructor(tasks: Tasks, masker: Masker) {
    this.#tasks = tasks;
    this.#masker = masker;
  }

  leave({ call }: Flight, { serverId, snapshot }: Route, answer: Answer): Answer {
    if (answer.ok) {
      let raw = exposeUris(answer.raw, call.method, { serverId, resources: snapshot.resources });
      if (raw.includes('"taskId"')) raw = this.#withTaskIds(rawText(raw), call, serverId);
      return raw === answer.raw ? answer : { ok: true, raw };
    }
    const extra: Record<string, string> = { serverId };
    if (answer.symbol === undefined && call.method === "prompts/get") {
      const isMissing = answer.code === errorTable.METHOD_NOT_FOUND.rpc;
      extra["code"] = errorTable[isMissing ? "PROMPT_NOT_IMPLEMENTED" : "PROMPT_BACKEND_ERROR"].wire;
    }
    if (answer.symbol !== undefined) extra["requestId"] = call.requestId;
    // A server may quote its own key in an error.
    return withErrorData({ ...answer, raw: this.#masker.json(answer.raw) }, extra);
  }

  #withTaskIds(text: string, { client, params, method }: Call, serverId: string): string {
    const begun = method.startsWith("tasks/") ? undefined : begunTask(text);
    if (begun !== undefined) this.#tasks.started(serverId, begun, client);
    const asked = typeof params["taskId"] === "string" ? params["taskId"] : "";
    const askedOf = splitTaskId(asked)?.taskId;
    return exposeTaskIds(text, (id) => (id === askedOf ? asked : this.#tasks.exposed(serverId, id, client)));
  }
}
