/** One line of the log, as people read it. Pure, except for the time zone. */
import type { LogEntry } from "../../../admin/api/schema.ts";
import { clean } from "../../../lib/text/clean.ts";
import type { OwnLogLevel } from "../../../mcp/protocol/log-levels.ts";
import type { Colour, Paint } from "../terminal/paint.ts";
import { safeJson } from "../terminal/safe-json.ts";

const colours: Readonly<Record<OwnLogLevel, Colour | undefined>> = {
  trace: "dim",
  debug: "dim",
  info: undefined,
  warn: "yellow",
  error: "red",
  fatal: "red",
};

export function logLine({ time, level, server, msg, extra, replica }: LogEntry, paint: Paint): string {
  const rest = Object.entries(extra ?? {}).map(([key, value]) => `${clean(key)}=${valueText(value)}`);
  return [
    paint("dim", clock(time)),
    paint(colours[level], level.padEnd(5)),
    ...(replica === undefined ? [] : [paint("dim", clean(replica))]),
    ...(server === null ? [] : [paint("bold", clean(server))]),
    paint(colours[level], clean(msg)),
    ...(rest.length === 0 ? [] : [paint("dim", rest.join(" "))]),
  ].join(" ");
}

function valueText(value: unknown): string {
  return typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : safeJson(value);
}

/** In the user's time zone: 2026-11-16 20:19:25.123 */
function clock(time: number): string {
  const moment = new Date(time);
  const local = new Date(time - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, -1).replace("T", " ");
}
