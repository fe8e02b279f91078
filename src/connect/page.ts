/**
 * The pages as HTML. There is no script and no style inside of them.
 *
 * Invariant: every text is escaped. Names and errors may come from servers.
 */
import { clean } from "../text/clean.ts";

/** A server on the page. */
export interface Row {
  readonly id: string;
  /** What it wants, in words. */
  readonly wants: string;
}

export const STYLE = `:root{color-scheme:light dark;--line:#8884;--dim:#666;--go:#0a6b3d}
@media (prefers-color-scheme:dark){:root{--dim:#aaa;--go:#5bd69a}}
body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.3rem}
ul{list-style:none;padding:0}
li{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding:.75rem 0;border-top:1px solid var(--line)}
li>div{min-width:0;overflow-wrap:anywhere}
small,.dim{color:var(--dim)}
button,input,.button{font:inherit;padding:.55rem 1rem;border:1px solid var(--go);border-radius:.4rem;max-width:100%;box-sizing:border-box}
button,.button{background:transparent;color:var(--go);cursor:pointer;text-decoration:none;display:inline-block}
input{border-color:var(--line);width:100%;margin:.25rem 0 .75rem}
.note{border-left:3px solid var(--go);padding-left:.75rem;overflow-wrap:anywhere}
.bad{border-color:#c33}
`;

function html(text: string): string {
  return clean(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export interface Note {
  readonly text: string;
  readonly isBad: boolean;
}

function page(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${html(title)}</title><link rel="stylesheet" href="style.css">${head}</head>
<body><main><h1>${html(title)}</h1>
${body}
</main></body></html>
`;
}

/** Lists the servers that wait, each with its button. */
export function listPage(rows: readonly Row[], note: Note | undefined, isShared: boolean): string {
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
export function identityPage(note: Note | undefined): string {
  return page(
    "Who are you?",
    `${noteOf(note)}<p>This link belongs to one user of this gateway. Show that it is you: enter the token that your
client uses for Goblin.</p>
<form method="post" autocomplete="off"><label>Token<input type="password" name="token" required autocomplete="off">
</label><button>Continue</button></form>`,
  );
}

/** Leads on to the authorization server, whose host the person should see. */
export function leavePage(serverId: string, url: string): string {
  const { host } = new URL(url);
  return page(
    `Log in to ${serverId}`,
    `<p>You log in at <strong>${html(host)}</strong>.</p>
<p><a class="button" rel="noreferrer" href="${html(url)}">Continue</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${html(url)}">`,
  );
}

export function notePage(title: string, text: string): string {
  return page(title, `<p>${html(text)}</p>`);
}

function noteOf(note: Note | undefined): string {
  return note ? `<p class="note${note.isBad ? " bad" : ""}">${html(note.text)}</p>\n` : "";
}
