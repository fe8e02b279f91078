/**
 * The part of the reducer for calls that the dashboard makes: forms, confirmation, what arrives
 * meanwhile, questions, results.
 *
 * Invariant: what arrives for a call that was left changes nothing.
 */

import { formatClock, formatDuration, formatMs } from "../../../lib/text/format.ts";
import type { LiveEvent } from "../../api/live/schema.ts";
import { checkForm, editForm, type FormEdit } from "../../forms/form.ts";
import type { Block } from "../content/blocks.ts";
import { createViewer, documentWidth, foldAll, toggleFold } from "../content/document.ts";
import { blocksText } from "../content/result-text.ts";
import { type CallForm, createForm, createPromptForm, createReading, createTemplateForm } from "./call-form.ts";
import { layoutOf } from "./layout.ts";
import type { State } from "./model.ts";
import { selectedItem } from "./select.ts";
import { applyLive, type Question, type Running, running, type Viewer } from "./stage.ts";

/** Opens the form of the selected item, or reads it at once. */
export function openCall(state: State): State {
  const selected = selectedItem(state);
  switch (selected?.list) {
    case "tools":
      return { ...state, mode: { name: "call", form: createForm(selected.item) } };
    case "prompts": {
      const form = createPromptForm(selected.item);
      const stage = form.fields.length === 0 ? running(state.now) : form.stage;
      return { ...state, mode: { name: "call", form: { ...form, stage } } };
    }
    case "resources":
      return { ...state, mode: { name: "call", form: createReading(selected.item.uri, running(state.now)) } };
    case "templates":
      return { ...state, mode: { name: "call", form: createTemplateForm(selected.item.uriTemplate) } };
    case "calls":
      return openKeptCall(state, selected.item.requestId);
    default:
      return state;
  }
}

/** Shows a kept call over the whole screen, where its JSON folds. */
function openKeptCall(state: State, id: string): State {
  const call = state.about?.key === `calls ${id}` ? state.about.call : undefined;
  if (call === undefined) return state;
  const blocks: Block[] = [
    { kind: "json", title: "asked", value: call.params },
    call.error === undefined
      ? { kind: "json", title: "answered", value: call.result }
      : { kind: "json", title: "error", value: call.error },
    ...(call.notifications.length === 0
      ? []
      : [{ kind: "json" as const, title: "notifications", value: call.notifications }]),
  ];
  if (call.logs.length > 0) {
    const text = call.logs.map(({ time, level, msg }) => `${formatClock(time)} ${level} ${msg}`).join("\n");
    blocks.push({ kind: "text", title: "the server's log meanwhile", text });
  }
  const title = `${call.name ?? call.method}  ${call.outcome}  ${formatMs(call.ms)}`;
  return { ...state, mode: { name: "view", title, viewer: createViewer(blocks) } };
}

/** Shows what was fetched, unless the user went on to something else meanwhile. */
export function openView(state: State, { title, blocks }: { title: string; blocks: readonly Block[] }): State {
  if (state.mode.name !== "browse") return state;
  return { ...state, mode: { name: "view", title, viewer: createViewer(blocks) } };
}

function withForm(state: State, change: (form: CallForm) => CallForm): State {
  return state.mode.name === "call" ? { ...state, mode: { name: "call", form: change(state.mode.form) } } : state;
}

export function editCall(state: State, edit: FormEdit): State {
  return withForm(state, (form) => (form.stage.name === "edit" ? editForm(form, edit) : form));
}

/** Moves to the next field; after the last one, calls. */
export function callNext(state: State): State {
  if (state.mode.name !== "call") return state;
  const { form } = state.mode;
  if (form.stage.name === "done") return foldHere(state);
  if (form.focus >= form.fields.length) return submit(state);
  return withForm(state, () => editForm(form, { type: "focus", by: 1 }));
}

/** Calls, but asks first if the tool says that it destroys something. */
export function submit(state: State): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "edit") return form;
    const checked = checkForm(form);
    if (!checked.ok) return checked.form;
    const isRisky = form.target.kind === "tool" && form.target.destructive;
    return { ...form, stage: isRisky ? { name: "confirm" } : running(state.now) };
  });
}

export function confirmCall(state: State, yes: boolean): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "confirm") return form;
    return { ...form, stage: yes ? running(state.now) : { name: "edit" } };
  });
}

