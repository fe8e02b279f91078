/**
 * The overview: call rate, latency and errors over time, the servers, and the recent calls. A wide
 * screen shows servers and calls side by side in borders, a high one the newest log lines below.
 */

import { formatClock, formatCount, formatMs } from "../../../lib/text/format.ts";
import { pad } from "../../../lib/text/width.ts";
import type { CallRow } from "../../api/schema.ts";
import { levelTones, outcomeTones, stateRank, stateSign, stateTone } from "../content/tones.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { logText } from "../state/select.ts";
import { beside, cell, type Line, line, span, type Tone } from "../text/line.ts";
import { boxed } from "./box.ts";
import { chart } from "./sparkline.ts";

export function overviewLines(state: State, layout: Layout): Line[] {
  return layout.wide ? wideLines(state, layout) : narrowLines(state, layout);
}

function narrowLines(state: State, { columns, body }: Layout): Line[] {
  const head = [...meters(state, columns), line("")];
  const logRows = body >= 30 ? Math.floor(body / 3) : 0;
  const room = body - head.length - 3 - logRows;
  const forServers = Math.min(Math.max(1, state.servers.length), Math.max(3, Math.ceil(room / 2)));
  return [
    ...head,
    section("Servers", readyText(state)),
    ...serverLines(state, forServers),
    line(""),
    section("Recent calls", totals(state)),
    ...padded(callLines(state, columns, room - forServers), Math.max(1, room - forServers)),
    ...(logRows === 0 ? [] : [line(""), section("Log", "newest last"), ...logLines(state, columns, logRows - 2)]),
  ];
}

function wideLines(state: State, { columns, body }: Layout): Line[] {
  const chartRows = body >= 45 ? 6 : body >= 30 ? 4 : 2;
  const third = Math.floor(columns / 3);
  const head = beside(
    metersOf(state).map(({ name, value, values, tone }, index) => {
      const width = index === 2 ? columns - 2 * third : third;
      const drawn = chart(values, { width: width - 4, rows: chartRows });
      const lines = drawn.map((one) => [span(" "), ...coloured(one, tone)]);
      return { lines: boxed({ title: section(name, value), lines, width, rows: chartRows + 2 }), width };
    }),
  );
  const logRows = body >= 30 ? Math.floor((body - head.length) / 3) + 1 : 0;
  const rows = body - head.length - logRows;
  const left = Math.floor(columns * 0.45);
  const right = columns - left;
  const middle = beside([
    {
      lines: boxed({
        title: section("Servers", readyText(state)),
        lines: serverLines(state, rows - 2),
        width: left,
        rows,
      }),
      width: left,
    },
    {
      lines: boxed({
        title: section("Recent calls", totals(state)),
        lines: callLines(state, right - 2, rows - 2),
        width: right,
        rows,
      }),
      width: right,
    },
  ]);
  if (logRows === 0) return [...head, ...middle];
  const lines = logLines(state, columns - 2, logRows - 2);
  return [...head, ...middle, ...boxed({ title: section("Log", "newest last"), lines, width: columns, rows: logRows })];
}

function padded(lines: readonly Line[], rows: number): Line[] {
  return Array.from({ length: rows }, (_, index) => lines[index] ?? line(""));
}

interface MeterRow {
  readonly name: string;
  readonly value: string;
  readonly values: readonly (number | null)[];
  readonly tone: Tone;
}

function metersOf({ series }: State): MeterRow[] {
  const rate = series.calls.at(-1);
  const errors = series.errors.at(-1);
  const perSecond = (value: number | undefined): string => (value === undefined ? "–" : `${formatCount(value)}/s`);
  return [
    { name: "calls", value: perSecond(rate), values: series.calls, tone: "good" },
    { name: "latency", value: formatMs(series.latency.at(-1) ?? null), values: series.latency, tone: "accent" },
    { name: "errors", value: perSecond(errors), values: series.errors, tone: "bad" },
  ];
}

function meters(state: State, columns: number): Line[] {
  return metersOf(state).map(({ name, value, values, tone }) => [
    span(` ${pad(name, 9)}`, "quiet"),
    ...cell(value, 10, { tone: "title", align: "right" }),
    span("  "),
    ...coloured(chart(values, { width: columns - 24, rows: 1 })[0] ?? "", tone),
  ]);
}

