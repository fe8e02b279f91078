/**
 * The dashboard's reducer: maps a state and an action to the next state.
 *
 * Pure: side effects (a restart, a call, the clipboard) happen elsewhere. Invariant: an action that
 * does not apply in the current mode changes nothing.
 */

import { clean } from "../../../lib/text/clean.ts";
import type { LockState } from "../../api/lock/schema.ts";
import type { Action } from "./action.ts";
import { applyEvents, applyLoaded } from "./apply.ts";
import {
  answerQuestion,
  callDone,
  callNext,
  confirmCall,
  editCall,
  editQuestion,
  fold,
  leaveCall,
  liveEvent,
  openCall,
  openQuestion,
  openView,
  reread,
  submit,
  suggested,
} from "./calling.ts";
import { layoutOf } from "./layout.ts";
import { browse, type ListName, type LockItem, type Notice, type Panel, panels, type State } from "./model.ts";
import { move, place, reselect } from "./navigate.ts";
import { choose, editQuery, openPicker, setQuery, sortBy, sortReverse, sortStep } from "./refine.ts";
import { cursorIndex, keyOf, type Rows, selectedItem, selectRows } from "./select.ts";

const noticeMs = 5000;

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "loaded":
      return applyLoaded(state, action.lists);
    case "events":
      return applyEvents(state, action.events);
    case "link":
      return { ...state, link: action.link };
    case "tick":
      return tick(state, action.now);
    case "resize":
      return { ...state, size: action.size };
    case "notice":
      return notify(state, action.text, action.tone);
    case "call-done":
      return callDone(state, action);
    case "live":
      return liveEvent(state, action.event);
    case "suggested":
      return suggested(state, action);
    case "about":
      return { ...state, about: action.about };
    case "watching":
      return watching(state, action);
    case "view":
      return openView(state, action);
    case "reread":
      return reread(state);
    case "image":
      return showImage(state, action.shown);
    case "panel":
      return showPanel(state, action.to);
    case "panel-step":
      return showPanel(state, panels[(panels.indexOf(state.panel) + action.by + panels.length) % panels.length]);
    case "move":
      return move(state, action.motion);
    case "enter":
      return enter(state);
    case "back":
      return back(state);
    case "templates":
      return state.panel === "resources" ? { ...state, inTemplates: !state.inTemplates, detailsTop: 0 } : state;
    case "follow":
      return follow(state);
    case "help":
      return { ...state, mode: { name: "help", top: 0 } };
    case "search":
      return state.panel === "overview" ? state : { ...state, mode: { name: "search" }, details: unfocused(state) };
    case "search-edit":
      return setQuery(state, editQuery(state.queries[state.panel], action.edit));
    case "search-done":
      return { ...(action.keep ? state : setQuery(state, "")), mode: browse };
    case "pick":
      // The same key leads from a server to its log.
      if (action.kind === "level" && state.panel === "servers") return jump(state, "logs");
      return openPicker(state, action.kind);
    case "choose":
      return choose(state);
    case "ask-restart":
      return ask(state, "restart");
    case "ask-toggle":
      return ask(state, "toggle");
    case "answer":
      return state.mode.name === "confirm" ? { ...state, mode: browse } : confirmCall(state, action.yes);
    case "call-open":
      return openCall(state);
    case "call-edit":
      return editCall(state, action.edit);
    case "call-next":
      return callNext(state);
    case "call-submit":
      return submit(state);
    case "question-edit":
      return editQuestion(state, action.edit);
    case "question-next":
      return questionNext(state);
    case "question-answer":
      return answerQuestion(state, action.how);
    case "fold":
      return fold(state, action.what);
    case "jump":
      return jump(state, action.to, action.server);
    case "select":
      return selectRow(state, action.list, action.index);
    case "reach":
      return reach(state, action.list, action.key);
    case "sort":
      return sortBy(state, action.column);
    case "sort-step":
      return sortStep(state, action.by);
    case "sort-reverse":
      return sortReverse(state);
    case "approvals":
      return stepApproval(state, 0);
    case "approval-step":
      return stepApproval(state, action.by);
    case "lock-shown":
      return showLock(state, action.lock);
    case "lock-step":
      return stepLock(state, action.by);
    case "palette":
      return { ...state, mode: { name: "palette", query: "", index: 0 } };
    case "palette-edit":
      return state.mode.name === "palette"
        ? { ...state, mode: { ...state.mode, query: editQuery(state.mode.query, action.edit), index: 0 } }
        : state;
    case "palette-run":
      return state.mode.name === "palette" ? { ...state, mode: browse } : state;
    case "mouse":
      return notify(
        { ...state, mouse: !state.mouse },
        state.mouse ? "Mouse off: the terminal selects text" : "Mouse on",
        "plain",
      );
    case "theme":
      return { ...state, theme: action.to };
    case "save":
    case "show-image":
    case "watch":
    case "copy":
    case "log-in":
    case "pair":
    case "grants":
    case "approval-answer":
    case "lock":
    case "lock-approve":
    case "lock-switch":
    case "reload":
    case "redraw":
    case "quit":
      return state;
  }
}

