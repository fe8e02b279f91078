/**
 * The admin API as the gateway sees it. The feed listens from the start. The API itself loads with
 * its first request, so an unused API's schemas cost nothing.
 */
import type { ReplicaQuestion } from "../../cluster/listener.ts";
import type { Verdict } from "../../front/http/guard.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { ApiRows } from "./api-rows.ts";
import { Feed } from "./feed.ts";
import { LiveCalls } from "./live/live-calls.ts";
import { Watches } from "./live/watch-resource.ts";
import type { AdminParts } from "./parts.ts";

export interface Admin {
  /** `principal`: the caller's name, as established by the guard. */
  fetch(request: Request, principal: Principal): Promise<Response>;
  page(request: Request, authorize: () => Verdict | Promise<Verdict>): Promise<Response>;
  /** Answers another replica, for this one alone. */
  answerReplica(question: ReplicaQuestion): void;
  /** The gateway's state as the API's rows. */
  readonly rows: ApiRows;
  close(): void;
}

export function createAdmin(parts: AdminParts): Admin {
  const rows = new ApiRows(parts);
  const feed = new Feed(parts, rows);
  const live = { calls: new LiveCalls(parts), watches: new Watches(parts) };
  const api = lazy(async () => (await import("./api.ts")).createAdminApi(parts, { rows, feed, ...live }));
  const page = lazy(async () => (await import("./page/page.ts")).createPage(parts));
  const answerReplica = async (question: ReplicaQuestion): Promise<void> => {
    const { answerReplica: answer } = await import("./replicas/other-replicas.ts");
    await answer(question, async (request, principal) => (await api()).fetch(request, { principal, isAsked: true }));
  };
  return {
    answerReplica: (question) => void answerReplica(question).catch(() => question.outgoing.destroy()),
    page: async (request, authorize) => (await page()).fetch(request, { authorize }),
    fetch: async (request, principal) => (await api()).fetch(request, { principal }),
    rows,
    close() {
      feed.close();
      live.calls.close();
      live.watches.close();
    },
  };
}