export function callDone(state: State, done: { failed: boolean; ms: number; blocks: readonly Block[] }): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "running") return form;
    const fields = form.fields.map((field) => ({ ...field, error: undefined }));
    const { failed, ms, blocks } = done;
    const { said } = form.stage;
    const log: Block[] = said.length === 0 ? [] : [{ kind: "text", title: "log messages", text: said.join("\n") }];
    const viewer = createViewer([...blocks, ...log]);
    return {
      ...form,
      fields,
      stage: { name: "done", failed, ms, text: blocksText(blocks), viewer, said },
    };
  });
}

/** Reads the resource on the screen once more. */
export function reread(state: State): State {
  return withForm(state, (form) =>
    form.target.kind === "resource" && form.stage.name === "done" ? { ...form, stage: running(state.now) } : form,
  );
}

export function liveEvent(state: State, event: LiveEvent): State {
  return withForm(state, (form) =>
    form.stage.name === "running" ? { ...form, stage: applyLive(form.stage, event) } : form,
  );
}

export function suggested(state: State, given: { field: string; text: string; values: readonly string[] }): State {
  return withForm(state, (form) => ({
    ...form,
    fields: form.fields.map((field) =>
      field.name === given.field && field.text === given.text ? { ...field, suggestions: given.values } : field,
    ),
  }));
}

/** The question that the user sees. */
export function openQuestion(state: State): Question | undefined {
  const { mode } = state;
  return mode.name === "call" && mode.form.stage.name === "running" ? mode.form.stage.questions[0] : undefined;
}

function withQuestion(state: State, change: (question: Question) => Question | undefined): State {
  return withForm(state, (form) => {
    if (form.stage.name !== "running") return form;
    const [first, ...others] = form.stage.questions;
    if (first === undefined) return form;
    const changed = change(first);
    const stage: Running = { ...form.stage, questions: changed === undefined ? others : [changed, ...others] };
    return { ...form, stage };
  });
}

export function editQuestion(state: State, edit: FormEdit): State {
  return withQuestion(state, (question) => ({ ...question, form: editForm(question.form, edit) }));
}

export function answerQuestion(state: State, how: "accept" | "decline" | "cancel"): State {
  return withQuestion(state, (question) => {
    if (how !== "accept" || question.kind === "other") return undefined;
    const checked = checkForm(question.form);
    return checked.ok ? undefined : { ...question, form: checked.form };
  });
}

/**
 * Leaves a result or a running call for the form, which keeps its text; leaves the form for the
 * list.
 */
export function leaveCall(state: State, form: CallForm): State {
  const browse = { ...state, mode: { name: "browse" as const } };
  const { stage, target } = form;
  if (stage.name === "edit") return browse;
  if (stage.name === "running") {
    const note = `Cancelled ${target.name} after ${formatDuration(state.now - stage.since)}`;
    const told = { text: note, tone: "plain" as const, until: state.now + 5000 };
    if (form.fields.length === 0 && target.kind !== "tool") return { ...browse, notice: told };
    return { ...withForm(state, () => ({ ...form, stage: { name: "edit", note } })), notice: told };
  }
  if (form.fields.length === 0 && target.kind !== "tool") return browse;
  return withForm(state, () => ({ ...form, stage: { name: "edit" } }));
}

/** The document on the screen, if there is one. */
export function openViewer({ mode }: State): Viewer | undefined {
  if (mode.name === "view") return mode.viewer;
  return mode.name === "call" && mode.form.stage.name === "done" ? mode.form.stage.viewer : undefined;
}

export function withViewer(state: State, change: (viewer: Viewer) => Viewer): State {
  const { mode } = state;
  if (mode.name === "view") return { ...state, mode: { ...mode, viewer: change(mode.viewer) } };
  return withForm(state, (form) =>
    form.stage.name === "done" ? { ...form, stage: { ...form.stage, viewer: change(form.stage.viewer) } } : form,
  );
}

function foldHere(state: State): State {
  return withViewer(state, (viewer) => toggleFold(viewer, documentWidth(layoutOf(state))));
}

export function fold(state: State, what: "here" | "all" | "none"): State {
  return what === "here" ? foldHere(state) : withViewer(state, (viewer) => foldAll(viewer, what === "all"));
}
