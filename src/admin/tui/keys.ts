/**
 * The key map: in each mode, a key gives an action.
 *
 * These tables are the only place that names keys; the help screen is generated from them.
 * Invariant: ctrl-c quits in every mode, and a key that types text never triggers an action.
 */

import { strip } from "../../lib/text/clean.ts";
import type { FormEdit } from "../forms/form.ts";
import type { KeyAction } from "./state/action.ts";
import type { Mode } from "./state/model.ts";

/** A key press. Several characters at once are a paste or fast typing. */
export interface KeyPress {
  readonly input: string;
  readonly name?: KeyName | undefined;
  readonly ctrl?: boolean;
  readonly shift?: boolean;
  readonly meta?: boolean;
  /** Pasted from the clipboard: always text, even if it looks like keys. */
  readonly pasted?: boolean;
}

export type KeyName =
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "pageup"
  | "pagedown"
  | "enter"
  | "escape"
  | "tab"
  | "backspace"
  | "delete";

export interface Binding {
  readonly keys: readonly string[];
  readonly action: KeyAction;
  /** Bindings with the same text share a line of the help screen. */
  readonly help: string;
}

const bind = (keys: string, action: KeyAction, help: string): Binding => ({ keys: keys.split(" "), action, help });

const motions: readonly Binding[] = [
  bind("j down ctrl-n", { type: "move", motion: 1 }, "down"),
  bind("k up ctrl-p", { type: "move", motion: -1 }, "up"),
  bind("g home", { type: "move", motion: "top" }, "to the top"),
  bind("G end", { type: "move", motion: "bottom" }, "to the end"),
  bind("ctrl-d", { type: "move", motion: "half-down" }, "half a page down"),
  bind("ctrl-u", { type: "move", motion: "half-up" }, "half a page up"),
  bind("pagedown ctrl-f", { type: "move", motion: "page-down" }, "a page down"),
  bind("pageup ctrl-b", { type: "move", motion: "page-up" }, "a page up"),
];

const always: readonly Binding[] = [
  bind("ctrl-c", { type: "quit" }, "quit"),
  bind("ctrl-l", { type: "redraw" }, "redraw the screen"),
];

export const browseBindings: readonly Binding[] = [
  ...motions,
  bind("tab", { type: "panel-step", by: 1 }, "next panel"),
  bind("shift-tab", { type: "panel-step", by: -1 }, "previous panel"),
  bind("1", { type: "panel", to: "overview" }, "to that panel"),
  bind("2", { type: "panel", to: "servers" }, "to that panel"),
  bind("3", { type: "panel", to: "tools" }, "to that panel"),
  bind("4", { type: "panel", to: "prompts" }, "to that panel"),
  bind("5", { type: "panel", to: "resources" }, "to that panel"),
  bind("6", { type: "panel", to: "logs" }, "to that panel"),
  bind("7", { type: "panel", to: "calls" }, "to that panel"),
  bind(":", { type: "palette" }, "palette: commands, servers, tools, resources"),
  bind("enter right l", { type: "enter" }, "details; again: scroll them, or open a call"),
  bind("escape left h", { type: "back" }, "back: close details, then clear the search"),
  bind("/", { type: "search" }, "search: hides other rows"),
  bind("s", { type: "pick", kind: "server" }, "filter by server"),
  bind("m", { type: "pick", kind: "mime" }, "Resources: filter by MIME type"),
  bind("t", { type: "templates" }, "Resources: switch to the templates and back"),
  bind("c o", { type: "call-open" }, "call the tool, get the prompt, read the resource, open the call"),
  bind("W", { type: "watch" }, "Resources: watch for updates, or stop"),
  bind("T", { type: "jump", to: "tools" }, "the tools of this server"),
  bind("C", { type: "jump", to: "calls" }, "the calls of this server"),
  bind("S", { type: "pick", kind: "sort" }, "sort by a column"),
  bind(">", { type: "sort-step", by: 1 }, "sort by the next column"),
  bind("<", { type: "sort-step", by: -1 }, "sort by the column before"),
  bind("I", { type: "sort-reverse" }, "reverse the order"),
  bind("r", { type: "ask-restart" }, "Servers: restart"),
  bind("A", { type: "log-in" }, "Servers: log in, in the browser"),
  bind("e", { type: "ask-toggle" }, "Servers: enable or disable"),
  bind("R", { type: "reload" }, "reload the gateway's config"),
  bind("P", { type: "pair" }, "a code that lets a client in"),
  bind("U", { type: "grants" }, "the clients that were let in with a code"),
  bind("a", { type: "approvals" }, "calls that wait for a person: allow or deny them"),
  bind("D", { type: "lock" }, "servers that are not as they were approved: approve them"),
  bind("L", { type: "pick", kind: "level" }, "Logs: lowest level to show; Servers: its logs"),
  bind("f", { type: "follow" }, "Logs: follow new lines"),
  bind("y", { type: "copy" }, "copy the name, URI or line"),
  bind("?", { type: "help" }, "this help"),
  bind("q", { type: "quit" }, "quit"),
  ...always,
];

