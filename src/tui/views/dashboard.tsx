/**
 * The whole screen for a state: head, tabs, filters, the panel or its replacement, messages, hints.
 *
 * Invariant: it depends only on the state and fills the screen exactly.
 */
import { Box } from "ink";
import { type Layout, layoutOf } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { CallView } from "./call.tsx";
import { configBanner } from "./config-banner.ts";
import { Help, Picker, TooSmall } from "./dialogs.tsx";
import { filterLine, headLine, hintLine, messageLine, tabsLine } from "./frame.ts";
import { Row } from "./line.tsx";
import { Overview } from "./overview.tsx";
import { ListPanel } from "./panels.tsx";

export function Dashboard({ state }: { state: State }) {
  const layout = layoutOf(state);
  if (layout.tooSmall) return <TooSmall layout={layout} />;
  const { columns } = layout;
  const problem = state.gateway?.configProblem ?? null;
  return (
    <Box flexDirection="column" width={columns} height={layout.rows}>
      <Row line={headLine(state, columns)} width={columns} />
      {problem !== null && <Row line={configBanner(problem, columns)} width={columns} />}
      <Row line={tabsLine(state, columns)} width={columns} />
      <Row line={filterLine(state)} width={columns} />
      <Box width={columns} height={layout.body}>
        <Body state={state} layout={layout} />
      </Box>
      <Row line={messageLine(state)} width={columns} />
      <Row line={hintLine(state, columns)} width={columns} />
    </Box>
  );
}

function Body({ state, layout }: { state: State; layout: Layout }) {
  const { mode } = state;
  if (mode.name === "help") return <Help top={mode.top} layout={layout} />;
  if (mode.name === "picker") return <Picker state={state} kind={mode.kind} index={mode.index} layout={layout} />;
  if (mode.name === "call") return <CallView state={state} form={mode.form} layout={layout} />;
  if (state.panel === "overview") return <Overview state={state} layout={layout} />;
  return <ListPanel state={state} layout={layout} />;
}
