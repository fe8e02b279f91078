/**
 * The palette: every command, server, tool, prompt and resource by a few letters of its name.
 *
 * Pure. Invariant: an entry's actions are those that keys would give.
 */
import { fold } from "../text/line.ts";
import type { KeyAction } from "./action.ts";
import { panels, type State } from "./model.ts";
import { currentList } from "./select.ts";
import { columnsOf } from "./sorting.ts";
import { themes } from "./theme.ts";

export interface PaletteEntry {
  readonly label: string;
  readonly note: string;
  readonly actions: readonly KeyAction[];
}

const most = 200;

export function paletteEntries(state: State, query: string): PaletteEntry[] {
  const terms = fold(query)
    .split(/\s+/)
    .filter((term) => term !== "");
  const ranked: { entry: PaletteEntry; rank: number }[] = [];
  for (const entry of allEntries(state, terms.length > 0)) {
    const label = fold(entry.label);
    const text = `${label} ${fold(entry.note)}`;
    if (!terms.every((term) => text.includes(term))) continue;
    const [first = ""] = terms;
    ranked.push({ entry, rank: label.startsWith(first) ? 0 : label.includes(first) ? 1 : 2 });
    if (ranked.length >= most * 5) break;
  }
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ entry }) => entry);
}

function* allEntries(state: State, searched: boolean): Generator<PaletteEntry> {
  for (const to of panels) yield { label: to, note: "panel", actions: [{ type: "panel", to }] };
  const list = currentList(state);
  for (const column of list === undefined ? [] : columnsOf(list)) {
    yield { label: `sort by ${column.toLowerCase()}`, note: `sort ${list}`, actions: [{ type: "sort", column }] };
  }
  yield { label: "reverse the order", note: "sort", actions: [{ type: "sort-reverse" }] };
  yield { label: "reload the config", note: "gateway", actions: [{ type: "reload" }] };
  yield { label: "pair a client", note: "a code that lets it in", actions: [{ type: "pair" }] };
  yield { label: "approvals", note: "calls that wait for a person", actions: [{ type: "approvals" }] };
  yield { label: "lock", note: "servers that are not as they were approved", actions: [{ type: "lock" }] };
  yield { label: "grants", note: "the clients that were let in", actions: [{ type: "grants" }] };
  yield { label: state.mouse ? "mouse off" : "mouse on", note: "terminal", actions: [{ type: "mouse" }] };
  for (const to of themes) {
    if (to !== state.theme) yield { label: `theme ${to}`, note: "colours", actions: [{ type: "theme", to }] };
  }
  yield { label: "help", note: "keys", actions: [{ type: "help" }] };
  yield { label: "quit", note: "", actions: [{ type: "quit" }] };
  for (const { id, state: condition } of state.servers) {
    const reach: KeyAction[] = [
      { type: "panel", to: "servers" },
      { type: "reach", list: "servers", key: id },
    ];
    yield { label: id, note: `server, ${condition}`, actions: reach };
    if (!searched) continue;
    yield { label: `${id} tools`, note: "tools of the server", actions: [{ type: "jump", to: "tools", server: id }] };
    yield { label: `${id} logs`, note: "logs of the server", actions: [{ type: "jump", to: "logs", server: id }] };
    yield { label: `${id} calls`, note: "calls of the server", actions: [{ type: "jump", to: "calls", server: id }] };
    yield { label: `restart ${id}`, note: "server", actions: [...reach, { type: "ask-restart" }] };
    const verb = condition === "disabled" ? "enable" : "disable";
    yield { label: `${verb} ${id}`, note: "server", actions: [...reach, { type: "ask-toggle" }] };
  }
  if (searched) yield* offered(state);
}

function* offered(state: State): Generator<PaletteEntry> {
  for (const { name } of state.tools) {
    yield { label: name, note: "tool: call it", actions: open("tools", name) };
  }
  for (const { name } of state.prompts) {
    yield { label: name, note: "prompt: get it", actions: open("prompts", name) };
  }
  for (const { uri } of state.resources) {
    yield { label: uri, note: "resource: read it", actions: open("resources", uri) };
  }
}

function open(list: "tools" | "prompts" | "resources", key: string): KeyAction[] {
  return [{ type: "panel", to: list }, { type: "reach", list, key }, { type: "call-open" }];
}
