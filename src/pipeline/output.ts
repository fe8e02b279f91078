/**
 * The last look at an answer before it goes back: identifiers in the clients' form, and errors that say which server they are from.
 * A server's error keeps its code, message and data.
 */
import { rawText, withErrorData } from "../model/json-rpc.ts";
import { exposeTaskIds } from "../model/task-ids.ts";
import { exposeUris } from "../router/rewrite.ts";
import type { Stage } from "./compose.ts";

export function output(): Stage {
  return {
    leave(call, route, answer) {
      if (answer.ok) {
        const { serverId, snapshot } = route;
        let raw = exposeUris(answer.raw, call.method, { serverId, resources: snapshot.resources });
        if (raw.includes('"taskId"')) raw = exposeTaskIds(rawText(raw), snapshot.resources.prefixOf(serverId));
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