const helpBindings = [...motions, ...always, bind("escape q ? h left enter", { type: "back" }, "close")];
const paletteBindings = [
  ...always,
  bind("enter", { type: "palette-run" }, "do it"),
  bind("escape", { type: "back" }, "close"),
  bind("backspace delete ctrl-h", { type: "palette-edit", edit: { erase: "one" } }, "erase"),
  bind("ctrl-w", { type: "palette-edit", edit: { erase: "word" } }, "erase a word"),
  bind("ctrl-u", { type: "palette-edit", edit: { erase: "all" } }, "erase all"),
  bind("down ctrl-n tab", { type: "move", motion: 1 }, "down"),
  bind("up ctrl-p shift-tab", { type: "move", motion: -1 }, "up"),
  bind("pagedown", { type: "move", motion: "page-down" }, "a page down"),
  bind("pageup", { type: "move", motion: "page-up" }, "a page up"),
];
const approvalBindings = [
  ...motions,
  ...always,
  bind("tab", { type: "approval-step", by: 1 }, "next"),
  bind("shift-tab", { type: "approval-step", by: -1 }, "previous"),
  bind("y", { type: "approval-answer", how: "once" }, "allow once"),
  bind("H", { type: "approval-answer", how: "hour" }, "allow for an hour"),
  bind("S", { type: "approval-answer", how: "session" }, "allow for its session"),
  bind("n", { type: "approval-answer", how: "deny" }, "deny"),
  bind("escape q left", { type: "back" }, "back, without an answer"),
];
const lockBindings = [
  ...motions,
  ...always,
  bind("tab", { type: "lock-step", by: 1 }, "next"),
  bind("shift-tab", { type: "lock-step", by: -1 }, "previous"),
  bind("Y", { type: "lock-approve" }, "approve all of it"),
  bind("X", { type: "lock-switch" }, "switch to the new version without an approval"),
  bind("escape q left", { type: "back" }, "back, without an approval"),
];
const imageBindings = [...always, bind("escape enter q h left v", { type: "back" }, "back")];
const pickerBindings = [
  ...motions,
  ...always,
  bind("enter right l", { type: "choose" }, "choose"),
  bind("escape q h left s m L S", { type: "back" }, "close"),
];
const confirmBindings = [
  ...always,
  bind("y Y enter", { type: "answer", yes: true }, "yes"),
  bind("n N escape q h left", { type: "answer", yes: false }, "no"),
];
const searchBindings = [
  ...always,
  bind("enter", { type: "search-done", keep: true }, "keep the search"),
  bind("escape", { type: "search-done", keep: false }, "drop the search"),
  bind("backspace delete ctrl-h", { type: "search-edit", edit: { erase: "one" } }, "erase"),
  bind("ctrl-w", { type: "search-edit", edit: { erase: "word" } }, "erase a word"),
  bind("ctrl-u", { type: "search-edit", edit: { erase: "all" } }, "erase all"),
  bind("down ctrl-n", { type: "move", motion: 1 }, "down"),
  bind("up ctrl-p", { type: "move", motion: -1 }, "up"),
];
/** The keys that edit a field, for a form of the user's and for one of a server's. */
const editing = (type: "call-edit" | "question-edit"): Binding[] => {
  const edit = (change: FormEdit): KeyAction => ({ type, edit: change });
  return [
    bind("tab down", edit({ type: "focus", by: 1 }), "next field"),
    bind("shift-tab up", edit({ type: "focus", by: -1 }), "previous field"),
    bind("left ctrl-b", edit({ type: "caret", to: "left" }), "left"),
    bind("right ctrl-f", edit({ type: "caret", to: "right" }), "right"),
    bind("home ctrl-a", edit({ type: "caret", to: "start" }), "start"),
    bind("end ctrl-e", edit({ type: "caret", to: "end" }), "end"),
    bind("backspace ctrl-h", edit({ type: "erase", what: "before" }), "erase"),
    bind("delete", edit({ type: "erase", what: "after" }), "erase after"),
    bind("ctrl-w", edit({ type: "erase", what: "word" }), "erase a word"),
    bind("ctrl-u", edit({ type: "erase", what: "all" }), "erase all"),
    bind("ctrl-n", edit({ type: "suggest" }), "take a suggestion"),
  ];
};
const formBindings = [
  ...always,
  bind("enter", { type: "call-next" }, "next field, then call"),
  bind("ctrl-s ctrl-r", { type: "call-submit" }, "call"),
  bind("escape", { type: "back" }, "close"),
  ...editing("call-edit"),
];
const questionBindings = [
  ...always,
  bind("enter", { type: "question-next" }, "next field, then answer"),
  bind("ctrl-s", { type: "question-answer", how: "accept" }, "answer"),
  bind("ctrl-d", { type: "question-answer", how: "decline" }, "decline"),
  bind("escape", { type: "question-answer", how: "cancel" }, "cancel the question"),
  bind("ctrl-y", { type: "copy" }, "copy the address"),
  ...editing("question-edit"),
];
const resultBindings = [
  ...motions,
  ...always,
  bind("escape q h left", { type: "back" }, "back to the form"),
  bind("enter space right l", { type: "fold", what: "here" }, "fold or unfold"),
  bind("-", { type: "fold", what: "all" }, "fold everything"),
  bind("+ =", { type: "fold", what: "none" }, "unfold everything"),
  bind("w", { type: "save" }, "save to a file"),
  bind("v", { type: "show-image" }, "show the picture"),
  bind("W", { type: "watch" }, "watch the resource"),
  bind("y", { type: "copy" }, "copy the result"),
];

