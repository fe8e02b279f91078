/**
 * Serves the page at /ui: its files, and the session of a browser.
 *
 * Invariant: the document runs no inline script or style, loads nothing from elsewhere, and cannot
 * be framed. A server's app runs in a frame whose own policy gives it no origin and no network.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { PAGE_COOKIE } from "../../../auth/identity/page-sessions.ts";
import type { Verdict } from "../../../front/http/guard.ts";
import { readPackageFile } from "../../../lib/package/files.ts";
import { apiFailure, failureResponse } from "../failure.ts";
import type { AdminParts } from "../parts.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const FILES = ["index.html", "page.js", "style.css", "icon.svg"] as const;
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const FRAME_SCRIPT = `addEventListener("message",(e)=>{if(e.source!==parent||typeof e.data?.html!=="string")return;document.open();document.write(e.data.html);document.close()},{once:true});parent.postMessage("goblin-frame-ready","*")`;
const FRAME = `<!doctype html><meta charset="utf-8"><title>App</title><script>${FRAME_SCRIPT}</script>`;
const FRAME_POLICY = [
  "sandbox allow-scripts",
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "media-src data: blob:",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");
const SHARED = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
const MAX_BODY = 4096;

interface File {
  readonly bytes: Buffer;
  readonly packed: Buffer;
  readonly tag: string;
  readonly type: string;
}

type PageEnv = { Bindings: { authorize: () => Verdict | Promise<Verdict> } };

export function createPage({ config, guards }: Pick<AdminParts, "config" | "guards">): Hono<PageEnv> {
  const { pages } = guards;
  const files = new Map<string, Promise<File>>();
  const file = (name: string): Promise<File> => {
    const known = files.get(name) ?? read(name);
    files.set(name, known);
    known.catch(() => files.delete(name));
    return known;
  };
  const send = async (name: string, request: Request): Promise<Response> => {
    const { bytes, packed, tag, type } = await file(name);
    const headers = new Headers({
      ...SHARED,
      "content-type": type,
      etag: tag,
      "cache-control": "no-cache",
      vary: "accept-encoding",
    });
    if (name === "index.html") headers.set("content-security-policy", POLICY);
    if (request.headers.get("if-none-match") === tag) return new Response(null, { status: 304, headers });
    if (!/\bgzip\b/.test(request.headers.get("accept-encoding") ?? ""))
      return new Response(new Uint8Array(bytes), { headers });
    headers.set("content-encoding", "gzip");
    return new Response(new Uint8Array(packed), { headers });
  };
  /** Whether the browser came over TLS, as far as the config tells: a proxy may be in between. */
  const isSecure = (request: Request): boolean => {
    const { tls, publicUrl } = config.current.gateway;
    if (tls) return true;
    if (publicUrl === undefined || !publicUrl.startsWith("https:")) return false;
    const { host, origin } = new URL(publicUrl);
    // A proxy may put another name into Host, but leaves Origin as it is.
    return request.headers.get("host")?.toLowerCase() === host || request.headers.get("origin") === origin;
  };
  const cookie = (request: Request, value: string, seconds: number): string =>
    `${PAGE_COOKIE}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}${isSecure(request) ? "; Secure" : ""}`;

  const app = new Hono<PageEnv>();
  app.use("/ui/session", bodyLimit({ maxSize: MAX_BODY }));
  app.post("/ui/session", async (c) => {
    // Like every action, it must be JSON: a page of another origin cannot send that unasked.
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? ""))
      return failureResponse(apiFailure("NOT_JSON", "Content-Type must be application/json"));
    const body = (await c.req.json().catch(() => ({}))) as { code?: unknown };
    let principal = typeof body.code === "string" ? pages.redeem(body.code) : undefined;
    if (!principal) {
      const verdict = await c.env.authorize();
      if (!verdict.ok) return c.json({ error: { code: "UNAUTHORIZED", message: verdict.message } }, verdict.status);
      principal = verdict.principal;
    }
    const session = pages.open(principal);
    return c.json({ key: session.key }, 200, { "set-cookie": cookie(c.req.raw, session.cookie, session.seconds) });
  });
  app.delete("/ui/session", (c) => {
    pages.end({ header: (name) => c.req.header(name) });
    return c.body(null, 204, { "set-cookie": cookie(c.req.raw, "", 0) });
  });
  app.get("/ui/frame", (c) => c.html(FRAME, 200, { ...SHARED, "content-security-policy": FRAME_POLICY }));
  app.get("/ui/:file{.+\\.(?:js|css|svg)}", (c) => {
    const name = FILES.find((known) => known === c.req.param("file"));
    return name ? send(name, c.req.raw) : c.notFound();
  });
  app.get("/ui", (c) => send("index.html", c.req.raw));
  app.get("/ui/*", (c) => send("index.html", c.req.raw));
  return app;
}

async function read(name: string): Promise<File> {
  const bytes = readPackageFile(`bundle/page/${name}`);
  const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { bytes, packed: await promisify(gzip)(bytes), tag, type: TYPES[name.slice(name.lastIndexOf(".") + 1)]! };
}
