/** A list with its heading and a scroll bar; draws only the visible rows. */
import type { ListName, State } from "../state/model.ts";
import { cursorIndex, searchTerms, selectRows, windowTop } from "../state/select.ts";
import { asBar, fitLine, type Line, line, span } from "../text/line.ts";
import { headingLine, rowLine } from "./columns.ts";
import { scrollBar } from "./scroll-bar.ts";

export interface ListProps {
  readonly list: ListName;
  readonly width: number;
  readonly height: number;
  /** Whether the cursor keys act on this list. */
  readonly active: boolean;
  readonly empty: string;
}

export function listLines(state: State, { list, width, height, active, empty }: ListProps): Line[] {
  const rows: readonly unknown[] = selectRows[list](state);
  const at = cursorIndex(state, list);
  const top = windowTop(at, rows.length, height);
  const terms = searchTerms(state.queries[state.panel]);
  const inner = rows.length > height ? width - 1 : width;
  const heading = headingLine(state, list, inner);
  if (rows.length === 0) return [heading, line(`  ${empty}`, "quiet")];
  const shown = rows.slice(top, top + height).map((item, index) => {
    const selected = active && top + index === at;
    // The row belongs to the list that names its columns, which the compiler cannot know.
    const drawn = rowLine(list, item as never, { state, width: inner, selected, terms });
    return selected ? asBar(drawn, inner) : drawn;
  });
  if (rows.length <= height) return [heading, ...shown];
  const bar = scrollBar({ top, height, total: rows.length });
  return [heading, ...shown.map((one, index) => [...fitLine(one, inner), bar[index] ?? span(" ")])];
}
