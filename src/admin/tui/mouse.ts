/**
 * The mouse: what a click or a turn of the wheel means on the screen as it is.
 *
 * Pure. Reports come in the SGR form, without the escape character.
 */
import type { KeyAction } from "./state/action.ts";
import { headRows, layoutOf } from "./state/layout.ts";
import type { ListName, State } from "./state/model.ts";
import { paletteEntries } from "./state/palette.ts";
import { cursorIndex, selectRows, windowTop } from "./state/select.ts";
import { headingCells } from "./views/columns.ts";
import { tabsOf } from "./views/frame.ts";

export const mouseOn = "\u001b[?1000h\u001b[?1006h";
export const mouseOff = "\u001b[?1006l\u001b[?1000l";

interface MouseEvent {
  readonly button: number;
  readonly column: number;
  readonly row: number;
  readonly released: boolean;
}

/** Returns the events in an input, or undefined if it is none of the mouse's. */
export function readMouse(input: string): MouseEvent[] | undefined {
  const found = [...input.matchAll(/\[<(\d+);(\d+);(\d+)([Mm])/g)];
  if (
    found.length === 0 ||
    found.reduce((sum, [whole]) => sum + whole.length, 0) < input.replaceAll("\u001b", "").length
  )
    return undefined;
  return found.map(([, button, column, row, kind]) => ({
    button: Number(button),
    column: Number(column),
    row: Number(row),
    released: kind === "m",
  }));
}

const wheelUp = 64;
const wheelDown = 65;

export function mouseAction(state: State, { button, column, row, released }: MouseEvent): KeyAction[] {
  if (released) return [];
  if (button === wheelUp || button === wheelDown) return [{ type: "move", motion: button === wheelUp ? -3 : 3 }];
  if (button !== 0) return [];
  const layout = layoutOf(state);
  const head = headRows + (layout.banner ? 1 : 0);
  if (row === head - 1) return tabAt(state, column);
  const inBody = row - head - 1;
  if (inBody < 0 || inBody >= layout.body) return [];
  if (state.mode.name === "palette") return paletteAt(state, state.mode, { row: inBody - 2, height: layout.body - 2 });
  if (state.mode.name !== "browse" || state.panel === "overview") return [];
  if (column > layout.listColumns) return state.details === "focused" ? [] : [{ type: "enter" }];
  return listAt(state, { column, row: inBody });
}

function tabAt(state: State, column: number): KeyAction[] {
  let from = 1;
  for (const { panel, label } of tabsOf(state, state.size.columns)) {
    if (column >= from && column < from + label.length) return [{ type: "panel", to: panel }];
    from += label.length;
  }
  return [];
}

function paletteAt(
  state: State,
  { query, index }: { query: string; index: number },
  { row, height }: { row: number; height: number },
): KeyAction[] {
  const entries = paletteEntries(state, query);
  const at = windowTop(index, entries.length, height) + row;
  return row < 0 || at >= entries.length ? [] : [{ type: "palette-run", index: at }];
}

function listAt(state: State, { column, row }: { column: number; row: number }): KeyAction[] {
  const { listRows, templateRows, listColumns } = layoutOf(state);
  const inTemplates = state.panel === "resources" && row > listRows + 1;
  const list = (inTemplates ? "templates" : state.panel) as ListName;
  const height = inTemplates ? templateRows - 1 : listRows;
  const at = inTemplates ? row - listRows - 2 : row;
  const rows = selectRows[list](state).length;
  const width = rows > height ? listColumns - 1 : listColumns;
  if (at === 0) {
    const cell = headingCells(list, width).find(({ from, width: size }) => column > from && column <= from + size);
    return cell === undefined || cell.title === "" ? [] : [{ type: "sort", column: cell.title }];
  }
  const isActive = state.inTemplates === inTemplates || state.panel !== "resources";
  const cursor = cursorIndex(state, list);
  const index = windowTop(cursor, rows, height) + at - 1;
  if (index < 0 || index >= rows) return [];
  // A click on the selected row opens it.
  return index === cursor && isActive ? [{ type: "enter" }] : [{ type: "select", list, index }];
}
