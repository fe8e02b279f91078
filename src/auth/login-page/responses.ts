/** Answers of the page. */
import { type Page, pageResponse } from "../../lib/html/page.ts";

/** A page that opened this one, or that this one leads to, gets no hold of it. */
const APART = { "cross-origin-opener-policy": "same-origin" };

/** Returns the URL of something under `/connect/`. */
export function at(base: URL, path: string): string {
  return `${base.href.replace(/\/$/, "")}/connect/${path}`;
}

export function answer(status: number, page: Page, headers: Readonly<Record<string, string>> = {}): Response {
  return pageResponse(page, { status, headers: { ...APART, ...headers } });
}

export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 303, headers: { "cache-control": "no-store", location, ...headers } });
}
