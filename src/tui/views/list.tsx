/** A list with its heading; draws only the visible rows. */
import { Box } from "ink";
import type { ListName, State } from "../state/model.ts";
import { cursorIndex, searchTerms, selectRows, windowTop } from "../state/select.ts";
import { line } from "../text/line.ts";
import { headingLine, rowLine } from "./columns.ts";
import { Row } from "./line.tsx";

export interface ListProps {
  readonly state: State;
  readonly list: ListName;
  readonly width: number;
  readonly height: number;
  /** Whether the cursor keys act on this list. */
  readonly active: boolean;
  readonly empty: string;
}

export function List({ state, list, width, height, active, empty }: ListProps) {
  const rows: readonly unknown[] = selectRows[list](state);
  const at = cursorIndex(state, list);
  const top = windowTop(at, rows.length, height);
  const terms = searchTerms(state.queries[state.panel]);
  return (
    <Box flexDirection="column" width={width} height={height + 1}>
      <Row line={headingLine(list, width)} width={width} />
      {rows.length === 0 && <Row line={line(`  ${empty}`, "quiet")} width={width} />}
      {rows.slice(top, top + height).map((item, index) => {
        const selected = active && top + index === at;
        // The row belongs to the list that names its columns, which the compiler cannot know.
        const shown = rowLine(list, item as never, { state, width, selected, terms });
        // biome-ignore lint/suspicious/noArrayIndexKey: a window's rows are its places, reused as it scrolls
        return <Row key={index} line={shown} width={width} selected={selected} />;
      })}
    </Box>
  );
}
