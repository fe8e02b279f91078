/**
 * Any number of alarms on one timer, which is set to the earliest one.
 *
 * An alarm costs one array entry. One timer per call, set and cleared thousands of times a second,
 * let whole requests survive into the old generation (docs/performance.md). Here the timer is set
 * only if a new alarm is due before all others.
 */
export interface Alarm {
  /** The due time, on the clock of `performance.now()`. */
  due: number;
  /** The alarm's index in `Alarms`; -1 if it is not set. */
  place: number;
  /** Runs once, when the alarm is due. The alarm is no longer set then. */
  ring(): void;
}

export class Alarms {
  readonly #set: Alarm[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When the timer will fire. */
  #next = Number.POSITIVE_INFINITY;

  /** Sets or moves the alarm. */
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
    // Unref'd: every alarm belongs to an open connection, which keeps the process alive.
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, Math.ceil(due - performance.now()))).unref();
  }

  #wake(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const due = this.#set.filter((alarm) => alarm.due <= now);
    for (const alarm of due) {
      // An alarm that rang earlier may have cleared or moved this one.
      if (alarm.place === -1 || alarm.due > now) continue;
      this.clear(alarm);
      alarm.ring();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const alarm of this.#set) next = Math.min(next, alarm.due);
    if (next < this.#next) this.#wakeAt(next);
  }
}
