/** What the pages say, each as HTML with its title. Every text is escaped. */
import { escapeHtml as html, type Page } from "../../lib/html/page.ts";

/** A server on the page. */
export interface Row {
  readonly id: string;
  /** What it wants, in words. */
  readonly wants: string;
}

export interface Note {
  readonly text: string;
  readonly isBad: boolean;
}

function page(title: string, body: string, head = ""): Page {
  return { title, head, style: "style.css", body: `<h1>${html(title)}</h1>\n${body}` };
}

/** Lists the servers that wait, each with its button. */
export function listPage(rows: readonly Row[], { name, note }: Looking, isShared: boolean): Page {
  const items = rows.map(
    ({ id, wants }) => `<li><div><strong>${html(id)}</strong><br><small>${html(wants)}</small></div>
<form method="post"><button name="server" value="${html(id)}">Log in</button></form></li>`,
  );
  const whose = isShared
    ? "A login here serves every client of this gateway."
    : "A login here is yours alone. Continue only if you asked for it yourself.";
  const you = name === "" ? "" : `You are <strong>${html(name)}</strong> at this gateway. `;
  const list = rows.length === 0 ? "" : `<p>${you}${whose}</p><ul>${items.join("\n")}</ul>`;
  const done = rows.length === 0 ? "<p>No server waits for a login. You can close this page.</p>" : "";
  return page(rows.length === 0 ? "All set" : "Servers that need a login", `${noteOf(note)}${list}${done}`);
}

/** What the list says about who is looking at it. */
export interface Looking {
  /** The name of the principal; empty: the gateway knows nobody by name. */
  readonly name: string;
  readonly note: Note | undefined;
}

const WHO = "Who are you?";
const YOURS = "This link belongs to one user of this gateway. Show that it is you:";

/** Asks for the token of the person's client. */
export function tokenPage(note: Note | undefined, isIssued: boolean): Page {
  const why = isIssued
    ? `<p><small>Your client got it when you logged in to this gateway. The operator of the gateway can spare you this:
with <code>login</code> of the issuer in the gateway's config you would log in here.</small></p>`
    : "";
  return page(
    WHO,
    `${noteOf(note)}<p>${YOURS} enter the token that your client uses for Goblin.</p>
<form method="post" autocomplete="off"><label>Token<input type="password" name="token" required autocomplete="off">
</label><button>Continue</button></form>${why}`,
  );
}

/** Asks for a code of `goblin pair`. */
export function codePage(note: Note | undefined): Page {
  return page(
    WHO,
    `${noteOf(note)}<p>${YOURS} run <code>goblin pair</code> on the machine of the gateway, and type the code that it
prints. In the browser that let your client in, you are not asked.</p>
<form method="post" autocomplete="off"><label>Code<input name="code" inputmode="numeric" required autofocus
 autocomplete="one-time-code" maxlength="12" spellcheck="false" placeholder="0000 0000"></label>
<button>Continue</button></form>`,
  );
}

/** Offers another login at the issuer. `link`: where the form goes. */
export function loginPage(note: Note, issuer: string, link: string): Page {
  return page(
    WHO,
    `${noteOf(note)}<p>${YOURS} log in at <strong>${html(new URL(issuer).host)}</strong>.</p>
<form method="post" action="${html(link)}"><button name="again" value="1">Log in</button></form>`,
  );
}

/** Leads on to an authorization server, whose host the person should see. */
export function leavePage(title: string, url: string): Page {
  const { host } = new URL(url);
  return page(
    title,
    `<p>You log in at <strong>${html(host)}</strong>.</p>
<p><a class="button" rel="noreferrer" href="${html(url)}">Continue</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${html(url)}">`,
  );
}

export function notePage(title: string, text: string): Page {
  return page(title, `<p>${html(text)}</p>`);
}

function noteOf(note: Note | undefined): string {
  return note
    ? `<p class="${note.isBad ? "problem" : "note"}" role="${note.isBad ? "alert" : "status"}">${html(note.text)}</p>\n`
    : "";
}
