/**
 * The admin API as the gateway holds it: the feed, which is told of everything that happens, and
 * the API itself, which is loaded with the first request. A gateway that nobody looks into does not
 * pay for the API's schemas.
 */
import { lazy } from "../structures/lazy.ts";
import { Feed } from "./feed.ts";
import type { AdminParts } from "./parts.ts";
import { Views } from "./views.ts";

export interface Admin {
  /** `principal`: whoever asks, by the name that the guard found. */
  fetch(request: Request, principal: string): Promise<Response>;
  /** What there is, as rows. */
  readonly views: Views;
  close(): void;
}

export function createAdmin(parts: AdminParts): Admin {
  const views = new Views(parts);
  const feed = new Feed(parts, views);
  const api = lazy(async () => (await import("./api.ts")).createAdminApi(parts, views, feed));
  return {
    fetch: async (request, principal) => (await api()).fetch(request, { principal }),
    views,
    close: () => feed.close(),
  };
}
