/**
 * Does small things together, once all events of this turn of the event loop were handled.
 *
 * Writes to many sockets cost less in a row than between other work: the first one wakes the
 * process at the other end, and the rest find it awake (docs/performance.md).
 */

export interface TurnEndTask {
  atTurnEnd(): void;
}

let waiting: TurnEndTask[] = [];
/** The list that was done last, empty again: a new one for each turn would outlive its turn. */
let spare: TurnEndTask[] = [];

export function atTurnEnd(task: TurnEndTask): void {
  if (waiting.push(task) === 1) setImmediate(runAll);
}

function runAll(): void {
  const tasks = waiting;
  waiting = spare;
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
  tasks.length = 0;
  spare = tasks;
}
