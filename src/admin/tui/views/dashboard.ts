/**
 * The whole screen for a state: head, tabs, filters, the panel or its replacement, messages, hints.
 *
 * Invariant: it depends only on the state and fills the screen exactly.
 */
import { approvalHeight, approvalLines, approvalTitle } from "../content/approvals.ts";
import { lockLines, lockTitle } from "../content/lock.ts";
import { type Layout, layoutOf } from "../state/layout.ts";
import type { Mode, State } from "../state/model.ts";
import { type Line, line, span } from "../text/line.ts";
import { callLines } from "./call.ts";
import { configBanner } from "./config-banner.ts";
import { helpScreen, paletteScreen, pickerScreen, tooSmall } from "./dialogs.ts";
import { filterLine, headLine, hintLine, messageLine, tabsLine } from "./frame.ts";
import { overviewLines } from "./overview.ts";
import { panelLines } from "./panels.ts";
import { viewerLines } from "./viewer.ts";

export function screenOf(state: State): Line[] {
  const layout = layoutOf(state);
  const { columns, rows, body } = layout;
  if (layout.tooSmall) return filled(tooSmall(layout), rows);
  const problem = state.gateway?.configProblem ?? null;
  return [
    headLine(state, columns),
    ...(problem === null ? [] : [configBanner(problem, columns)]),
    tabsLine(state, columns),
    filterLine(state),
    ...filled(bodyLines(state, layout), body),
    messageLine(state),
    hintLine(state, columns),
  ];
}

function filled(lines: readonly Line[], rows: number): Line[] {
  return Array.from({ length: rows }, (_, index) => lines[index] ?? line(""));
}

function bodyLines(state: State, layout: Layout): Line[] {
  const { mode } = state;
  switch (mode.name) {
    case "help":
      return helpScreen(mode.top, layout);
    case "picker":
      return pickerScreen(state, mode, layout);
    case "palette":
      return paletteScreen(state, mode, layout);
    case "call":
      return callLines(state, mode.form, layout);
    case "view":
      return viewerLines(mode.viewer, [span(` ${mode.title}`, "title")], layout);
    case "approval":
      return approvalScreen(state, mode, layout);
    case "lock":
      return lockScreen(mode, layout);
    case "image":
      return [];
    case "browse":
    case "search":
    case "confirm":
      return state.panel === "overview" ? overviewLines(state, layout) : panelLines(state, layout);
  }
}

function approvalScreen(state: State, { id, top }: { id: string; top: number }, layout: Layout): Line[] {
  const place = state.approvals.findIndex((row) => row.id === id);
  const row = state.approvals[place];
  if (row === undefined) return [];
  const lines = approvalLines(row, state, layout.columns);
  const title = approvalTitle(row, place, state.approvals.length);
  return [title, [], ...lines.slice(top, top + approvalHeight(layout))];
}

function lockScreen({ servers, index, top }: Extract<Mode, { name: "lock" }>, layout: Layout): Line[] {
  const server = servers[index]!;
  const lines = lockLines(server, layout.columns);
  return [lockTitle(server, index, servers.length), [], ...lines.slice(top, top + approvalHeight(layout))];
}