interface Keymap {
  readonly table: ReadonlyMap<string, KeyAction>;
  /** Handles other characters, in modes that accept text. */
  readonly typed?: (text: string) => KeyAction;
}

const keymap = (bindings: readonly Binding[], typed?: (text: string) => KeyAction): Keymap => ({
  table: new Map(bindings.flatMap(({ keys, action }) => keys.map((key) => [key, action] as const))),
  ...(typed && { typed }),
});

const keymaps = {
  browse: keymap(browseBindings),
  help: keymap(helpBindings),
  picker: keymap(pickerBindings),
  confirm: keymap(confirmBindings),
  search: keymap(searchBindings, (insert) => ({ type: "search-edit", edit: { insert } })),
  form: keymap(formBindings, (text) => ({ type: "call-edit", edit: { type: "insert", text } })),
  question: keymap(questionBindings, (text) => ({ type: "question-edit", edit: { type: "insert", text } })),
  palette: keymap(paletteBindings, (insert) => ({ type: "palette-edit", edit: { insert } })),
  result: keymap(resultBindings),
  view: keymap(resultBindings),
  image: keymap(imageBindings),
  approval: keymap(approvalBindings),
  lock: keymap(lockBindings),
} as const;

export interface KeyStep {
  readonly action?: KeyAction;
  /** The rest of a burst, to be read in the mode that the action leads to. */
  readonly rest?: KeyPress;
}

/**
 * Returns the first action of a key press, and the rest: fast typing and slow connections deliver
 * several keys at once.
 */
export function readKey(press: KeyPress, mode: Mode): KeyStep {
  const { table, typed } = keymaps[keymapName(mode)];
  const named = nameOf(press);
  if (named !== undefined) return step(table.get(named), "");
  const { input } = press;
  const [first = ""] = input;
  const control = controlName(first);
  if (press.pasted === true) return step(typed?.(strip(input.replace(/\s+/g, " "))), "");
  if (control !== undefined) return step(table.get(control), input.slice(1));
  if (typed === undefined) return step(table.get(first === " " ? "space" : first), input.slice(first.length));
  const end = [...input].findIndex((letter) => controlName(letter) !== undefined);
  const text = end < 0 ? input : [...input].slice(0, end).join("");
  return step(typed(strip(text)), input.slice(text.length));
}

function step(action: KeyAction | undefined, rest: string): KeyStep {
  return { ...(action && { action }), ...(rest !== "" && { rest: { input: rest } }) };
}

const controls: Readonly<Record<string, string>> = {
  "\t": "tab",
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u001b": "escape",
};

function controlName(letter: string): string | undefined {
  const code = letter.charCodeAt(0);
  return controls[letter] ?? (code > 0 && code < 27 ? `ctrl-${String.fromCharCode(96 + code)}` : undefined);
}

function keymapName(mode: Mode): keyof typeof keymaps {
  if (mode.name !== "call") return mode.name;
  const { stage } = mode.form;
  if (stage.name === "running") return stage.questions.length > 0 ? "question" : "result";
  return stage.name === "edit" ? "form" : stage.name === "confirm" ? "confirm" : "result";
}

/** Returns the key's name in the tables; undefined for characters. */
function nameOf({ input, name, ctrl, shift, meta }: KeyPress): string | undefined {
  if (name === "tab") return shift ? "shift-tab" : "tab";
  if (name !== undefined) return name;
  if (ctrl) return `ctrl-${input.toLowerCase()}`;
  return meta ? `meta-${input}` : undefined;
}
