/** Connects the layers: the terminal's keys to actions, and the store to the screen. */
import type { Effects } from "./effects.ts";
import { type KeyPress, type KeyStep, readKey } from "./keys.ts";
import { mouseAction, readMouse } from "./mouse.ts";
import type { Screen } from "./screen.ts";
import type { Store } from "./store.ts";
import { createTerminalInput } from "./terminal-input.ts";
import { paintLine } from "./text/paint.ts";
import { screenOf } from "./views/dashboard.ts";

export interface MountOptions {
  readonly store: Store;
  readonly effects: Effects;
  readonly screen: Screen;
  readonly stdin: NodeJS.ReadStream;
  /** Called when a view throws. */
  readonly onError: (error: unknown) => void;
}

export interface Mounted {
  unmount(): void;
}

export function mount({ store, effects, screen, stdin, onError }: MountOptions): Mounted {
  const draw = (): void => {
    try {
      const state = store.state();
      screen.draw(screenOf(state).map((line) => paintLine(line, state.size.columns, state.theme)));
    } catch (error) {
      onError(error);
    }
  };
  const input = createTerminalInput({
    onPress(first) {
      let press: KeyPress | undefined = first;
      while (press !== undefined) {
        const { action, rest }: KeyStep = readKey(press, store.state().mode);
        if (action !== undefined) effects.perform(action);
        press = rest;
      }
    },
    onMouse(report) {
      for (const event of readMouse(report) ?? [])
        for (const action of mouseAction(store.state(), event)) effects.perform(action);
    },
  });
  stdin.setRawMode(true);
  stdin.on("data", input.feed);
  // Prompts that ran before may have paused it.
  stdin.resume();
  const unsubscribe = store.subscribe(draw);
  draw();
  return {
    unmount() {
      unsubscribe();
      input.close();
      stdin.off("data", input.feed);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
