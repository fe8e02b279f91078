/**
 * Narrows and orders the lists: the search text, the filters that a picker sets, and the sort
 * order. The selected item stays selected as long as it is visible.
 */
import { strip } from "../../../lib/text/clean.ts";
import type { QueryEdit } from "./action.ts";
import { browse, type Panel, panels, type State } from "./model.ts";
import { reselect } from "./navigate.ts";
import { currentList, levels, pickerChoices } from "./select.ts";
import { columnsOf, sortOf, startsDescending } from "./sorting.ts";

export function setQuery(state: State, query: string): State {
  if (query === state.queries[state.panel]) return state;
  return reselect(state, { ...state, queries: { ...state.queries, [state.panel]: query }, detailsTop: 0 });
}

export function editQuery(query: string, edit: QueryEdit): string {
  if ("insert" in edit) return query + strip(edit.insert);
  if (edit.erase === "all") return "";
  return edit.erase === "word" ? query.replace(/\S*\s*$/, "") : [...query].slice(0, -1).join("");
}

export function openPicker(state: State, kind: "server" | "mime" | "level" | "sort"): State {
  const here: Record<typeof kind, readonly Panel[]> = {
    server: ["tools", "prompts", "resources", "logs", "calls"],
    mime: ["resources"],
    level: ["logs"],
    sort: panels.slice(1),
  };
  if (!here[kind].includes(state.panel)) return state;
  const list = currentList(state);
  const sort = list === undefined ? undefined : sortOf(list, state.sorts).column;
  const current = { server: state.serverFilter, mime: state.mimeFilter, level: state.levelFilter, sort }[kind];
  const index = pickerChoices(state, kind).findIndex((choice) => choice.value === current);
  return { ...state, mode: { name: "picker", kind, index: Math.max(0, index) } };
}

export function choose(state: State): State {
  if (state.mode.name !== "picker") return state;
  const { kind, index } = state.mode;
  const choice = pickerChoices(state, kind)[index];
  const next = { ...state, mode: browse, detailsTop: 0 };
  if (choice === undefined) return next;
  if (kind === "server") return reselect(state, { ...next, serverFilter: choice.value });
  if (kind === "sort") return choice.value === undefined ? next : sortBy(next, choice.value);
  if (kind === "mime") return reselect(state, { ...next, mimeFilter: choice.value });
  return reselect(state, { ...next, levelFilter: pickedLevel(choice.value) ?? state.levelFilter });
}

function pickedLevel(value: string | undefined): State["levelFilter"] | undefined {
  return levels.find((level) => level === value);
}

/** Sorts by a column; the same column again reverses the order. */
export function sortBy(state: State, column: string): State {
  const list = currentList(state);
  if (list === undefined || !columnsOf(list).includes(column)) return state;
  const now = sortOf(list, state.sorts);
  const descending = now.column === column ? !now.descending : startsDescending(list, column);
  return reselect(state, { ...state, sorts: { ...state.sorts, [list]: { column, descending } } });
}

export function sortStep(state: State, by: number): State {
  const list = currentList(state);
  if (list === undefined) return state;
  const columns = columnsOf(list);
  const at = columns.indexOf(sortOf(list, state.sorts).column);
  const column = columns[(at + by + columns.length) % columns.length] ?? "";
  const sort = { column, descending: startsDescending(list, column) };
  return reselect(state, { ...state, sorts: { ...state.sorts, [list]: sort } });
}

export function sortReverse(state: State): State {
  const list = currentList(state);
  if (list === undefined) return state;
  const { column, descending } = sortOf(list, state.sorts);
  return reselect(state, { ...state, sorts: { ...state.sorts, [list]: { column, descending: !descending } } });
}