function notify(state: State, text: string, tone: Notice["tone"]): State {
  return { ...state, notice: { text: clean(text), tone, until: state.now + noticeMs } };
}

function tick(state: State, now: number): State {
  const over = state.notice !== undefined && state.notice.until <= now;
  return over ? { ...state, now, notice: undefined } : { ...state, now };
}

function showPanel(state: State, panel: Panel | undefined): State {
  if (panel === undefined || panel === state.panel) return state;
  return { ...state, panel, details: unfocused(state), detailsTop: 0, mode: browse };
}

const unfocused = (state: State): State["details"] => (state.details === "focused" ? "open" : state.details);

function enter(state: State): State {
  if (state.panel === "overview") return showPanel(state, "servers");
  if (selectedItem(state) === undefined) return state;
  // A call's texts are worth the whole screen.
  const isOpen = layoutOf(state).detailsColumns > 0;
  if (state.panel === "calls" && isOpen) return openCall(state);
  return { ...state, details: isOpen ? "focused" : "open" };
}

/** Handles Esc and left: leaves the innermost view first, the search last. */
function back(state: State): State {
  if (state.mode.name === "call") return leaveCall(state, state.mode.form);
  if (state.mode.name === "image") return { ...state, mode: state.mode.back };
  if (state.mode.name !== "browse") return { ...state, mode: browse };
  if (state.details === "focused") return { ...state, details: "open" };
  if (state.details === "open" && !layoutOf(state).wide) return { ...state, details: "closed", detailsTop: 0 };
  return state.queries[state.panel] === "" ? state : setQuery(state, "");
}

function follow(state: State): State {
  if (state.panel !== "logs") return state;
  if (!state.follow) return { ...state, follow: true };
  return { ...place(state, "logs", cursorIndex(state, "logs")), follow: false };
}

function ask(state: State, verb: "restart" | "toggle"): State {
  const selected = selectedItem(state);
  if (selected?.list !== "servers") return state;
  const { id, state: condition } = selected.item;
  if (condition === "invalid") return notify(state, `${id} is not valid: mend its entry in the config`, "bad");
  const disabled = condition === "disabled";
  if (verb === "restart" && disabled) return notify(state, `${id} is disabled: enable it with e`, "bad");
  const pending = { serverId: id, verb: verb === "restart" ? verb : disabled ? "enable" : "disable" } as const;
  return { ...state, mode: { name: "confirm", pending } };
}

function questionNext(state: State): State {
  const question = openQuestion(state);
  if (question === undefined) return state;
  const { focus, fields } = question.form;
  if (focus > fields.length || question.kind === "other") return answerQuestion(state, "decline");
  return focus === fields.length ? answerQuestion(state, "accept") : editQuestion(state, { type: "focus", by: 1 });
}

