/**
 * The lines around the panels: head, tabs, filters, messages and key hints.
 *
 * Pure: maps a state to lines. Invariant: while the gateway is away, the head line says so first.
 */

import { formatCount, formatDuration } from "../../text/format.ts";
import { type Panel, panels, type State } from "../state/model.ts";
import { selectedItem, selectRows } from "../state/select.ts";
import { type Line, line, lineWidth, type Span, span, spread } from "../text/line.ts";

const names: Record<Panel, string> = {
  overview: "Overview",
  servers: "Servers",
  tools: "Tools",
  prompts: "Prompts",
  resources: "Resources",
  logs: "Logs",
};

export function headLine(state: State, columns: number): Line {
  const { gateway, link } = state;
  if (link.status === "away") {
    const since = formatDuration(state.now - link.since);
    return line(` Gateway away for ${since}: ${link.reason}. Trying again (attempt ${link.attempt}).`, "alarm");
  }
  const name = [span(" goblin", "title"), span(gateway === undefined ? "" : ` ${gateway.version}`)];
  if (gateway === undefined) return [...name, span(`  connecting to ${state.url} …`, "warn")];
  const left = [...name, span(`  ${gateway.endpoint}`, "accent")];
  const config = gateway.configPath === null ? "demo" : gateway.configPath;
  const facts = [
    `up ${formatDuration(gateway.uptimeMs)}`,
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

export function tabsLine(state: State, columns: number): Line {
  const sizes: Record<Panel, number | undefined> = {
    overview: undefined,
    servers: state.servers.length,
    tools: state.tools.length,
    prompts: state.prompts.length,
    resources: state.resources.length,
    logs: undefined,
  };
  const tabs = (withSizes: boolean): Span[] =>
    panels.flatMap((panel, index) => {
      const size = withSizes ? sizes[panel] : undefined;
      const label = ` ${index + 1} ${names[panel]}${size === undefined ? "" : ` ${formatCount(size)}`} `;
      return [span(label, panel === state.panel ? "selected" : "plain")];
    });
  const full = tabs(true);
  return lineWidth(full) <= columns ? full : tabs(false);
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
  if (panel === "overview") return "";
  const shown = selectRows[panel](state).length;
  const all = state[panel].length;
  const plural = panel === "logs" ? "lines" : panel;
  const noun = all === 1 ? plural.slice(0, -1) : plural;
  const text = `${shown === all ? "" : `${formatCount(shown)} of `}${formatCount(all)} ${noun}`;
  if (panel !== "resources") return text;
  return `${text}, ${formatCount(state.subscriptions.length)} subscribed`;
}

export function messageLine(state: State): Line {
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

type Hint = readonly [key: string, does: string];

export function hintLine(state: State, columns: number): Line {
  const spans: Span[] = [];
  for (const [key, does] of hintsOf(state)) {
    const next = [span(` ${key}`, "title"), span(` ${does} `, "quiet")];
    if (lineWidth(spans) + lineWidth(next) > columns) break;
    spans.push(...next);
  }
  return spans;
}

function hintsOf(state: State): readonly Hint[] {
  switch (state.mode.name) {
    case "search":
      return [
        ["Enter", "keep"],
        ["Esc", "drop"],
        ["Ctrl-U", "clear"],
      ];
    case "picker":
      return [
        ["↑↓", "choose"],
        ["Enter", "apply"],
        ["Esc", "cancel"],
      ];
    case "help":
      return [
        ["↑↓", "scroll"],
        ["Esc", "close"],
      ];
    case "confirm":
      return [];
    case "call":
      return callHints(state.mode.form.stage.name);
    case "browse":
      return state.details === "focused"
        ? [
            ["↑↓", "scroll"],
            ["Esc", "back to the list"],
            ["y", "copy"],
            ["?", "help"],
            ["q", "quit"],
          ]
        : [...panelHints(state), ["?", "help"], ["q", "quit"]];
  }
}

function callHints(stage: "edit" | "running" | "done"): readonly Hint[] {
  if (stage === "edit")
    return [
      ["Tab", "next"],
      ["←→", "move, choose"],
      ["Ctrl-S", "call"],
      ["Esc", "close"],
    ];
  if (stage === "running") return [["Esc", "cancel the call"]];
  return [
    ["↑↓", "scroll"],
    ["y", "copy"],
    ["Esc", "back to the form"],
  ];
}

function panelHints(state: State): readonly Hint[] {
  const open: Hint = state.details === "closed" ? ["Enter", "details"] : ["Enter", "scroll"];
  const lists: readonly Hint[] = [open, ["/", "search"], ["s", "server"]];
  switch (state.panel) {
    case "overview":
      return [
        ["Tab", "next panel"],
        ["1-6", "panels"],
        ["R", "reload config"],
      ];
    case "servers": {
      const selected = selectedItem(state);
      const toggle = selected?.list === "servers" && selected.item.state === "disabled" ? "enable" : "disable";
      return [open, ["/", "search"], ["r", "restart"], ["e", toggle], ["y", "copy"], ["R", "reload config"]];
    }
    case "tools":
      return [...lists, ["c", "call"], ["y", "copy"]];
    case "prompts":
      return [...lists, ["y", "copy"]];
    case "resources":
      return [...lists, ["m", "type"], ["t", state.inTemplates ? "resources" : "templates"], ["y", "copy"]];
    case "logs":
      return [...lists, ["L", "level"], ["f", state.follow ? "pause" : "follow"], ["y", "copy"]];
  }
}
