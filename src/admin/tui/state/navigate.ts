/**
 * Moves cursors and scroll positions: lists, pickers, details, help and results.
 *
 * Invariant: a position never leaves the visible range, so one key back is always one step back.
 */
import { approvalHeight, approvalLines } from "../content/approvals.ts";
import { detailsHeight, detailsLines } from "../content/details.ts";
import { documentHeight, documentLines, documentWidth } from "../content/document.ts";
import { helpLines } from "../content/help.ts";
import { lockLines } from "../content/lock.ts";
import type { Motion } from "./action.ts";
import { openViewer, withViewer } from "./calling.ts";
import { layoutOf } from "./layout.ts";
import type { ListName, State } from "./model.ts";
import { paletteEntries } from "./palette.ts";
import { currentList, cursorIndex, keyOf, pickerChoices, type Rows, selectRows } from "./select.ts";

export function move(state: State, motion: Motion): State {
  const { mode } = state;
  const layout = layoutOf(state);
  switch (mode.name) {
    case "help": {
      const limit = helpLines().length - layout.body;
      return { ...state, mode: { ...mode, top: step(mode.top, motion, { limit, page: layout.body }) } };
    }
    case "picker": {
      const limit = pickerChoices(state, mode.kind).length - 1;
      return { ...state, mode: { ...mode, index: step(mode.index, motion, { limit, page: 5 }) } };
    }
    case "palette": {
      const limit = paletteEntries(state, mode.query).length - 1;
      return { ...state, mode: { ...mode, index: step(mode.index, motion, { limit, page: layout.body - 2 }) } };
    }
    case "call":
    case "view": {
      const viewer = openViewer(state);
      if (viewer === undefined) return state;
      const limit = documentLines(viewer, documentWidth(layout)).length - 1;
      const cursor = step(viewer.cursor, motion, { limit, page: documentHeight(layout) });
      return withViewer(state, (shown) => ({ ...shown, cursor }));
    }
    case "approval": {
      const row = state.approvals.find(({ id }) => id === mode.id);
      if (row === undefined) return state;
      const page = approvalHeight(layout);
      const limit = Math.max(0, approvalLines(row, state, layout.columns).length - page);
      return { ...state, mode: { ...mode, top: step(mode.top, motion, { limit, page }) } };
    }
    case "lock": {
      const page = approvalHeight(layout);
      const limit = Math.max(0, lockLines(mode.servers[mode.index]!, layout.columns).length - page);
      return { ...state, mode: { ...mode, top: step(mode.top, motion, { limit, page }) } };
    }
    case "image":
      return state;
    case "search":
    case "browse":
    case "confirm":
      return state.details === "focused" ? scrollDetails(state, motion) : moveCursor(state, motion);
  }
}

function scrollDetails(state: State, motion: Motion): State {
  const layout = layoutOf(state);
  const page = detailsHeight(layout);
  const limit = detailsLines(state, layout).length - page;
  return { ...state, detailsTop: step(state.detailsTop, motion, { limit, page }) };
}

function moveCursor(state: State, motion: Motion): State {
  const list = currentList(state);
  if (list === undefined) return state;
  const { listRows, templateRows } = layoutOf(state);
  const limit = selectRows[list](state).length - 1;
  const index = step(cursorIndex(state, list), motion, { limit, page: list === "templates" ? templateRows : listRows });
  // Leaving the last line of a followed log stops following; a key turns it on again.
  const follow = list === "logs" ? state.follow && index >= limit : state.follow;
  return { ...place({ ...state, follow }, list, index), detailsTop: 0 };
}

/**
 * Keeps the selection on its item after a search or filter change; if the item is gone, selects the
 * first row.
 */
export function reselect(before: State, after: State): State {
  const list = currentList(before);
  if (list === undefined) return after;
  const item = selectRows[list](before)[cursorIndex(before, list)];
  const key = item === undefined ? undefined : keyOf<ListName>(list, item);
  const rows: readonly Rows[ListName][number][] = selectRows[list](after);
  return place(
    after,
    list,
    Math.max(
      0,
      rows.findIndex((row) => keyOf<ListName>(list, row) === key),
    ),
  );
}

/** Moves a list's cursor to a row and remembers the item there. */
export function place<Name extends ListName>(state: State, list: Name, index: number): State {
  const item = selectRows[list](state)[index];
  // The item comes from the same list, which the compiler cannot relate.
  const key = item === undefined ? undefined : keyOf<ListName>(list, item);
  return { ...state, cursors: { ...state.cursors, [list]: { index: Math.max(0, index), key } } };
}

function step(from: number, motion: Motion, { limit, page }: { limit: number; page: number }): number {
  const half = Math.max(1, Math.floor(page / 2));
  const by: Record<Exclude<Motion, number>, number> = {
    top: Number.NEGATIVE_INFINITY,
    bottom: Number.POSITIVE_INFINITY,
    "half-down": half,
    "half-up": -half,
    "page-down": Math.max(1, page - 1),
    "page-up": -Math.max(1, page - 1),
  };
  return Math.max(0, Math.min(limit, from + (typeof motion === "number" ? motion : by[motion])));
}
