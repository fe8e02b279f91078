/**
 * Holds the state and tells its listeners when to draw.
 *
 * Invariant: a key press is drawn at once. What the gateway sends is drawn at most once per
 * `frameMs`, all of it together. If frames are slow (a huge terminal, a slow machine), fewer are
 * drawn, so that drawing takes at most a quarter of the time.
 */
import type { AdminEvent } from "../api/events.ts";
import type { Action } from "./state/action.ts";
import type { State } from "./state/model.ts";
import { reduce } from "./state/reduce.ts";

export interface Store {
  state(): State;
  /** Applies an action and draws, at once or with the next frame. */
  dispatch(action: Action): void;
  /** Queues an event for the next frame. */
  push(event: AdminEvent): void;
  /** Applies the queued events now, so that a later action cannot overtake them. */
  flush(): void;
  subscribe(listener: () => void): () => void;
  close(): void;
}

const slowestMs = 500;
/** What no key caused can wait for the next frame. */
const patient: ReadonlySet<Action["type"]> = new Set(["loaded", "tick", "about", "live", "watching", "suggested"]);

export function createStore(initial: State, frameMs = 100): Store {
  let state = initial;
  let waiting: AdminEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let cost = 0;
  let isDrawn = true;
  const listeners = new Set<() => void>();

  const draw = (): void => {
    isDrawn = true;
    for (const listener of listeners) listener();
  };
  const apply = (action: Action): void => {
    const next = reduce(state, action);
    if (next === state) return;
    state = next;
    isDrawn = false;
  };
  const schedule = (): void => {
    timer ??= setTimeout(flush, Math.max(frameMs, Math.min(cost * 3, slowestMs)));
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const events = waiting;
    waiting = [];
    const started = performance.now();
    if (events.length > 0) apply({ type: "events", events });
    if (!isDrawn) draw();
    cost = performance.now() - started;
  };
  return {
    state: () => state,
    dispatch(action) {
      apply(action);
      if (isDrawn) return;
      if (patient.has(action.type)) schedule();
      else draw();
    },
    push(event) {
      waiting.push(event);
      schedule();
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
