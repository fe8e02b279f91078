/**
 * Selects the visible part of a state: the filtered lists, the selected item, a picker's choices.
 *
 * Invariant: a list is filtered once per change of its inputs, not once per frame, so that ten
 * thousand resources cost nothing while only the call rate changes.
 */

import { ownLogLevels } from "../../../mcp/protocol/log-levels.ts";
import { fold } from "../text/line.ts";
import type { Cursor, ListName, LogRow, Panel, PickerKind, State } from "./model.ts";
import { columnsOf, sortOf, sortRows } from "./sorting.ts";

/** The lists that have a panel. */
export type Rows = Pick<State, ListName>;

/** An item of any list, discriminated by `list`. */
export type Item = { [Name in ListName]: { readonly list: Name; readonly item: Rows[Name][number] } }[ListName];

export const levels = ownLogLevels;

export function searchTerms(query: string): string[] {
  return fold(query)
    .split(/\s+/)
    .filter((term) => term !== "");
}

const keys: { readonly [Name in ListName]: (item: Rows[Name][number]) => string } = {
  servers: (item) => item.id,
  tools: (item) => item.name,
  prompts: (item) => item.name,
  resources: (item) => item.uri,
  templates: (item) => `${item.serverId} ${item.uriTemplate}`,
  logs: (item) => String(item.number),
  calls: (item) => item.requestId,
};

/** The text that a search matches: the visible columns. */
const texts: { readonly [Name in ListName]: (item: Rows[Name][number]) => string } = {
  servers: (item) => `${item.id}\n${item.state}\n${item.transport}\n${item.reason ?? ""}`,
  tools: (item) => `${item.name}\n${item.description ?? item.title ?? ""}`,
  prompts: (item) => `${item.name}\n${item.description ?? item.title ?? ""}`,
  resources: (item) => `${item.uri}\n${item.name}\n${item.mimeType ?? ""}`,
  templates: (item) => `${item.uriTemplate}\n${item.name}\n${item.description ?? ""}`,
  logs: (item) => `${item.server ?? ""}\n${logText(item)}`,
  calls: (item) => `${item.name ?? item.method}\n${item.serverId ?? ""}\n${item.client ?? ""}\n${item.outcome}`,
};

/** The message with its reason, which the log has beside it. */
export function logText({ msg, extra }: Pick<LogRow, "msg" | "extra">): string {
  const reason = extra?.["reason"];
  return typeof reason === "string" && !msg.includes(reason) ? `${msg}: ${reason}` : msg;
}

export const selectRows: { readonly [Name in ListName]: (state: State) => Rows[Name] } = {
  servers: rowsOf("servers", (state) => state.servers),
  tools: rowsOf("tools", (state) => ofServer(state.tools, state.serverFilter)),
  prompts: rowsOf("prompts", (state) => ofServer(state.prompts, state.serverFilter)),
  resources: rowsOf("resources", (state) => ofMime(ofServer(state.resources, state.serverFilter), state.mimeFilter)),
  templates: rowsOf("templates", (state) => ofMime(ofServer(state.templates, state.serverFilter), state.mimeFilter)),
  logs: rowsOf("logs", (state) => {
    const lowest = levels.indexOf(state.levelFilter);
    return state.logs.filter(
      (row) =>
        levels.indexOf(row.level) >= lowest && (state.serverFilter === undefined || row.server === state.serverFilter),
    );
  }),
  calls: rowsOf("calls", (state) => ofServer(state.calls, state.serverFilter)),
};

/** Returns a list's selector: filtered, searched and sorted once for each change of its inputs. */
function rowsOf<Name extends ListName>(
  list: Name,
  filtered: (state: State) => Rows[Name],
): (state: State) => Rows[Name] {
  const panel: Panel = list === "templates" ? "resources" : (list as Exclude<ListName, "templates">);
  return remember(
    (state) => [
      state[list],
      state.queries[panel],
      state.serverFilter,
      state.sorts[list],
      list === "logs" ? state.levelFilter : state.mimeFilter,
    ],
    (state) => sortRows(list, search(list, filtered(state), state.queries[panel]), sortOf(list, state.sorts)),
  );
}

export function keyOf<Name extends ListName>(list: Name, item: Rows[Name][number]): string {
  return keys[list](item);
}

/** Returns the list that the cursor keys act on; the overview has none. */
export function currentList(state: State): ListName | undefined {
  if (state.panel === "overview") return undefined;
  return state.panel === "resources" && state.inTemplates ? "templates" : state.panel;
}

/**
 * Returns the cursor's index: its item if it still exists, else the nearest position. -1 in an
 * empty list.
 */
