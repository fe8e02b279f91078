/**
 * Binds the layers: Ink's keys to actions, the store to the dashboard, the dashboard to the screen.
 *
 * Loaded on demand, because Ink and React are not needed for anything else the program does.
 */
import { type Key, render, useInput } from "ink";
import { Component, type ReactNode, useRef, useSyncExternalStore } from "react";
import type { Effects } from "./effects.ts";
import { type KeyName, type KeyPress, type KeyStep, readKey } from "./keys.ts";
import type { Screen } from "./screen.ts";
import type { Store } from "./store.ts";
import { Dashboard } from "./views/dashboard.tsx";

export interface MountOptions {
  readonly store: Store;
  readonly effects: Effects;
  readonly screen: Screen;
  readonly stdin: NodeJS.ReadStream;
  /** A view threw while it was drawn; nothing is on the screen any more. */
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
    debug: true, // whole frames, which the screen compares line by line
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return { unmount: app.unmount };
}

/**
 * Catches what views throw. Ink's own guard draws the error, and if that fails too, nobody ever
 * hears of it.
 */
class Guard extends Component<{ readonly onError: (error: unknown) => void; readonly children: ReactNode }> {
  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }
  override readonly state = { failed: false };
  override componentDidCatch(error: unknown): void {
    // Not at once: React is in the middle of a commit, and the answer to this is to unmount.
    setImmediate(() => this.props.onError(error));
  }
  override render(): ReactNode {
    return this.state.failed ? null : this.props.children;
  }
}

function App({ store, effects }: { store: Store; effects: Effects }) {
  const state = useSyncExternalStore(store.subscribe, store.state);
  const pasting = useRef(false);
  useInput((input, key) => {
    if (input === pasteStart || input === pasteEnd) {
      pasting.current = input === pasteStart;
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
  return <Dashboard state={state} />;
}

// Bracketed paste, without the escape character that Ink takes off.
const pasteStart = "[200~";
const pasteEnd = "[201~";

/** Ink names a line end or a tab that it gets alone, and gives no text for it. */
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
  // Terminals send 0x7f for the backspace key, which Ink calls delete.
  return { input, name: name === "delete" ? "backspace" : name, ctrl: key.ctrl, shift: key.shift, meta: key.meta };
}
