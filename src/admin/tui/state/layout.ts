/**
 * Computes the layout for a given screen size.
 *
 * Invariant: the parts add up to the screen exactly, from 80 × 24 (and somewhat below) upwards. A
 * wide screen shows the details beside their list without being asked.
 */
import type { State } from "./model.ts";

export const smallest = { columns: 60, rows: 15 } as const;
/** From here on there is room for two panels side by side. */
const wideColumns = 140;

export interface Layout {
  readonly tooSmall: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Whether two panels fit side by side. */
  readonly wide: boolean;
  /** Whether the head has a fourth line that names a config problem. */
  readonly banner: boolean;
  /** The rows between the head and the two lines of the foot. */
  readonly body: number;
  readonly listColumns: number;
  /** The columns of the details panel including its border; 0 while it is closed. */
  readonly detailsColumns: number;
  /** The rows of the selected list without its heading. */
  readonly listRows: number;
  readonly templateRows: number;
}

export const headRows = 3;
const footRows = 2;

export function layoutOf(state: Pick<State, "size" | "details" | "panel" | "inTemplates" | "gateway">): Layout {
  const { columns, rows } = state.size;
  const wide = columns >= wideColumns;
  const banner = state.gateway !== undefined && state.gateway.configProblem !== null;
  const body = Math.max(1, rows - headRows - (banner ? 1 : 0) - footRows);
  const open = (state.details !== "closed" || wide) && state.panel !== "overview";
  const detailsColumns = open ? Math.min(Math.floor(columns * 0.55), Math.max(42, Math.floor(columns * 0.45))) : 0;
  // The Resources panel shows a heading and resources, then a title and templates.
  const share = state.inTemplates ? Math.floor(body / 2) : Math.max(3, Math.floor(body / 4));
  const templateRows = state.panel === "resources" ? share : 0;
  const listRows = Math.max(1, body - 1 - (templateRows > 0 ? templateRows + 1 : 0));
  return {
    tooSmall: columns < smallest.columns || rows < smallest.rows,
    columns,
    rows,
    wide,
    banner,
    body,
    listColumns: columns - detailsColumns,
    detailsColumns,
    listRows,
    templateRows,
  };
}
