/**
 * The one entrance for requests: lists come from the catalog's bytes, what names something goes
 * through the pipeline to its owner, subscriptions to their book. Never throws: whatever goes wrong
 * is an answer.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { Call } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { listMethods, lookUp, routedMethods } from "../protocol/methods.ts";
import { resolveExtension } from "../routing/extension.ts";
import { type Route, resolve } from "../routing/resolve.ts";
import type { Send } from "./compose.ts";

type Handle = (call: Call) => Promise<Answer>;

export interface DispatchOptions {
  readonly catalog: Catalog;
  /** The composed pipeline. */
  readonly run: Send;
  /** Methods that are about the client rather than about a server's thing. */
  readonly own: Readonly<Record<string, Handle>>;
  /** The gateway's own tools, by name. */
  readonly localTool: (name: unknown) => Handle | undefined;
  /** The servers that declared the extension which a method belongs to. */
  readonly extensionOwners: (method: string) => readonly string[];
  /** Around whatever does not go through the pipeline. */
  readonly aside: (handle: Handle) => Handle;
  /** Told of requests that never reached a server. */
  readonly refused: (call: Call, answer: Answer) => void;
}

export function createDispatch(options: DispatchOptions): Handle {
  const { catalog, run, own, localTool, extensionOwners, aside } = options;

  const refuse = (call: Call, error: unknown): Answer => {
    const answer = failure(error, { requestId: call.requestId });
    options.refused(call, answer);
    return answer;
  };
  const send = (call: Call, route: Route): Promise<Answer> => {
    call.serverId = route.serverId;
    call.target = route.target;
    return run(call, route);
  };
  const answerAside = (call: Call, handle: Handle): Promise<Answer> =>
    aside(handle)(call).catch((error: unknown) => refuse(call, error));

  return (call) => {
    try {
      const routed = lookUp(routedMethods, call.method);
      if (routed) {
        const local = routed.names === "tool" ? localTool(call.params["name"]) : undefined;
        return local ? answerAside(call, local) : send(call, resolve(call, routed, catalog.snapshot));
      }
      const list = lookUp(listMethods, call.method);
      if (list) {
        return Promise.resolve({ ok: true, raw: catalog.snapshot.pagers[list.kind].page(call.params["cursor"]) });
      }
      const handler = lookUp(own, call.method);
      if (handler) return answerAside(call, handler);
      const owners = extensionOwners(call.method);
      if (owners.length > 0) return send(call, resolveExtension(call, owners, catalog.snapshot));
      throw new GoblinError("METHOD_NOT_FOUND", `Method not found: ${call.method.slice(0, 100)}`);
    } catch (error) {
      return Promise.resolve(refuse(call, error));
    }
  };
}