/** Nothing happened is no news: dots are quiet, whatever they count. */
function coloured(drawn: string, tone: Tone): Line {
  return drawn
    .split(/(·+)/)
    .filter((part) => part !== "")
    .map((part) => span(part, part.startsWith("·") ? "quiet" : tone));
}

function section(name: string, note: string): Line {
  return [span(` ${name}`, "accent"), span(`  ${note}`, "quiet")];
}

function readyText(state: State): string {
  if (!state.known.has("servers")) return "";
  const ready = state.servers.filter((server) => server.state === "ready").length;
  const asOf = state.link.status === "away" ? " when last seen" : "";
  return `${ready} of ${state.servers.length} ready${asOf}`;
}

function totals({ gateway }: State): string {
  if (gateway === undefined) return "";
  const { calls, counts } = gateway;
  return `${formatCount(calls.total)} in all, ${many(calls.errors, "error")}, ${calls.inFlight} in flight, ${formatCount(counts.sessions)} connected`;
}

function many(count: number, what: string): string {
  return `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Unhealthy servers first: they must be visible even if not all fit. */
function serverLines(state: State, room: number): Line[] {
  if (!state.known.has("servers")) return [line("   loading …", "quiet")];
  const ordered = [...state.servers].sort((a, b) => stateRank(a.state) - stateRank(b.state) || (a.id < b.id ? -1 : 1));
  if (ordered.length === 0) return [line('   none: add some to "mcpServers" in the config', "quiet")];
  const fits = ordered.length <= room ? ordered : ordered.slice(0, room - 1);
  const idWidth = Math.min(24, Math.max(...ordered.map((server) => server.id.length)) + 1);
  const rows = fits.map((server) => [
    span("   "),
    span(stateSign(server.state, state), stateTone(server.state, state)),
    span(" "),
    ...cell(server.id, idWidth),
    ...cell(server.state, 11, { tone: stateTone(server.state, state) }),
    ...cell(many(server.counts.tools, "tool"), 11, { align: "right" }),
    ...cell(many(server.calls, "call"), 13, { align: "right" }),
    ...cell(formatMs(server.latency.p50Ms), 9, { align: "right", tone: "quiet" }),
    ...(server.reason === null ? [] : [span(`  ${server.reason}`, stateTone(server.state, state))]),
  ]);
  const hidden = ordered.length - fits.length;
  return hidden === 0 ? rows : [...rows, line(`   … ${hidden} more: press 2 for all servers`, "quiet")];
}

function callLines(state: State, columns: number, room: number): Line[] {
  if (!state.known.has("calls")) return [line("   loading …", "quiet")];
  const { calls } = state;
  if (calls.length === 0) return [line("   none yet", "quiet")];
  return calls
    .slice(-Math.max(1, room))
    .reverse()
    .map((call) => callLine(call, columns));
}

function callLine(call: CallRow, columns: number): Line {
  const code = typeof call.code === "number" ? ` ${call.code}` : "";
  const wide = columns >= 100;
  return [
    span(`   ${formatClock(call.time)} `, "quiet"),
    ...cell(call.outcome + code, 13, { tone: outcomeTones[call.outcome] }),
    ...cell(formatMs(call.ms), 8, { align: "right" }),
    span("  "),
    ...cell(call.name ?? call.method, Math.max(10, columns - (wide ? 68 : 49)), { middle: true }),
    span(" "),
    ...cell(call.serverId ?? "–", 12, { tone: "quiet" }),
    ...(wide ? [span(" "), ...cell(call.client ?? "", 18, { tone: "quiet" })] : []),
  ];
}

function logLines({ logs, known }: State, columns: number, room: number): Line[] {
  if (!known.has("logs")) return [line("   loading …", "quiet")];
  return logs
    .slice(-room)
    .map((entry) => [
      span(`   ${formatClock(entry.time)} `, "quiet"),
      ...cell(entry.level.toUpperCase(), 6, { tone: levelTones[entry.level] }),
      ...cell(entry.server ?? "–", 13, { tone: "accent" }),
      ...cell(logText(entry), columns - 32),
    ]);
}
