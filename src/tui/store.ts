/**
 * Holds the state and notifies its one listener when to draw.
 *
 * Invariant: a key press is drawn at once. Events from the gateway are batched and drawn at most
 * once per `frameMs`. If frames are slow (a huge terminal, a slow machine), fewer are drawn, so
 * that drawing takes at most a quarter of the time.
 */
import type { AdminEvent } from "../admin/events.ts";
import type { Action } from "./state/action.ts";
import type { State } from "./state/model.ts";
import { reduce } from "./state/reduce.ts";

export interface Store {
  state(): State;
  /** Applies an action and draws. */
  dispatch(action: Action): void;
  /** Queues an event for the next frame. */
  push(event: AdminEvent): void;
  /** Applies the queued events now, so that a later action cannot overtake them. */
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
    // React has drawn by the time the immediate runs.
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
