/**
 * Holds the state and tells its one listener when to draw.
 *
 * What must always hold: a key is drawn at once; whatever the gateway sends is gathered and drawn
 * at most once in
 * `frameMs`, so that a hundred events a second are ten frames, and fewer where a frame is costly (a
 * huge terminal, a slow machine): drawing takes no more than a quarter of the time.
 */
import type { AdminEvent } from "../admin/events.ts";
import type { Action } from "./state/action.ts";
import type { State } from "./state/model.ts";
import { reduce } from "./state/reduce.ts";

export interface Store {
  state(): State;
  /** Applies an action and draws. */
  dispatch(action: Action): void;
  /** Gathers an event for the next frame. */
  push(event: AdminEvent): void;
  /** Applies what was gathered now: order matters to whoever adds what it knows from elsewhere. */
  flush(): void;
  subscribe(listener: () => void): () => void;
  close(): void;
}

const slowestMs = 500;

export function createStore(initial: State, frameMs = 100): Store {
  let state = initial;
  let waiting: AdminEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let cost = 0;
  const listeners = new Set<() => void>();

  const apply = (action: Action): void => {
    const next = reduce(state, action);
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const events = waiting;
    waiting = [];
    const started = performance.now();
    apply({ type: "events", events });
    // React draws before the loop turns.
    setImmediate(() => {
      cost = performance.now() - started;
    });
  };
  return {
    state: () => state,
    dispatch: apply,
    push(event) {
      waiting.push(event);
      timer ??= setTimeout(flush, Math.max(frameMs, Math.min(cost * 3, slowestMs)));
    },
    flush,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
