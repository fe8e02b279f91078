/**
 * The views that temporarily replace a panel: the help, a picker, the palette, and the message for
 * a small screen.
 */
import { formatCount } from "../../../lib/text/format.ts";
import { helpLines } from "../content/help.ts";
import { type Layout, smallest } from "../state/layout.ts";
import type { PickerKind, State } from "../state/model.ts";
import { paletteEntries } from "../state/palette.ts";
import { pickerChoices, windowTop } from "../state/select.ts";
import { asBar, cell, cutMiddle, type Line, line, span } from "../text/line.ts";

export function helpScreen(top: number, layout: Layout): Line[] {
  return helpLines().slice(top, top + layout.body);
}

const titles: Record<PickerKind, string> = {
  server: "Show only one server",
  mime: "Show only one MIME type",
  level: "Show log lines of",
  sort: "Sort by (again: the other way round)",
};

export function pickerScreen(
  state: State,
  { kind, index }: { readonly kind: PickerKind; readonly index: number },
  layout: Layout,
): Line[] {
  const choices = pickerChoices(state, kind);
  const height = layout.body - 2;
  const top = windowTop(index, choices.length, height);
  const width = Math.min(layout.columns, 60);
  const rows = choices.slice(top, top + height).map((choice, place) => {
    const selected = top + place === index;
    const count = kind === "sort" ? "" : formatCount(choice.count);
    const shown = [
      span(selected ? " ▸ " : "   ", "accent"),
      ...cell(choice.label, width - 12),
      ...cell(count, 8, { align: "right", tone: "quiet" }),
      span(" "),
    ];
    return selected ? asBar(shown, width) : shown;
  });
  return [line(` ${titles[kind]}`, "accent"), line(""), ...rows];
}

export function paletteScreen(
  state: State,
  { query, index }: { query: string; index: number },
  layout: Layout,
): Line[] {
  const entries = paletteEntries(state, query);
  const height = layout.body - 2;
  const top = windowTop(index, entries.length, height);
  const width = Math.min(layout.columns, 100);
  const rows = entries.slice(top, top + height).map(({ label, note }, place) => {
    const selected = top + place === index;
    const room = width - 30;
    const shown = [
      span(selected ? " ▸ " : "   ", "accent"),
      ...cell(cutMiddle(label, room), room),
      span(" "),
      ...cell(note, 25, { tone: "quiet" }),
    ];
    return selected ? asBar(shown, width) : shown;
  });
  const input: Line = [span(" :", "accent"), span(query), span(" ", "selected")];
  return [input, line(""), ...(rows.length === 0 ? [line("   nothing matches", "quiet")] : rows)];
}

export function tooSmall(layout: Layout): Line[] {
  return [
    line("Terminal too small", "title"),
    line(`${layout.columns}×${layout.rows}, needs ${smallest.columns}×${smallest.rows}`),
    line("q quits", "quiet"),
  ];
}
