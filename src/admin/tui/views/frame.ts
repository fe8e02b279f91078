/**
 * The lines around the panels: head, tabs, filters, messages and key hints.
 *
 * Pure: maps a state to lines. Invariant: while the gateway is away, the head line says so first.
 */

import { formatAge, formatCount, formatDuration } from "../../../lib/text/format.ts";
import { type Panel, panels, type State } from "../state/model.ts";
import { cursorIndex, selectRows } from "../state/select.ts";
import { type Line, line, lineWidth, type Span, span, spread } from "../text/line.ts";
import { hintsOf } from "./hints.ts";

const names: Record<Panel, string> = {
  overview: "Overview",
  servers: "Servers",
  tools: "Tools",
  prompts: "Prompts",
  resources: "Resources",
  logs: "Logs",
  calls: "Calls",
};
/** For a narrow screen. */
const shortNames: Record<Panel, string> = {
  ...names,
  overview: "Over",
  servers: "Serv",
  prompts: "Prom",
  resources: "Res",
};

export function headLine(state: State, columns: number): Line {
  const { gateway, link } = state;
  if (link.status === "away") {
    const since = formatDuration(state.now - link.since);
    return line(` Gateway away for ${since}: ${link.reason}. Trying again (attempt ${link.attempt}).`, "alarm");
  }
  const name = [span(" goblin", "title"), span(gateway === undefined ? "" : ` ${gateway.version}`)];
  if (gateway === undefined) return [...name, span(`  connecting to ${state.url} …`, "warn")];
  const waiting = state.approvals.length;
  const toApprove = waiting === 0 ? [] : [span(`  ${formatCount(waiting)} to approve: a`, "warn")];
  const { differing } = gateway.lock;
  const toCompare = differing === 0 ? [] : [span(`  ${formatCount(differing)} not as approved: D`, "warn")];
  const left = [...name, ...toApprove, ...toCompare, span(`  ${gateway.endpoint}`, "accent")];
  const config = gateway.configPath === null ? "demo" : gateway.configPath;
  const replicas = gateway.cluster?.replicas ?? [];
  const silent = replicas.filter(({ answers }) => !answers).length;
  const facts = [
    `up ${formatAge(gateway.uptimeMs)}`,
    ...(replicas.length > 1
      ? [silent === 0 ? `${replicas.length} replicas` : `${silent} of ${replicas.length} replicas silent`]
      : []),
    `${formatCount(gateway.tokens.listed)} tokens`,
    `expose ${gateway.exposure}`,
    `log ${gateway.logLevel}`,
    config,
  ];
  // Shows as many facts as fit, the most important first.
  for (let count = facts.length; count > 0; count -= 1) {
    const right = [span(`${facts.slice(0, count).join("  ")} `, "quiet")];
    if (lineWidth(left) + lineWidth(right) < columns) return spread(left, right, columns);
  }
  return left;
}

export interface Tab {
  readonly panel: Panel;
  readonly label: string;
}

/** The tabs in the longest form that fits. */
export function tabsOf(state: State, columns: number): Tab[] {
  const sizes: Record<Panel, number | undefined> = {
    overview: undefined,
    servers: state.servers.length,
    tools: state.tools.length,
    prompts: state.prompts.length,
    resources: state.resources.length,
    logs: undefined,
    calls: undefined,
  };
  const tabs = (words: Record<Panel, string>, { withSizes = false, tight = false } = {}): Tab[] =>
    panels.map((panel, index) => {
      const size = withSizes && state.known.has(panel) ? sizes[panel] : undefined;
      const label = `${index + 1} ${words[panel]}${size === undefined ? "" : ` ${formatCount(size)}`} `;
      return { panel, label: tight ? label : ` ${label}` };
    });
  const fits = (made: readonly Tab[]): boolean => made.reduce((sum, { label }) => sum + label.length, 0) <= columns;
  const forms = [tabs(names, { withSizes: true }), tabs(names, { withSizes: true, tight: true }), tabs(names)];
  return forms.find(fits) ?? tabs(shortNames);
}

export function tabsLine(state: State, columns: number): Line {
  return tabsOf(state, columns).map(({ panel, label }) => span(label, panel === state.panel ? "selected" : "plain"));
}

export function filterLine(state: State): Line {
  const { panel } = state;
  if (panel === "overview") return line("");
  const parts: Span[] = [span(" ")];
  const add = (label: string, value: string): void => {
    parts.push(span(`${label} `, "quiet"), span(value, "warn"), span("  "));
  };
  if (panel !== "servers" && state.serverFilter !== undefined) add("server", state.serverFilter);
  if (panel === "resources" && state.mimeFilter !== undefined) add("type", state.mimeFilter);
  if (panel === "logs" && state.levelFilter !== "trace") add("level", `${state.levelFilter} and above`);
  if (panel === "logs")
    parts.push(span(state.follow ? "following  " : "paused (f: follow)  ", state.follow ? "good" : "warn"));
  if (state.queries[panel] !== "" && state.mode.name !== "search") add("search", state.queries[panel]);
  parts.push(span(countText(state), "quiet"));
  return parts;
}

function countText(state: State): string {
  const { panel } = state;
  if (panel === "overview" || !state.known.has(panel)) return "";
  const shown = selectRows[panel](state).length;
  const all = state[panel].length;
  const plural = panel === "logs" ? "lines" : panel;
  const noun = all === 1 ? plural.slice(0, -1) : plural;
  const at = cursorIndex(state, panel) + 1;
  const place = at > 0 && shown > 1 ? `${at}/${shown}  ` : "";
  const text = `${place}${shown === all ? "" : `${formatCount(shown)} of `}${formatCount(all)} ${noun}`;
  if (panel !== "resources") return text;
  return `${text}, ${formatCount(state.subscriptions.length)} subscribed`;
}

export function messageLine(state: State): Line {
  if (state.mode.name === "palette") return line("");
  if (state.mode.name === "search")
    return [span(" /", "accent"), span(state.queries[state.panel]), span(" ", "selected")];
  if (state.mode.name === "confirm") {
    const { verb, serverId } = state.mode.pending;
    return [
      span(` ${verb[0]?.toUpperCase()}${verb.slice(1)} ${serverId}? `, "warn"),
      span("y", "title"),
      span(" yes  "),
      span("n", "title"),
      span(" no"),
    ];
  }
  const { notice } = state;
  return notice === undefined ? line("") : line(` ${notice.text}`, notice.tone);
}

export function hintLine(state: State, columns: number): Line {
  const spans: Span[] = [];
  for (const [key, does] of hintsOf(state)) {
    const next = [span(` ${key}`, "title"), span(` ${does} `, "quiet")];
    if (lineWidth(spans) + lineWidth(next) > columns) break;
    spans.push(...next);
  }
  return spans;
}
