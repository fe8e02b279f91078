/**
 * Runs the stages that every routed request passes on its way to its server and back. Each stage
 * sees the request before it goes out and its answer when it returns.
 *
 * A request that a stage lets through leaves through that stage again, exactly once, whatever
 * happens to it. One promise serves all stages: functions that await each other make several for
 * each stage (docs/performance.md has what that saved).
 */
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import type { Route } from "../routing/resolve.ts";

export type Send = (flight: Flight, route: Route) => Promise<Answer>;

export interface Stage {
  /** An answer ends the request here: it goes no further, and this stage does not see it leave. */
  enter?(flight: Flight, route: Route): Answer | undefined;
  leave?(flight: Flight, route: Route, answer: Answer): Answer;
}

/** The promise never rejects. */
export function compose(stages: readonly Stage[], send: Send): Send {
  return async (flight, route) => {
    let passed = 0;
    let answer: Answer | undefined;
    try {
      for (; passed < stages.length; passed++) {
        answer = stages[passed]!.enter?.(flight, route);
        if (answer) break;
      }
      answer ??= await send(flight, route);
    } catch (error) {
      answer = failure(error, { requestId: flight.call.requestId });
    }
    while (passed > 0) answer = leave(stages[--passed]!, flight, route, answer);
    return answer;
  };
}

/**
 * A stage that cannot work on an answer (a large one is passed on unparsed) turns it into an error;
 * all other stages are left as usual.
 */
function leave(stage: Stage, ...[flight, route, answer]: Parameters<NonNullable<Stage["leave"]>>): Answer {
  try {
    return stage.leave ? stage.leave(flight, route, answer) : answer;
  } catch (error) {
    return failure(error, { requestId: flight.call.requestId });
  }
}
