/**
 * The last look at an answer before it goes back: identifiers in the clients' form, and errors that
 * say which server they are from. A server's error keeps its code, message and data.
 */
import { errorCodes } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Answer, rawText, withErrorData } from "../../protocol/json-rpc.ts";
import { begunTask, exposeTaskIds } from "../../protocol/task-ids.ts";
import type { Route } from "../../routing/resolve.ts";
import { exposeUris } from "../../routing/rewrite.ts";
import type { Tasks } from "../../session/tasks.ts";
import type { Stage } from "../compose.ts";

export class Output implements Stage {
  readonly #tasks: Tasks;

  constructor(tasks: Tasks) {
    this.#tasks = tasks;
  }

  leave({ call }: Flight, { serverId, snapshot }: Route, answer: Answer): Answer {
    if (answer.ok) {
      let raw = exposeUris(answer.raw, call.method, { serverId, resources: snapshot.resources });
      if (raw.includes('"taskId"')) {
        const text = rawText(raw);
        const begun = begunTask(text);
        if (begun !== undefined) this.#tasks.started(serverId, begun, call.client.key);
        raw = exposeTaskIds(text, snapshot.resources.prefixOf(serverId));
      }
      return raw === answer.raw ? answer : { ok: true, raw };
    }
    const extra: Record<string, string> = { serverId };
    if (answer.symbol === undefined && call.method === "prompts/get") {
      extra["code"] = answer.code === errorCodes.METHOD_NOT_FOUND ? "PROMPT-005" : "PROMPT-003";
    }
    if (answer.symbol !== undefined) extra["requestId"] = call.requestId;
    return withErrorData(answer, extra);
  }
}
