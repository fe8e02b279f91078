/**
 * Any number of alarms on one timer, which is set to the earliest of them.
 *
 * An alarm costs an entry in an array. A timer of its own for each call, set and cleared thousands
 * of times in a second, let whole requests survive into the old generation (docs/performance.md);
 * here a timer is set only when an alarm is due before all others.
 */
export interface Alarm {
  /** When it is due, on the clock of `performance.now()`. */
  due: number;
  /** Where the alarms keep it; -1: it is not set. */
  place: number;
  /** Runs once, when it is due; it is not set any more. */
  ring(): void;
}

export class Alarms {
  readonly #set: Alarm[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When the timer will run. */
  #next = Number.POSITIVE_INFINITY;

  /** Sets the alarm, or moves it. */
  set(alarm: Alarm, due: number): void {
    alarm.due = due;
    if (alarm.place === -1) alarm.place = this.#set.push(alarm) - 1;
    if (due < this.#next) this.#wakeAt(due);
  }

  clear(alarm: Alarm): void {
    if (alarm.place === -1) return;
    const last = this.#set.pop()!;
    if (last !== alarm) {
      this.#set[alarm.place] = last;
      last.place = alarm.place;
    }
    alarm.place = -1;
  }

  #wakeAt(due: number): void {
    clearTimeout(this.#timer);
    this.#next = due;
    // Nothing waits for this timer alone: whoever set an alarm has a connection open.
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, Math.ceil(due - performance.now()))).unref();
  }

  #wake(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const due = this.#set.filter((alarm) => alarm.due <= now);
    for (const alarm of due) {
      // One that rang before it may have cleared or moved it.
      if (alarm.place === -1 || alarm.due > now) continue;
      this.clear(alarm);
      alarm.ring();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const alarm of this.#set) next = Math.min(next, alarm.due);
    if (next < this.#next) this.#wakeAt(next);
  }
}
