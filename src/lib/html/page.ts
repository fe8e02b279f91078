/**
 * The frame of the pages that the gateway serves to people's browsers: HTML, its headers and its
 * one stylesheet.
 *
 * Invariant: the pages need no script, load nothing from elsewhere and cannot be framed. Every text
 * in them goes through `escapeHtml`: names and errors come from servers and clients.
 */
import { clean } from "../text/clean.ts";
import { STYLE } from "./style.ts";

export interface Page {
  readonly title: string;
  /** The content, as HTML. */
  readonly body: string;
  /** The address of the stylesheet. */
  readonly style: string;
  /** More for the head, as HTML. */
  readonly head?: string | undefined;
}

export interface PageOptions {
  readonly status?: number | undefined;
  /** Where forms of the page may lead besides the gateway. */
  readonly formTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Returns the text for HTML, in printable characters. */
export function escapeHtml(text: string): string {
  return clean(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function pageResponse({ title, body, style, head = "" }: Page, options: PageOptions = {}): Response {
  const { status = 200, formTarget, headers } = options;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} – Goblin</title>
<link rel="stylesheet" href="${style}">${head}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return new Response(html, { status, headers: { ...pageHeaders(formTarget), ...headers } });
}

function pageHeaders(formTarget: string | undefined): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      "style-src 'self'",
      // A browser checks the redirects of a form, too.
      `form-action 'self'${formTarget === undefined ? "" : ` ${formTarget}`}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not "no-referrer": then browsers would send "Origin: null" with the page's own forms.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

export function styleResponse(): Response {
  const headers = { "content-type": "text/css; charset=utf-8", "cache-control": "max-age=3600" };
  return new Response(STYLE, { headers: { ...headers, "x-content-type-options": "nosniff" } });
}
