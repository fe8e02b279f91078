/**
 * Does small things together, once all events of this turn of the event loop were handled.
 *
 * Writes to many sockets cost less in a row than between other work: the first one wakes the
 * process at the other end, and the rest find it awake. Answers to clients leave before requests to
 * servers: that is cheaper than any other order (docs/performance.md has the measurements).
 */

export interface TurnEndTask {
  atTurnEnd(): void;
}

class Tasks {
  #waiting: TurnEndTask[] = [];
  /** The list that was done last, empty again: a new one for each turn would outlive its turn. */
  #spare: TurnEndTask[] = [];

  add(task: TurnEndTask): void {
    this.#waiting.push(task);
  }

  run(): void {
    const tasks = this.#waiting;
    if (tasks.length === 0) return;
    this.#waiting = this.#spare;
    for (const task of tasks) {
      try {
        task.atTurnEnd();
      } catch (error) {
        // A defect, which must not keep the others from being done.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    // Cheaper than a new length, which V8 sets in another function of its own.
    while (tasks.length > 0) tasks.pop();
    this.#spare = tasks;
  }
}

const answers = new Tasks();
const requests = new Tasks();
let isScheduled = false;

/** For an answer to a client. */
export function atTurnEnd(task: TurnEndTask): void {
  answers.add(task);
  schedule();
}

/** For requests to a server. */
export function afterAnswers(task: TurnEndTask): void {
  requests.add(task);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(runAll);
}

function runAll(): void {
  isScheduled = false;
  answers.run();
  requests.run();
}
