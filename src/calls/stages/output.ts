/**
 * The last look at an answer before it goes back: identifiers in the clients' form, and errors that
 * say which server they are from. A server's error keeps its code, message and data.
 */
import type { Call } from "../../protocol/call.ts";
import { rawText, withErrorData } from "../../protocol/json-rpc.ts";
import { begunTask, exposeTaskIds } from "../../protocol/task-ids.ts";
import { exposeUris } from "../../routing/rewrite.ts";
import type { Stage } from "../compose.ts";

export interface OutputOptions {
  /** Instead of an answer the server began a task. */
  taskStarted(serverId: string, taskId: string, call: Call): void;
}

export function output({ taskStarted }: OutputOptions): Stage {
  return {
    leave(call, route, answer) {
      if (answer.ok) {
        const { serverId, snapshot } = route;
        let raw = exposeUris(answer.raw, call.method, { serverId, resources: snapshot.resources });
        if (raw.includes('"taskId"')) {
          const text = rawText(raw);
          const begun = begunTask(text);
          if (begun !== undefined) taskStarted(serverId, begun, call);
          raw = exposeTaskIds(text, snapshot.resources.prefixOf(serverId));
        }
        return raw === answer.raw ? answer : { ok: true, raw };
      }
      const extra: Record<string, string> = { serverId: route.serverId };
      if (answer.symbol === undefined && call.method === "prompts/get") {
        extra["code"] = answer.code === -32601 ? "PROMPT-005" : "PROMPT-003";
      }
      if (answer.symbol !== undefined) extra["requestId"] = call.requestId;
      return withErrorData(answer, extra);
    },
  };
}
