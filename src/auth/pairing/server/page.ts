/**
 * The pages that a person sees while pairing: the question, and what went wrong. Every text of a
 * client is escaped. A form may lead only here and to where the client is.
 */
import { escapeHtml as escaped, type PageOptions, pageResponse } from "../../../lib/html/page.ts";
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
  /** The only server that the client asks for. */
  readonly server: string | undefined;
  /** The profiles to choose from otherwise. */
  readonly profiles: readonly string[];
  readonly ticket: string;
  /** What was wrong with the last attempt. */
  readonly problem?: string | undefined;
}

export function consentPage(view: ConsentView, options: PageOptions): Response {
  const { clientName, publishedBy, redirectHost, gateway, ticket, problem, profile, server, profiles } = view;
  const isChoice = profile === undefined && server === undefined && profiles.length > 0;
  const limit = profile === undefined ? "every server of the gateway" : `the profile ${escaped(profile)}`;
  const access = server === undefined ? limit : `the server ${escaped(server)}`;
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

function page(title: string, body: string, options: PageOptions): Response {
  return pageResponse({ title, body, style: "page.css" }, options);
}
