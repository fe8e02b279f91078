/**
 * The admin API as the gateway holds it: the feed, which is told of everything that happens, and an app that loads the API itself with the
 * first request. A gateway that nobody looks into does not pay for the API's schemas.
 */
import { Hono } from "hono";
import { once } from "../model/once.ts";
import { Feed } from "./feed.ts";
import type { AdminSources } from "./sources.ts";
import { Views } from "./views.ts";

/** The guard leaves the name of whoever asks. */
type AdminEnv = { Variables: { principal: string } };

export interface Admin {
  readonly app: Hono<AdminEnv>;
  readonly feed: Feed;
  close(): void;
}

export function createAdmin(sources: AdminSources): Admin {
  const views = new Views(sources);
  const feed = new Feed(sources, views);
  const api = once(async () => (await import("./api.ts")).createAdminApi(sources, views, feed));
  const app = new Hono<AdminEnv>();
  app.all("/api/*", async (c) => (await api()).fetch(c.req.raw, { principal: c.get("principal") ?? "" }));
  return { app, feed, close: () => feed.close() };
}