/** Shows only what belongs to a server: the given one, or that of the selected item. */
function jump(state: State, to: "tools" | "logs" | "calls", server = serverOf(state)): State {
  if (server === undefined) return state;
  const shown = showPanel(state, to);
  return reselect(shown, { ...shown, serverFilter: server, mode: browse });
}

function serverOf(state: State): string | undefined {
  const selected = selectedItem(state);
  if (selected === undefined) return undefined;
  if (selected.list === "servers") return selected.item.id;
  if (selected.list === "logs") return selected.item.server ?? undefined;
  return selected.item.serverId ?? undefined;
}

function selectRow(state: State, list: ListName, index: number): State {
  const inTemplates = state.panel === "resources" ? list === "templates" : state.inTemplates;
  return {
    ...place({ ...state, inTemplates, follow: list === "logs" ? false : state.follow }, list, index),
    detailsTop: 0,
  };
}

/** Selects an item by its key, whatever the filters hide. */
function reach(state: State, list: ListName, key: string): State {
  const panel = list === "templates" ? "resources" : list;
  const open = { ...state, serverFilter: undefined, mimeFilter: undefined, queries: { ...state.queries, [panel]: "" } };
  const rows: readonly Rows[ListName][number][] = selectRows[list](open);
  const index = rows.findIndex((row) => keyOf<ListName>(list, row) === key);
  return index < 0 ? state : selectRow(open, list, index);
}

function watching(
  state: State,
  { uri, event }: { uri: string; event: "opening" | "open" | "updated" | "closed" },
): State {
  const { [uri]: known, ...others } = state.watched;
  if (event === "closed") return { ...state, watched: others };
  const { updates = 0, last } = known ?? {};
  const next =
    event === "updated"
      ? { status: "open" as const, updates: updates + 1, last: state.now }
      : { status: event, updates, last };
  const watched = { ...state.watched, [uri]: next };
  if (event !== "updated") return { ...state, watched };
  return notify({ ...state, watched }, `${uri} was updated (${next.updates}×)`, "good");
}

/** Shows the first call that waits, or the one after or before that which is shown. */
function stepApproval(state: State, by: number): State {
  const { approvals, mode } = state;
  if (approvals.length === 0) return notify(state, "Nothing waits for approval", "plain");
  const at = mode.name === "approval" ? approvals.findIndex(({ id }) => id === mode.id) : 0;
  const { id } = approvals[(Math.max(0, at) + by + approvals.length) % approvals.length]!;
  return { ...state, mode: { name: "approval", id, top: 0 } };
}

/** Shows the first server that is not as it was approved. */
function showLock(state: State, { servers, mode }: LockState): State {
  const others = servers.flatMap((server): LockItem[] => {
    const { id, approved, upgrade } = server;
    const { reason = "", digest: current = null, source = {}, drifts = [] } = upgrade ?? {};
    return [
      ...(upgrade ? [{ id, approved, state: "upgrade" as const, reason, current, source, drifts }] : []),
      ...(server.state === "approved" ? [] : [server]),
    ];
  });
  if (others.length === 0) return notify({ ...state, mode: browse }, "Every server is as it was approved", "good");
  const shown: State = { ...state, mode: { name: "lock", servers: others, index: 0, top: 0 } };
  return mode === "off" ? notify(shown, "The lock is off: nothing of this is enforced", "plain") : shown;
}

function stepLock(state: State, by: number): State {
  const { mode } = state;
  if (mode.name !== "lock") return state;
  const { length } = mode.servers;
  return { ...state, mode: { ...mode, index: (mode.index + by + length) % length, top: 0 } };
}

function showImage(state: State, shown: boolean): State {
  if (shown) return { ...state, mode: { name: "image", back: state.mode } };
  return state.mode.name === "image" ? { ...state, mode: state.mode.back } : state;
}
