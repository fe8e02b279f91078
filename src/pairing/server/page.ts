/**
 * The pages that a person sees while pairing: the question, and what went wrong.
 *
 * Every text of a client is escaped. The pages need no script, load nothing from elsewhere, and
 * cannot be framed. A form may lead only here and to where the client is.
 */
import { CODE_DIGITS } from "../codes.ts";

export interface ConsentView {
  readonly clientName: string;
  /** The host that published the client's metadata; undefined if anybody could say its name. */
  readonly publishedBy: string | undefined;
  readonly redirectHost: string;
  /** The gateway's own host. */
  readonly gateway: string;
  /** The only profile that the client asks for. */
  readonly profile: string | undefined;
  /** The profiles to choose from otherwise. */
  readonly profiles: readonly string[];
  readonly ticket: string;
  /** What was wrong with the last attempt. */
  readonly problem?: string | undefined;
}

export interface PageOptions {
  readonly status?: number;
  /** Where forms of the page may lead besides the gateway. */
  readonly formTarget?: string | undefined;
  readonly cookie?: string | undefined;
}

export function consentPage(view: ConsentView, options: PageOptions): Response {
  const { clientName, publishedBy, redirectHost, gateway, ticket, problem, profile, profiles } = view;
  const isChoice = profile === undefined && profiles.length > 0;
  const access = profile === undefined ? "every server of the gateway" : `the profile ${escaped(profile)}`;
  const who =
    publishedBy === undefined
      ? "It calls itself that; nobody checked it."
      : `Its description is published at ${escaped(publishedBy)}.`;
  const body = `<h1>Let <strong>${escaped(clientName)}</strong> use your Goblin?</h1>
<dl>
<dt>Client</dt><dd><b>${escaped(clientName)}</b><br><small>${who}</small></dd>
<dt>Leads back to</dt><dd><b>${escaped(redirectHost)}</b><br>
<small>If this is not where you came from, cancel.</small></dd>
<dt>Gateway</dt><dd>${escaped(gateway)}</dd>
${isChoice ? "" : `<dt>Access</dt><dd>${access}</dd>`}
</dl>
<form method="post" action="authorize" autocomplete="off">
<input type="hidden" name="ticket" value="${escaped(ticket)}">
${isChoice ? choiceOf(profiles) : ""}
<label for="code">Code</label>
<p class="hint" id="hint">Run <code>goblin pair</code> on the machine of the gateway. It prints the code.</p>
${problem === undefined ? "" : `<p class="problem" role="alert">${escaped(problem)}</p>`}
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required autofocus
 maxlength="${CODE_DIGITS + 4}" spellcheck="false" placeholder="0000 0000" aria-describedby="hint">
<div class="buttons">
<button name="choice" value="allow">Connect</button>
<button name="choice" value="deny" class="quiet" formnovalidate>Cancel</button>
</div>
</form>`;
  return page("Connect a client", body, options);
}

function choiceOf(profiles: readonly string[]): string {
  const options = ["", ...profiles].map((name) => {
    const text = name === "" ? "every server of the gateway" : `the profile ${escaped(name)}`;
    const checked = name === "" ? " checked" : "";
    return `<label class="choice"><input type="radio" name="profile" value="${escaped(name)}"${checked}> ${text}</label>`;
  });
  return `<fieldset><legend>Access</legend>${options.join("")}</fieldset>`;
}

/** `back`: where the client waits for an answer. */
export function problemPage(message: string, status = 400, back?: { to: string; host: string }): Response {
  const link = back && `<p><a href="${escaped(back.to)}" rel="noreferrer">Go back to ${escaped(back.host)}</a></p>`;
  const body = `<h1>This did not work</h1>
<p>${escaped(message)}.</p>
${link ?? "<p>Go back to your client and connect again.</p>"}`;
  return page("Not connected", body, { status });
}

function page(title: string, body: string, { status = 200, formTarget, cookie }: PageOptions): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – Goblin</title>
<link rel="stylesheet" href="page.css">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  const headers = new Headers({
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
    // Nothing about this page goes to another site, but its own form must name its origin.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  });
  if (cookie !== undefined) headers.set("set-cookie", cookie);
  return new Response(html, { status, headers });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const PAGE_CSS = `:root {
  color-scheme: light dark;
  --text: #1d1f21; --quiet: #5b6168; --ground: #f6f6f4; --card: #fff; --line: #d9dad6; --accent: #2f6f3e;
  --on-accent: #fff; --problem: #a3261c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8e8e6; --quiet: #a4a9ae; --ground: #151716; --card: #1e2120; --line: #3a3e3c; --accent: #7fc48c;
    --on-accent: #10140f; --problem: #ff9d92;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { font-size: 1.4rem; line-height: 1.25; font-weight: 400; overflow-wrap: anywhere; }
dl { margin: 1rem 0; padding: 0 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
dt { margin-top: .75rem; color: var(--quiet); font-size: .875rem; }
dd { margin: 0 0 .75rem; overflow-wrap: anywhere; }
small, .hint { color: var(--quiet); font-size: .875rem; }
label, legend { font-weight: 600; }
fieldset { margin: 0 0 1rem; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.choice { display: block; padding: .5rem 0; font-weight: 400; overflow-wrap: anywhere; }
.hint { margin: 0 0 .5rem; }
.problem { color: var(--problem); font-weight: 600; margin: 0 0 .5rem; }
input[type="text"] {
  width: 100%; padding: .6rem .75rem; font: 1.5rem/1.3 ui-monospace, monospace; letter-spacing: .1em;
  color: inherit; background: var(--card); border: 1px solid var(--quiet); border-radius: .5rem;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.buttons { display: flex; gap: .75rem; margin-top: 1rem; }
button {
  flex: 1; min-height: 2.75rem; font: inherit; font-weight: 600; border-radius: .5rem; cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}
button.quiet { background: none; color: inherit; border-color: var(--quiet); }
`;
