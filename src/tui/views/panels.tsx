/** The list panels, with the details panel beside them. */
import { Box } from "ink";
import { formatCount } from "../../text/format.ts";
import { detailsHeight, detailsLines } from "../content/details.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { selectRows } from "../state/select.ts";
import { span } from "../text/line.ts";
import { Row, Rows } from "./line.tsx";
import { List } from "./list.tsx";

interface PanelProps {
  readonly state: State;
  readonly layout: Layout;
}

export function ListPanel({ state, layout }: PanelProps) {
  return (
    <Box width={layout.columns} height={layout.body}>
      <Lists state={state} layout={layout} />
      {layout.detailsColumns > 0 && <Details state={state} layout={layout} />}
    </Box>
  );
}

function Lists({ state, layout }: PanelProps) {
  const { panel } = state;
  const { listColumns: width, listRows: height } = layout;
  if (panel === "overview") return null;
  if (panel !== "resources")
    return <List state={state} list={panel} width={width} height={height} active empty={emptyText(state)} />;
  return (
    <Box flexDirection="column" width={width} height={layout.body}>
      <List
        state={state}
        list="resources"
        width={width}
        height={height}
        active={!state.inTemplates}
        empty={emptyText(state)}
      />
      <TemplateSection state={state} layout={layout} />
    </Box>
  );
}

function TemplateSection({ state, layout }: PanelProps) {
  const { listColumns: width, templateRows } = layout;
  const shown = selectRows.templates(state).length;
  const title = [
    span("─ ", "quiet"),
    span("Templates", "accent"),
    span(` ${formatCount(shown)} `, "quiet"),
    span("─".repeat(Math.max(0, width - 13 - formatCount(shown).length)), "quiet"),
  ];
  return (
    <Box flexDirection="column" width={width} height={templateRows + 1}>
      <Row line={title} width={width} />
      <List
        state={state}
        list="templates"
        width={width}
        height={templateRows - 1}
        active={state.inTemplates}
        empty="none"
      />
    </Box>
  );
}

function emptyText(state: State): string {
  if (state.link.status === "connecting") return "loading …";
  const filtered =
    state.queries[state.panel] !== "" ||
    state.serverFilter !== undefined ||
    state.mimeFilter !== undefined ||
    state.levelFilter !== "trace";
  return filtered ? "nothing matches: Esc clears the search, s and m the filters" : "none";
}

function Details({ state, layout }: PanelProps) {
  const lines = detailsLines(state, layout);
  const height = detailsHeight(layout);
  const top = Math.max(0, Math.min(state.detailsTop, lines.length - height));
  const focused = state.details === "focused";
  const below = lines.length - top - height;
  const framed = Array.from({ length: height }, (_, index) => {
    const edge = index === height - 1 && below > 0 ? "▼" : index === 0 && top > 0 ? "▲" : focused ? "┃" : "│";
    return [span(` ${edge} `, focused ? "accent" : "quiet"), ...(lines[top + index] ?? [])];
  });
  return <Rows lines={framed} width={layout.detailsColumns} height={height} />;
}
