/**
 * The views that temporarily replace a panel: the help, a picker, and the message for a small
 * screen.
 */
import { Box } from "ink";
import { formatCount } from "../../text/format.ts";
import { helpLines } from "../content/help.ts";
import { type Layout, smallest } from "../state/layout.ts";
import type { PickerKind, State } from "../state/model.ts";
import { pickerChoices, windowTop } from "../state/select.ts";
import { cell, line, span } from "../text/line.ts";
import { Row, Rows } from "./line.tsx";

export function Help({ top, layout }: { top: number; layout: Layout }) {
  return <Rows lines={helpLines()} width={layout.columns} height={layout.body} top={top} />;
}

const titles: Record<PickerKind, string> = {
  server: "Show only one server",
  mime: "Show only one MIME type",
  level: "Show log lines of",
};

export function Picker({
  state,
  kind,
  index,
  layout,
}: {
  state: State;
  kind: PickerKind;
  index: number;
  layout: Layout;
}) {
  const choices = pickerChoices(state, kind);
  const height = layout.body - 2;
  const top = windowTop(index, choices.length, height);
  const width = Math.min(layout.columns, 60);
  return (
    <Box flexDirection="column" width={layout.columns} height={layout.body}>
      <Row line={line(` ${titles[kind]}`, "accent")} width={layout.columns} />
      <Row line={line("")} width={layout.columns} />
      {choices.slice(top, top + height).map((choice, place) => {
        const selected = top + place === index;
        const shown = [
          span(selected ? " ▸ " : "   ", "accent"),
          ...cell(choice.label, width - 12),
          ...cell(formatCount(choice.count), 8, { align: "right", tone: "quiet" }),
          span(" "),
        ];
        return <Row key={choice.label} line={shown} width={width} selected={selected} />;
      })}
    </Box>
  );
}

export function TooSmall({ layout }: { layout: Layout }) {
  const lines = [
    line("Terminal too small", "title"),
    line(`${layout.columns}×${layout.rows}, needs ${smallest.columns}×${smallest.rows}`),
    line("q quits", "quiet"),
  ];
  return <Rows lines={lines} width={layout.columns} height={layout.rows} />;
}
