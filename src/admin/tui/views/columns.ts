/**
 * The lists' columns: their content, their width, and which are dropped first on a narrow screen.
 *
 * Pure: maps an item and a width to a line. Invariant: a list's heading and rows have the same
 * columns.
 */

import { formatAge, formatBytes, formatClock, formatCount, formatMs } from "../../../lib/text/format.ts";
import type { CallRow, PromptRow, ResourceRow, ServerRow, TemplateRow, ToolRow } from "../../api/schema.ts";
import { levelTones, outcomeTones, stateSign, stateTone } from "../content/tones.ts";
import type { ListName, LogRow, State } from "../state/model.ts";
import { isSubscribed, logText, type Rows } from "../state/select.ts";
import { sortOf } from "../state/sorting.ts";
import { cell, type Line, type Span, span, type Tone } from "../text/line.ts";

interface Column<Item> {
  readonly title: string;
  /** The width in cells; a column with `share` also takes its part of the remaining space. */
  readonly width: number;
  readonly share?: number;
  readonly align?: "right";
  /** The smallest list width that shows this column. */
  readonly from?: number;
  readonly text: (item: Item, state: State) => string;
  readonly tone?: (item: Item, state: State) => Tone;
  readonly searched?: true;
  /** Cut in the middle: the end tells such texts apart. */
  readonly middle?: true;
}

const servers: readonly Column<ServerRow>[] = [
  {
    title: "",
    width: 1,
    text: (item, state) => stateSign(item.state, state),
    tone: (item, state) => stateTone(item.state, state),
  },
  { title: "SERVER", width: 10, share: 2, text: (item) => item.id, searched: true },
  {
    title: "STATE",
    width: 10,
    text: (item) => item.state,
    tone: (item, state) => stateTone(item.state, state),
    searched: true,
  },
  { title: "FOR", width: 7, from: 50, text: (item, state) => formatAge(state.now - item.since), align: "right" },
  { title: "VIA", width: 5, from: 66, text: (item) => item.transport, searched: true },
  { title: "TOOLS", width: 5, from: 44, text: (item) => formatCount(item.counts.tools), align: "right" },
  { title: "RES", width: 5, from: 72, text: (item) => formatCount(item.counts.resources), align: "right" },
  { title: "CALLS", width: 6, from: 60, text: (item) => formatCount(item.calls), align: "right" },
  {
    title: "ERR",
    width: 5,
    from: 60,
    text: (item) => formatCount(item.errors),
    tone: (item) => (item.errors > 0 ? "bad" : "plain"),
    align: "right",
  },
  { title: "P50", width: 7, from: 76, text: (item) => formatMs(item.latency.p50Ms), align: "right" },
  { title: "P99", width: 7, from: 96, text: (item) => formatMs(item.latency.p99Ms), align: "right" },
  {
    title: "REASON",
    width: 8,
    share: 3,
    from: 104,
    text: (item) => item.reason ?? "",
    tone: () => "bad",
    searched: true,
  },
];

const tools: readonly Column<ToolRow>[] = [
  { title: "TOOL", width: 12, share: 2, text: (item) => item.name, searched: true },
  { title: "SERVER", width: 12, from: 120, text: (item) => item.serverId, tone: () => "quiet" },
  {
    title: "DESCRIPTION",
    width: 8,
    share: 3,
    from: 60,
    text: (item) => item.description ?? item.title ?? "",
    tone: () => "quiet",
    searched: true,
  },
  { title: "TOKENS", width: 6, from: 50, text: (item) => formatCount(item.tokens), align: "right" },
  { title: "CALLS", width: 5, text: (item) => formatCount(item.calls), align: "right" },
  {
    title: "ERR",
    width: 4,
    from: 72,
    text: (item) => formatCount(item.errors),
    tone: (item) => (item.errors > 0 ? "bad" : "plain"),
    align: "right",
  },
  { title: "P50", width: 7, from: 72, text: (item) => formatMs(item.p50Ms), align: "right" },
];

const prompts: readonly Column<PromptRow>[] = [
  { title: "PROMPT", width: 12, share: 2, text: (item) => item.name, searched: true },
  {
    title: "ARGUMENTS",
    width: 8,
    share: 2,
    from: 72,
    text: (item) => item.arguments.map(({ name, required }) => name + (required === true ? "*" : "")).join(" "),
  },
  {
    title: "DESCRIPTION",
    width: 8,
    share: 3,
    from: 50,
    text: (item) => item.description ?? item.title ?? "",
    tone: () => "quiet",
    searched: true,
  },
  { title: "CALLS", width: 5, text: (item) => formatCount(item.calls), align: "right" },
];

const resources: readonly Column<ResourceRow>[] = [
  {
    title: "",
    width: 1,
    text: (item, state) => (state.watched[item.uri] ? "◉" : isSubscribed(state, item) ? "●" : " "),
    tone: () => "good",
  },
  { title: "URI", width: 12, share: 3, text: (item) => item.uri, searched: true, middle: true },
  { title: "NAME", width: 8, share: 2, from: 60, text: (item) => item.name, searched: true },
  {
    title: "MIME TYPE",
    width: 16,
    from: 72,
    text: (item) => item.mimeType ?? "–",
    tone: () => "quiet",
    searched: true,
  },
  { title: "SIZE", width: 8, text: (item) => formatBytes(item.size), align: "right" },
];

