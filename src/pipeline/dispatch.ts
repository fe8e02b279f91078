/**
 * The one entrance for requests: lists come from the catalog's bytes, what names something goes through the pipeline to its
 * owner, subscriptions to their book. Never throws: whatever goes wrong is an answer.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { Call } from "../model/call.ts";
import { GoblinError } from "../model/errors.ts";
import { type Answer, failure } from "../model/json-rpc.ts";
import { listMethods, lookUp, routedMethods } from "../model/methods.ts";
import { resolveExtension } from "../router/extension.ts";
import { resolve } from "../router/resolve.ts";
import type { Next } from "./compose.ts";

export interface DispatchOptions {
  readonly catalog: Catalog;
  /** The composed pipeline. */
  readonly run: Next;
  /** Methods that are about the client rather than about a server's thing. */
  readonly own: Readonly<Record<string, (call: Call) => Promise<Answer>>>;
  /** The gateway's own tools, by name. */
  readonly localTool: (name: unknown) => ((call: Call) => Promise<Answer>) | undefined;
  /** The servers that declared the extension which a method belongs to. */
  readonly extensionOwners: (method: string) => readonly string[];
  /** Told of requests that never reached a server. */
  readonly refused: (call: Call, answer: Answer) => void;
}

export function createDispatch(options: DispatchOptions): (call: Call) => Promise<Answer> {
  const { catalog, run, own, localTool, extensionOwners, refused } = options;

  return async (call) => {
    try {
      const routed = lookUp(routedMethods, call.method);
      if (routed) {
        const local = routed.names === "tool" ? localTool(call.params["name"]) : undefined;
        if (local) return await local(call);
        const route = resolve(call, routed, catalog.snapshot);
        call.serverId = route.serverId;
        return await run(call, route);
      }
      const list = lookUp(listMethods, call.method);
      if (list) return { ok: true, raw: catalog.snapshot.pagers[list.kind].page(call.params["cursor"]) };
      const handler = lookUp(own, call.method);
      if (handler) return await handler(call);
      const owners = extensionOwners(call.method);
      if (owners.length > 0) {
        const route = resolveExtension(call, owners, catalog.snapshot);
        call.serverId = route.serverId;
        return await run(call, route);
      }
      throw new GoblinError("METHOD_NOT_FOUND", `Method not found: ${call.method.slice(0, 100)}`);
    } catch (error) {
      const answer = failure(error, { requestId: call.requestId });
      refused(call, answer);
      return answer;
    }
  };
}
