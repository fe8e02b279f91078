/**
 * Runs the stages that every routed request passes on its way to its server and back. A stage has
 * up to three methods. All stages let the request enter, then they send it on, each in the order of
 * the list; the answer leaves through them in reverse order.
 *
 * A request that a stage lets through leaves through that stage exactly once, whether it succeeds
 * or fails. One promise serves all stages: nested async functions would create several per stage
 * (docs/performance.md has the measurement).
 */
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import type { Route } from "../routing/resolve.ts";

export type Send = (flight: Flight, route: Route) => Promise<Answer>;

export interface Stage {
  /**
   * Returns an answer to end the request here: later stages never see it, and this stage does not
   * see it leave.
   */
  enter?(flight: Flight, route: Route): Answer | undefined;
  /**
   * Sends the request on with `next`: changed, later, or not at all. A stage that changes nothing
   * returns the promise of `next`, so that it costs no other one.
   */
  send?(flight: Flight, route: Route, next: Send): Promise<Answer>;
  /**
   * Work on a large answer may take several turns of the event loop. `again` sends the request once
   * more, through the `send` of all stages.
   */
  leave?(flight: Flight, route: Route, answer: Answer, again: Send): Answer | Promise<Answer>;
}

/** `toServer` ends the list. The returned function never rejects. */
export function compose(stages: readonly Stage[], toServer: Send): Send {
  // Looked up once: for stages of many classes, V8 would look in its table for each one.
  const enters = stages.map((stage) => stage.enter?.bind(stage));
  const leaves = stages.map((stage) => stage.leave?.bind(stage));
  const send = stages.reduceRight<Send>((next, stage) => {
    const pass = stage.send?.bind(stage);
    return pass ? (flight, route) => pass(flight, route, next) : next;
  }, toServer);
  return async (flight, route) => {
    let passed = 0;
    let answer: Answer | undefined;
    try {
      for (; passed < stages.length; passed++) {
        answer = enters[passed]?.(flight, route);
        if (answer) break;
      }
      answer ??= await send(flight, route);
    } catch (error) {
      answer = failure(error, { requestId: flight.call.requestId });
    }
    while (passed > 0) {
      const leave = leaves[--passed];
      if (!leave) continue;
      // An exception in a stage becomes an error answer, for example on a large answer that was
      // forwarded unparsed. The other stages still run.
      try {
        const left = leave(flight, route, answer, send);
        answer = left instanceof Promise ? await left : left;
      } catch (error) {
        answer = failure(error, { requestId: flight.call.requestId });
      }
    }
    return answer;
  };
}
