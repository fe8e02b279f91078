/**
 * Connects the layers: Ink's keys to actions, the store to the dashboard, the dashboard to the
 * screen.
 *
 * Loaded on demand, because only the dashboard needs Ink and React.
 */
import { type Key, render, useInput } from "ink";
import { Component, type ReactNode, useRef, useState, useSyncExternalStore } from "react";
import type { Effects } from "./effects.ts";
import { type KeyName, type KeyPress, type KeyStep, readKey } from "./keys.ts";
import { mouseAction, readMouse } from "./mouse.ts";
import type { Screen } from "./screen.ts";
import type { State } from "./state/model.ts";
import type { Store } from "./store.ts";
import type { Line } from "./text/line.ts";
import { Screen as Picture, screenOf } from "./views/dashboard.tsx";
import { sameLine } from "./views/line.tsx";

export interface MountOptions {
  readonly store: Store;
  readonly effects: Effects;
  readonly screen: Screen;
  readonly stdin: NodeJS.ReadStream;
  /** Called when a view throws while rendering; the screen is empty then. */
  readonly onError: (error: unknown) => void;
}

export interface Mounted {
  unmount(): void;
}

export function mount({ store, effects, screen, stdin, onError }: MountOptions): Mounted {
  const tree = (
    <Guard onError={onError}>
      <App store={store} effects={effects} />
    </Guard>
  );
  const app = render(tree, {
    stdout: screen.stream,
    stdin,
    debug: true, // complete frames, which the screen compares line by line
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return { unmount: app.unmount };
}

/**
 * Catches errors of views. Ink's own boundary draws the error, and if that fails too, the error is
 * lost.
 */
class Guard extends Component<{ readonly onError: (error: unknown) => void; readonly children: ReactNode }> {
  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }
  override readonly state = { failed: false };
  override componentDidCatch(error: unknown): void {
    // Deferred: the handler unmounts, and React is in the middle of a commit.
    setImmediate(() => this.props.onError(error));
  }
  override render(): ReactNode {
    return this.state.failed ? null : this.props.children;
  }
}

/**
 * Returns the picture of the state, and the same one as before if nothing in it changed: then there
 * is nothing to draw.
 */
function createPicture(store: Store): () => readonly Line[] {
  let last: { readonly state: State; readonly lines: readonly Line[] } | undefined;
  return () => {
    const state = store.state();
    if (last?.state === state) return last.lines;
    const lines = screenOf(state);
    const isSame =
      last !== undefined &&
      last.state.size === state.size &&
      last.state.theme === state.theme &&
      last.lines.length === lines.length &&
      last.lines.every((line, index) => sameLine(line, lines[index] ?? []));
    last = { state, lines: isSame && last !== undefined ? last.lines : lines };
    return last.lines;
  };
}

function App({ store, effects }: { store: Store; effects: Effects }) {
  const [picture] = useState(() => createPicture(store));
  const lines = useSyncExternalStore(store.subscribe, picture);
  const pasting = useRef(false);
  useInput((input, key) => {
    if (input === pasteStart || input === pasteEnd) {
      pasting.current = input === pasteStart;
      return;
    }
    const clicks = pasting.current ? undefined : readMouse(input);
    if (clicks !== undefined) {
      for (const click of clicks) for (const action of mouseAction(store.state(), click)) effects.perform(action);
      return;
    }
    let press: KeyPress | undefined = pasting.current
      ? { input: pastedText(input, key), pasted: true }
      : pressOf(input, key);
    while (press !== undefined) {
      const { action, rest }: KeyStep = readKey(press, store.state().mode);
      if (action !== undefined) effects.perform(action);
      press = rest;
    }
  });
  const { size, theme } = store.state();
  return <Picture lines={lines} columns={size.columns} theme={theme} />;
}

// The bracketed paste markers, without the escape character that Ink removes.
const pasteStart = "[200~";
const pasteEnd = "[201~";

/** Ink names a single line ending or tab and passes no text for it. */
function pastedText(input: string, key: Key): string {
  return key.return || key.tab ? " " : input;
}

const named: readonly [keyof Key, KeyName][] = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["home", "home"],
  ["end", "end"],
  ["pageUp", "pageup"],
  ["pageDown", "pagedown"],
  ["return", "enter"],
  ["escape", "escape"],
  ["tab", "tab"],
  ["backspace", "backspace"],
  ["delete", "delete"],
];

function pressOf(input: string, key: Key): KeyPress {
  const name = named.find(([flag]) => key[flag] === true)?.[1];
  // Terminals send 0x7f for the backspace key, which Ink names delete.
  return { input, name: name === "delete" ? "backspace" : name, ctrl: key.ctrl, shift: key.shift, meta: key.meta };
}