const templates: readonly Column<TemplateRow>[] = [
  { title: "", width: 1, text: () => " " },
  { title: "PATTERN", width: 12, share: 3, text: (item) => item.uriTemplate, searched: true, middle: true },
  { title: "NAME", width: 8, share: 1, from: 72, text: (item) => item.name, searched: true },
  {
    title: "DESCRIPTION",
    width: 8,
    share: 2,
    from: 50,
    text: (item) => item.description ?? "",
    tone: () => "quiet",
    searched: true,
  },
];

const logs: readonly Column<LogRow>[] = [
  { title: "TIME", width: 8, text: (item) => formatClock(item.time), tone: () => "quiet" },
  { title: "LEVEL", width: 5, text: (item) => item.level.toUpperCase(), tone: (item) => levelTones[item.level] },
  { title: "SERVER", width: 12, from: 50, text: (item) => item.server ?? "–", tone: () => "accent", searched: true },
  { title: "MESSAGE", width: 8, share: 1, text: logText, searched: true },
];

const calls: readonly Column<CallRow>[] = [
  {
    title: "TIME",
    width: 8,
    text: (item) => formatClock(item.time),
    tone: (item) => (item.outcome === "ok" ? "quiet" : outcomeTones[item.outcome]),
  },
  {
    title: "OUTCOME",
    width: 12,
    from: 44,
    text: (item) => item.outcome + (typeof item.code === "number" ? ` ${item.code}` : ""),
    tone: (item) => outcomeTones[item.outcome],
    searched: true,
  },
  { title: "TOOK", width: 8, from: 52, text: (item) => formatMs(item.ms), align: "right" },
  { title: "CALL", width: 12, share: 3, text: (item) => item.name ?? item.method, searched: true, middle: true },
  { title: "SERVER", width: 12, from: 60, text: (item) => item.serverId ?? "–", tone: () => "quiet", searched: true },
  {
    title: "CLIENT",
    width: 8,
    share: 1,
    from: 84,
    text: (item) => item.client ?? "–",
    tone: () => "quiet",
    searched: true,
  },
];

const columnsOf: { readonly [Name in ListName]: readonly Column<Rows[Name][number]>[] } = {
  servers,
  tools,
  prompts,
  resources,
  templates,
  logs,
  calls,
};

/** Returns the columns that fit, with their final widths; two cells are reserved for the cursor. */
function measured<Name extends ListName>(list: Name, width: number): [Column<Rows[Name][number]>, number][] {
  const all: readonly Column<Rows[Name][number]>[] = columnsOf[list];
  const shown = all.filter((column) => width >= (column.from ?? 0));
  const fixed = shown.reduce((sum, column) => sum + (column.share === undefined ? column.width : 0), 0);
  const shares = shown.reduce((sum, column) => sum + (column.share ?? 0), 0);
  let left = Math.max(0, width - 2 - fixed - Math.max(0, shown.length - 1));
  let open = shares;
  return shown.map((column) => {
    if (column.share === undefined) return [column, column.width];
    const own = Math.floor((left * column.share) / open);
    left -= own;
    open -= column.share;
    return [column, own];
  });
}

/** A heading's cell, for the mouse: what is sorted by a click there. */
export interface HeadingCell {
  readonly title: string;
  readonly from: number;
  readonly width: number;
}

export function headingCells(list: ListName, width: number): HeadingCell[] {
  let from = 2;
  return measured(list, width).map(([column, size]) => {
    const made = { title: column.title, from, width: size };
    from += size + 1;
    return made;
  });
}

/** The sorted column is marked with the direction. */
export function headingLine(state: State, list: ListName, width: number): Line {
  const sort = sortOf(list, state.sorts);
  const cells = measured(list, width).map(([column, size]) => {
    const isSorted = column.title === sort.column;
    const mark = sort.descending ? "↓" : "↑";
    const title = !isSorted
      ? column.title
      : size > column.title.length
        ? `${column.title}${mark}`
        : `${column.title.slice(0, size - 1)}${mark}`;
    return cell(title, size, { tone: isSorted ? "title" : "quiet", align: column.align ?? "left" });
  });
  return join([span("  ")], cells);
}

export interface RowOptions {
  readonly state: State;
  readonly width: number;
  readonly selected: boolean;
  readonly terms: readonly string[];
}

export function rowLine<Name extends ListName>(list: Name, item: Rows[Name][number], options: RowOptions): Line {
  const { state, width, selected, terms } = options;
  const cells = measured(list, width).map(([column, size]) =>
    cell(column.text(item, state), size, {
      tone: column.tone?.(item, state) ?? "plain",
      align: column.align ?? "left",
      ...(column.searched && { terms }),
      ...(column.middle && { middle: true }),
    }),
  );
  return join([span(selected ? "▸ " : "  ", "accent")], cells);
}

function join(first: readonly Span[], cells: readonly Span[][]): Line {
  return [...first, ...cells.flatMap((spans, index) => (index === 0 ? spans : [span(" "), ...spans]))];
}
