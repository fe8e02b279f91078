/**
 * The lists' columns: their content, their width, and which are dropped first on a narrow screen.
 *
 * Pure: maps an item and a width to a line. Invariant: a list's heading and rows have the same
 * columns.
 */
import type { PromptRow, ResourceRow, ServerRow, TemplateRow, ToolRow } from "../../admin/schema.ts";
import { formatBytes, formatClock, formatCount, formatDuration, formatMs } from "../../text/format.ts";
import { levelTones, stateSigns, stateTones } from "../content/tones.ts";
import type { ListName, LogRow, State } from "../state/model.ts";
import { isSubscribed, type Rows } from "../state/select.ts";
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
}

const servers: readonly Column<ServerRow>[] = [
  { title: "", width: 1, text: (item) => stateSigns[item.state], tone: (item) => stateTones[item.state] },
  { title: "SERVER", width: 10, share: 2, text: (item) => item.id, searched: true },
  { title: "STATE", width: 10, text: (item) => item.state, tone: (item) => stateTones[item.state], searched: true },
  { title: "FOR", width: 7, from: 50, text: (item, state) => formatDuration(state.now - item.since), align: "right" },
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
  { title: "", width: 1, text: (item, state) => (isSubscribed(state, item) ? "●" : " "), tone: () => "good" },
  { title: "URI", width: 12, share: 3, text: (item) => item.uri, searched: true },
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
  { title: "PATTERN", width: 12, share: 3, text: (item) => item.uriTemplate, searched: true },
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
  { title: "MESSAGE", width: 8, share: 1, text: (item) => item.msg, searched: true },
];

const columnsOf: { readonly [Name in ListName]: readonly Column<Rows[Name][number]>[] } = {
  servers,
  tools,
  prompts,
  resources,
  templates,
  logs,
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

export function headingLine(list: ListName, width: number): Line {
  const cells = measured(list, width).map(([column, size]) =>
    cell(column.title, size, { tone: "quiet", align: column.align ?? "left" }),
  );
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
    }),
  );
  return join([span(selected ? "▸ " : "  ", "accent")], cells);
}

function join(first: readonly Span[], cells: readonly Span[][]): Line {
  return [...first, ...cells.flatMap((spans, index) => (index === 0 ? spans : [span(" "), ...spans]))];
}
