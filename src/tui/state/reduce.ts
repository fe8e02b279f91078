/**
 * The dashboard's reducer: maps a state and an action to the next state.
 *
 * Pure: side effects (a restart, a call, the clipboard) happen elsewhere. Invariant: an action that
 * does not apply in the current mode changes nothing.
 */
import { clean, strip } from "../../text/clean.ts";
import type { Action } from "./action.ts";
import { applyEvents, applyLoaded } from "./apply.ts";
import { type CallForm, checkForm, createForm, editForm } from "./form.ts";
import { type Mode, type Notice, type Panel, panels, type State } from "./model.ts";
import { move, place, reselect } from "./navigate.ts";
import { cursorIndex, levels, pickerChoices, selectedItem } from "./select.ts";

const browse: Mode = { name: "browse" };
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
      return openPicker(state, action.kind);
    case "choose":
      return choose(state);
    case "ask-restart":
      return ask(state, "restart");
    case "ask-toggle":
      return ask(state, "toggle");
    case "answer":
      return state.mode.name === "confirm" ? { ...state, mode: browse } : state;
    case "call-open":
      return openCall(state);
    case "call-edit":
      return withForm(state, (form) => (form.stage.name === "edit" ? editForm(form, action.edit) : form));
    case "call-next":
      return callNext(state);
    case "call-submit":
      return submit(state);
    case "copy":
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
  return { ...state, details: state.details === "closed" ? "open" : "focused" };
}

/** Handles Esc and left: leaves the innermost view first, the search last. */
function back(state: State): State {
  if (state.mode.name === "call") return leaveCall(state, state.mode.form);
  if (state.mode.name !== "browse") return { ...state, mode: browse };
  if (state.details === "focused") return { ...state, details: "open" };
  if (state.details === "open") return { ...state, details: "closed", detailsTop: 0 };
  return state.queries[state.panel] === "" ? state : setQuery(state, "");
}

function follow(state: State): State {
  if (state.panel !== "logs") return state;
  if (!state.follow) return { ...state, follow: true };
  return { ...place(state, "logs", cursorIndex(state, "logs")), follow: false };
}

function setQuery(state: State, query: string): State {
  if (query === state.queries[state.panel]) return state;
  return reselect(state, { ...state, queries: { ...state.queries, [state.panel]: query }, detailsTop: 0 });
}

function editQuery(query: string, edit: { insert: string } | { erase: "one" | "word" | "all" }): string {
  if ("insert" in edit) return query + strip(edit.insert);
  if (edit.erase === "all") return "";
  return edit.erase === "word" ? query.replace(/\S*\s*$/, "") : [...query].slice(0, -1).join("");
}

function openPicker(state: State, kind: "server" | "mime" | "level"): State {
  const here: Record<typeof kind, readonly Panel[]> = {
    server: ["tools", "prompts", "resources", "logs"],
    mime: ["resources"],
    level: ["logs"],
  };
  if (!here[kind].includes(state.panel)) return state;
  const current = { server: state.serverFilter, mime: state.mimeFilter, level: state.levelFilter }[kind];
  const index = pickerChoices(state, kind).findIndex((choice) => choice.value === current);
  return { ...state, mode: { name: "picker", kind, index: Math.max(0, index) } };
}

function choose(state: State): State {
  if (state.mode.name !== "picker") return state;
  const { kind, index } = state.mode;
  const choice = pickerChoices(state, kind)[index];
  const next = { ...state, mode: browse, detailsTop: 0 };
  if (choice === undefined) return next;
  if (kind === "server") return reselect(state, { ...next, serverFilter: choice.value });
  if (kind === "mime") return reselect(state, { ...next, mimeFilter: choice.value });
  return reselect(state, { ...next, levelFilter: pickedLevel(choice.value) ?? state.levelFilter });
}

function pickedLevel(value: string | undefined): State["levelFilter"] | undefined {
  return levels.find((level) => level === value);
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

function openCall(state: State): State {
  const selected = selectedItem(state);
  if (selected?.list !== "tools") return state;
  return { ...state, mode: { name: "call", form: createForm(selected.item) } };
}

function withForm(state: State, change: (form: CallForm) => CallForm): State {
  return state.mode.name === "call" ? { ...state, mode: { name: "call", form: change(state.mode.form) } } : state;
}

/** Moves to the next field; after the last one, calls the tool. */
function callNext(state: State): State {
  if (state.mode.name !== "call") return state;
  const { form } = state.mode;
  if (form.stage.name === "done") return leaveCall(state, form);
  if (form.focus >= form.fields.length) return submit(state);
  return withForm(state, () => editForm(form, { type: "focus", by: 1 }));
}

function submit(state: State): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "edit") return form;
    const checked = checkForm(form);
    return checked.ok ? { ...form, stage: { name: "running", since: state.now } } : checked.form;
  });
}

function callDone(state: State, done: { tool: string; failed: boolean; ms: number; text: string }): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "running" || form.tool !== done.tool) return form;
    const fields = form.fields.map((field) => ({ ...field, error: undefined }));
    return { ...form, fields, stage: { name: "done", failed: done.failed, ms: done.ms, text: done.text, top: 0 } };
  });
}

/**
 * Leaves a result or a running call for the form, which keeps its text; leaves the form for the
 * list.
 */
function leaveCall(state: State, form: CallForm): State {
  if (form.stage.name === "edit") return { ...state, mode: browse };
  return withForm(state, () => ({ ...form, stage: { name: "edit" } }));
}