export function cursorIndex<Name extends ListName>(state: State, list: Name): number {
  const rows: Rows[Name] = selectRows[list](state);
  if (list === "logs" && state.follow && state.sorts.logs === undefined) return rows.length - 1;
  return locate(rows, state.cursors[list], keys[list]);
}

export function selectedItem(state: State): Item | undefined {
  const list = currentList(state);
  if (list === undefined) return undefined;
  const item = selectRows[list](state)[cursorIndex(state, list)];
  // `list` and `item` come from the same table entry, which the compiler cannot relate.
  return item === undefined ? undefined : ({ list, item } as Item);
}

/**
 * Returns the first visible row of a window of `height` that keeps the cursor visible, with a
 * margin.
 */
export function windowTop(index: number, length: number, height: number): number {
  if (length <= height || index < 0) return 0;
  return Math.max(0, Math.min(index - Math.floor(height / 2), length - height));
}

export interface Choice {
  readonly value: string | undefined;
  readonly label: string;
  readonly count: number;
}

export function pickerChoices(state: State, kind: PickerKind): Choice[] {
  switch (kind) {
    case "server": {
      const items = serverIdsOfPanel(state);
      const counts = tally(items);
      const all = { value: undefined, label: "all servers", count: items.length };
      return [all, ...state.servers.map(({ id }) => ({ value: id, label: id, count: counts.get(id) ?? 0 }))];
    }
    case "mime": {
      const items = [...state.resources, ...state.templates].map((item) => item.mimeType ?? "");
      const known = [...tally(items)].filter(([mime]) => mime !== "").sort(([a], [b]) => (a < b ? -1 : 1));
      const all = { value: undefined, label: "all types", count: items.length };
      return [all, ...known.map(([mime, count]) => ({ value: mime, label: mime, count }))];
    }
    case "sort": {
      const list = currentList(state);
      return list === undefined ? [] : columnsOf(list).map((column) => ({ value: column, label: column, count: 0 }));
    }
    case "level":
      return levels.map((level, index) => ({
        value: level,
        label: level === "trace" ? "trace (all)" : `${level} and above`,
        count: state.logs.filter((entry) => levels.indexOf(entry.level) >= index).length,
      }));
  }
}

export function isSubscribed(state: State, resource: Rows["resources"][number]): boolean {
  return resource.subscribers > 0 || subscribedKeys(state).has(`${resource.serverId} ${resource.originalUri}`);
}

const subscribedKeys = remember(
  (state) => [state.subscriptions],
  (state) => new Set(state.subscriptions.map((item) => `${item.serverId} ${item.uri}`)),
);

function serverIdsOfPanel(state: State): readonly (string | null)[] {
  if (state.panel === "logs") return state.logs.map((item) => item.server);
  if (state.panel === "calls") return state.calls.map((item) => item.serverId);
  if (state.panel === "prompts") return state.prompts.map((item) => item.serverId);
  if (state.panel === "resources") return [...state.resources, ...state.templates].map((item) => item.serverId);
  return state.tools.map((item) => item.serverId);
}

function tally(items: readonly (string | null)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) if (item !== null) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function locate<T>(rows: readonly T[], cursor: Cursor, key: (item: T) => string): number {
  const at = Math.min(cursor.index, rows.length - 1);
  const here = rows[at];
  if (here === undefined || cursor.key === undefined || key(here) === cursor.key) return at;
  const moved = rows.findIndex((row) => key(row) === cursor.key);
  return moved >= 0 ? moved : at;
}

function search<Name extends ListName>(list: Name, rows: Rows[Name], query: string): Rows[Name] {
  const terms = searchTerms(query);
  if (terms.length === 0) return rows;
  const text: (item: Rows[Name][number]) => string = texts[list];
  // A filter keeps the type of the rows, which the compiler cannot know.
  return rows.filter((row) => {
    const folded = fold(text(row));
    return terms.every((term) => folded.includes(term));
  }) as unknown as Rows[Name];
}

function ofServer<T extends { serverId: string | null }>(
  rows: readonly T[],
  serverId: string | undefined,
): readonly T[] {
  return serverId === undefined ? rows : rows.filter((row) => row.serverId === serverId);
}

function ofMime<T extends { mimeType?: string | undefined }>(
  rows: readonly T[],
  mime: string | undefined,
): readonly T[] {
  return mime === undefined ? rows : rows.filter((row) => row.mimeType === mime);
}

function remember<T>(inputs: (state: State) => readonly unknown[], compute: (state: State) => T) {
  let last: { readonly inputs: readonly unknown[]; readonly value: T } | undefined;
  return (state: State): T => {
    const now = inputs(state);
    if (last === undefined || now.some((input, index) => input !== last?.inputs[index])) {
      last = { inputs: now, value: compute(state) };
    }
    return last.value;
  };
}
