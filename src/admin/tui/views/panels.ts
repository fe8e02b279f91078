/** The list panels, with the details panel beside them. */
import { formatCount } from "../../../lib/text/format.ts";
import { detailsHeight, detailsLines } from "../content/details.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { selectRows } from "../state/select.ts";
import { beside, type Line, line, span } from "../text/line.ts";
import { listLines } from "./list.ts";
import { scrollBar } from "./scroll-bar.ts";

export function panelLines(state: State, layout: Layout): Line[] {
  const list = { lines: listsOf(state, layout), width: layout.listColumns };
  if (layout.detailsColumns === 0) return list.lines;
  return beside([list, { lines: detailsOf(state, layout), width: layout.detailsColumns }]);
}

function listsOf(state: State, layout: Layout): Line[] {
  const { panel } = state;
  const { listColumns: width, listRows: height, templateRows } = layout;
  if (panel === "overview") return [];
  const empty = emptyText(state);
  if (panel !== "resources") return listLines(state, { list: panel, width, height, active: true, empty });
  const resources = listLines(state, { list: "resources", width, height, active: !state.inTemplates, empty });
  const gap = Array.from({ length: Math.max(0, height + 1 - resources.length) }, () => line(""));
  const active = state.inTemplates;
  const templates = listLines(state, { list: "templates", width, height: templateRows - 1, active, empty: "none" });
  return [...resources, ...gap, templateTitle(state, width), ...templates];
}

function templateTitle(state: State, width: number): Line {
  const shown = formatCount(selectRows.templates(state).length);
  return [
    span("─ ", "quiet"),
    span("Templates", "accent"),
    span(` ${shown} `, "quiet"),
    span("─".repeat(Math.max(0, width - 13 - shown.length)), "quiet"),
  ];
}

/** What is not read yet is not empty. */
function emptyText(state: State): string {
  if (!state.known.has(state.panel)) return "loading …";
  const filtered =
    state.queries[state.panel] !== "" ||
    state.serverFilter !== undefined ||
    state.mimeFilter !== undefined ||
    state.levelFilter !== "trace";
  if (filtered) return "nothing matches: Esc clears the search, s and m the filters";
  return state.panel === "calls" ? "none yet" : "none";
}

function detailsOf(state: State, layout: Layout): Line[] {
  const lines = detailsLines(state, layout);
  const height = detailsHeight(layout);
  const top = Math.max(0, Math.min(state.detailsTop, lines.length - height));
  const focused = state.details === "focused";
  const bar = lines.length > height ? scrollBar({ top, height, total: lines.length }) : [];
  return Array.from({ length: height }, (_, index) => {
    const edge = bar[index] ?? span(focused ? "┃" : "│", focused ? "accent" : "quiet");
    return [span(" "), focused ? { ...edge, tone: "accent" as const } : edge, span(" "), ...(lines[top + index] ?? [])];
  });
}
