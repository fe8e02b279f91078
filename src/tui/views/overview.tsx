/** The overview: call rate, latency and errors as sparklines, the servers, and the recent calls. */
import { Box } from "ink";
import type { CallRow } from "../../admin/schema.ts";
import type { ServerState } from "../../protocol/server-states.ts";
import { formatClock, formatCount, formatMs } from "../../text/format.ts";
import { pad } from "../../text/width.ts";
import { outcomeTones, stateSigns, stateTones } from "../content/tones.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { cell, type Line, line, span, type Tone } from "../text/line.ts";
import { Rows } from "./line.tsx";
import { sparkline } from "./sparkline.ts";

export function Overview({ state, layout }: { state: State; layout: Layout }) {
  const { columns, body } = layout;
  const head = [...meters(state, columns), line("")];
  const room = body - head.length - 3;
  const forServers = Math.min(Math.max(1, state.servers.length), Math.max(3, Math.ceil(room / 2)));
  const lines = [
    ...head,
    section("Servers", `${ready(state)} of ${state.servers.length} ready`),
    ...serverLines(state, forServers),
    line(""),
    section("Recent calls", totals(state)),
    ...callLines(state, columns, room - forServers),
  ];
  return (
    <Box flexDirection="column" width={columns} height={body}>
      <Rows lines={lines} width={columns} height={body} />
    </Box>
  );
}

interface Trend {
  readonly values: readonly (number | null)[];
  readonly tone: Tone;
}

function meters({ series }: State, columns: number): Line[] {
  const last = <T,>(values: readonly T[]): T | undefined => values.at(-1);
  const rate = last(series.calls);
  const errors = last(series.errors);
  const meter = (name: string, value: string, { values, tone }: Trend): Line => [
    span(` ${pad(name, 9)}`, "quiet"),
    ...cell(value, 10, { tone: "title", align: "right" }),
    span("  "),
    span(sparkline(values, columns - 24), tone),
  ];
  return [
    meter("calls", rate === undefined ? "–" : `${formatCount(rate)}/s`, { values: series.calls, tone: "good" }),
    meter("latency", formatMs(last(series.latency) ?? null), { values: series.latency, tone: "accent" }),
    meter("errors", errors === undefined ? "–" : `${formatCount(errors)}/s`, { values: series.errors, tone: "bad" }),
  ];
}

function section(name: string, note: string): Line {
  return [span(` ${name}`, "accent"), span(`  ${note}`, "quiet")];
}

const ready = (state: State): number => state.servers.filter((server) => server.state === "ready").length;

function totals({ gateway }: State): string {
  if (gateway === undefined) return "";
  const { calls, counts } = gateway;
  return `${formatCount(calls.total)} in all, ${formatCount(calls.errors)} errors, ${calls.inFlight} in flight, ${formatCount(counts.sessions)} connected`;
}

/** Unhealthy servers first: they must be visible even if not all fit. */
function serverLines(state: State, room: number): Line[] {
  const rank: Record<ServerState, number> = {
    invalid: 0,
    down: 1,
    degraded: 2,
    installing: 3,
    connecting: 3,
    ready: 4,
    disabled: 5,
  };
  const ordered = [...state.servers].sort((a, b) => rank[a.state] - rank[b.state] || (a.id < b.id ? -1 : 1));
  if (ordered.length === 0) return [line("   none", "quiet")];
  const fits = ordered.length <= room ? ordered : ordered.slice(0, room - 1);
  const idWidth = Math.min(24, Math.max(...ordered.map((server) => server.id.length)) + 1);
  const rows = fits.map((server) => [
    span("   "),
    span(stateSigns[server.state], stateTones[server.state]),
    span(" "),
    ...cell(server.id, idWidth),
    ...cell(server.state, 11, { tone: stateTones[server.state] }),
    ...cell(`${formatCount(server.counts.tools)} tools`, 11, { align: "right" }),
    ...cell(`${formatCount(server.calls)} calls`, 13, { align: "right" }),
    ...cell(formatMs(server.latency.p50Ms), 9, { align: "right", tone: "quiet" }),
    ...(server.reason === null ? [] : [span(`  ${server.reason}`, "bad")]),
  ]);
  const hidden = ordered.length - fits.length;
  return hidden === 0 ? rows : [...rows, line(`   and ${hidden} more (press 2)`, "quiet")];
}

function callLines({ calls }: State, columns: number, room: number): Line[] {
  if (calls.length === 0) return [line("   none yet", "quiet")];
  return calls
    .slice(-Math.max(0, room))
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
    ...cell(call.name ?? call.method, Math.max(10, columns - (wide ? 68 : 49))),
    span(" "),
    ...cell(call.serverId ?? "–", 12, { tone: "quiet" }),
    ...(wide ? [span(" "), ...cell(call.client ?? "", 18, { tone: "quiet" })] : []),
  ];
}
