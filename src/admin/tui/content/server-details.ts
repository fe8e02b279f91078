/** What a server is, and what it wrote to stderr last, for the details panel. */
import { formatClock } from "../../../lib/text/format.ts";
import type { About } from "../state/model.ts";
import { type Line, line, span } from "../text/line.ts";
import { type Fact, heading, type Page, paragraph } from "./paragraph.ts";
import { levelTones } from "./tones.ts";

/** Its command or address; "…" while that is on its way. */
export function originLines(about: About | undefined): Fact[] {
  const server = about?.server;
  if (server === undefined) return [["command", about?.error ?? "…", about?.error === undefined ? "quiet" : "bad"]];
  return [
    ["command", server.command === null ? undefined : [server.command, ...server.args].map(quoted).join(" ")],
    ["folder", server.cwd ?? undefined],
    ["variables", server.env.join(", ")],
    ["URL", server.url ?? undefined],
    ["headers", server.headers.join(", ")],
    ["prefix", server.prefix],
    ["share", server.share === "session" ? "one connection for each session" : undefined],
  ];
}

/** An argument as one would type it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./*-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function stderrLines(page: Page, about: About | undefined): Line[] {
  const server = about?.server;
  if (server === undefined) return [];
  const lines = server.stderr.flatMap((entry) => {
    const [first = [], ...more] = paragraph(page, entry.msg, {
      indent: 1,
      tone: levelTones[entry.level] === "good" ? "plain" : levelTones[entry.level],
    });
    return [[span(formatClock(entry.time), "quiet"), ...first], ...more];
  });
  const said =
    server.instructions === null ? [] : [...heading("Instructions"), ...paragraph(page, server.instructions)];
  if (server.command === null) return said;
  return [...heading("stderr"), ...(lines.length === 0 ? [line(" nothing", "quiet")] : lines), ...said];
}
