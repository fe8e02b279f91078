/** What the pages say, each as HTML with its title. Every text is escaped. */
import { escapeHtml as html, type Page } from "../html/page.ts";

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
export function listPage(rows: readonly Row[], note: Note | undefined, isShared: boolean): Page {
  const items = rows.map(
    ({ id, wants }) => `<li><div><strong>${html(id)}</strong><br><small>${html(wants)}</small></div>
<form method="post"><button name="server" value="${html(id)}">Log in</button></form></li>`,
  );
  const whose = isShared
    ? "A login here serves every client of this gateway."
    : "A login here is yours alone. Continue only if you asked for it yourself.";
  const list = rows.length === 0 ? "" : `<p>${whose}</p><ul>${items.join("\n")}</ul>`;
  const done = rows.length === 0 ? "<p>No server waits for a login. You can close this page.</p>" : "";
  return page(rows.length === 0 ? "All set" : "Servers that need a login", `${noteOf(note)}${list}${done}`);
}

/** Asks who the person is. */
export function identityPage(note: Note | undefined): Page {
  return page(
    "Who are you?",
    `${noteOf(note)}<p>This link belongs to one user of this gateway. Show that it is you: enter the token that your
client uses for Goblin.</p>
<form method="post" autocomplete="off"><label>Token<input type="password" name="token" required autocomplete="off">
</label><button>Continue</button></form>`,
  );
}

/** Leads on to the authorization server, whose host the person should see. */
export function leavePage(serverId: string, url: string): Page {
  const { host } = new URL(url);
  return page(
    `Log in to ${serverId}`,
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
