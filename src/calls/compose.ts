/**
 * What every routed request passes on its way to its server and back: small named stages, each with
 * a look at the request before it goes out and at its answer when it returns.
 *
 * A request that a stage lets through leaves through that stage again, exactly once, whatever
 * becomes of it. One promise for all of them: an onion of functions that await each other makes
 * several for each stage (docs/performance.md has what that saved).
 */
import type { Call } from "../protocol/call.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import type { Route } from "../routing/resolve.ts";

export type Send = (call: Call, route: Route) => Promise<Answer>;

export interface Stage {
  /** An answer ends the request here: it goes no further, and this stage does not see it leave. */
  enter?(call: Call, route: Route): Answer | undefined;
  leave?(call: Call, route: Route, answer: Answer): Answer;
}

/** The promise never rejects. */
export function compose(stages: readonly Stage[], send: Send): Send {
  return async (call, route) => {
    let passed = 0;
    let answer: Answer | undefined;
    try {
      for (; passed < stages.length; passed++) {
        answer = stages[passed]!.enter?.(call, route);
        if (answer) break;
      }
      answer ??= await send(call, route);
    } catch (error) {
      answer = failure(error, { requestId: call.requestId });
    }
    while (passed > 0) answer = leave(stages[--passed]!, call, route, answer);
    return answer;
  };
}

/**
 * A stage that cannot work on an answer (a large one is passed on unparsed) makes it an error, and
 * all others are left as usual.
 */
function leave(stage: Stage, call: Call, route: Route, answer: Answer): Answer {
  try {
    return stage.leave ? stage.leave(call, route, answer) : answer;
  } catch (error) {
    return failure(error, { requestId: call.requestId });
  }
}
