/**
 * The API of a gateway with workers: it shows all of them together, and an action reaches the right
 * one, or all. The first worker serves it; each worker has the plain API for itself.
 */
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { GatewayState, Moment, PromptRow, ResourceRow, ServerRow, ToolRow } from "../schema.ts";
import {
  type List,
  mergeHistory,
  mergePrompts,
  mergeRecording,
  mergeResources,
  mergeServer,
  mergeServers,
  mergeState,
  mergeTools,
  timeline,
  union,
  type WorkerValue,
} from "./merge.ts";
import type { SiblingAnswer, Siblings } from "./siblings.ts";
import { WholeFeed } from "./whole-feed.ts";

type Fetch = (request: Request, principal: Principal) => Promise<Response>;
/** The values come from the same program's API. */
// biome-ignore lint/suspicious/noExplicitAny: each merge names the type of its route
type Merge = (said: readonly WorkerValue<any>[], query: URLSearchParams) => unknown;

/** How the answers of all workers become one. */
const MERGED: readonly (readonly [path: RegExp, merge: Merge])[] = [
  [/^\/api\/state$/, (said: readonly WorkerValue<GatewayState>[]) => mergeState(said)],
  [/^\/api\/history$/, (said: readonly WorkerValue<List<Moment>>[]) => mergeHistory(said)],
  [/^\/api\/servers$/, (said: readonly WorkerValue<List<ServerRow>>[]) => mergeServers(said)],
  [
    /^\/api\/servers\/[^/]+$/,
    (said: readonly WorkerValue<ServerRow>[]) => ({ ...said[0]!.value, ...mergeServer(said) }),
  ],
  [/^\/api\/tools$/, (said: readonly WorkerValue<List<ToolRow>>[]) => mergeTools(said)],
  [/^\/api\/prompts$/, (said: readonly WorkerValue<List<PromptRow>>[]) => mergePrompts(said)],
  [/^\/api\/resources$/, (said: readonly WorkerValue<List<ResourceRow>>[]) => mergeResources(said)],
  [/^\/api\/(sessions|subscriptions|approvals|approval-grants)$/, union],
  [/^\/api\/calls$/, (said) => timeline(said)],
  [/^\/api\/recording$/, mergeRecording],
  [/^\/api\/logs$/, (said, query) => timeline(said, Number(query.get("limit") ?? LINES))],
];
const LINES = 1000;
/** What one worker has, and the others do not know. */
const WHEREVER = /^\/api\/(calls|approvals|approval-grants)\/[^/]+(\/(text|answer|allow|deny))?$/;
/** What must happen at all workers. */
const EVERYWHERE =
  /^\/api\/(reload|log-level|recording|recording\/stop|servers\/[^/]+\/(restart|enable|disable)|lock\/[^/]+\/switch)$/;

export function createWholeApi(own: Fetch, siblings: Siblings): Fetch {
  return async (request, principal) => {
    const { pathname, search, searchParams } = new URL(request.url);
    if (pathname === "/api/events") {
      const stream = await own(request, principal);
      const ownList = async (name: string): Promise<string> =>
        (await own(new Request(new URL(`/api/${name}`, request.url)), principal)).text();
      return stream.ok ? new WholeFeed(siblings, principal, ownList).open(stream) : stream;
    }
    const merge = request.method === "GET" ? MERGED.find(([path]) => path.test(pathname))?.[1] : undefined;
    const isWherever = !merge && WHEREVER.test(pathname);
    const isEverywhere = request.method !== "GET" && EVERYWHERE.test(pathname);
    if (!merge && !isWherever && !isEverywhere) return own(request, principal);
    const hasBody = request.method === "POST" || request.method === "PUT";
    const kept = hasBody ? request.clone() : undefined;
    const first = await own(request, principal);
    if (isWherever ? first.status !== 404 : !first.ok) {
      void kept?.body?.cancel().catch(() => {});
      return first;
    }
    const asked = { method: request.method, path: pathname + search, principal, body: await kept?.text() };
    const others = await siblings.all(asked);
    if (isWherever) return responseOf(others.find(({ status }) => status !== 404)) ?? first;
    const failed = isEverywhere ? others.find(({ status }) => status >= 400) : undefined;
    if (!merge) return responseOf(failed) ?? first;
    const said: WorkerValue<unknown>[] = [{ worker: FIRST, value: await first.json() }];
    for (const { worker, status, text } of others) if (status < 400) said.push({ worker, value: JSON.parse(text) });
    return Response.json(merge(said, searchParams));
  };
}

const FIRST = 1;

function responseOf(answer: SiblingAnswer | undefined): Response | undefined {
  if (!answer) return undefined;
  return new Response(answer.text, { status: answer.status, headers: { "content-type": "application/json" } });
}
