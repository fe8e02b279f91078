/**
 * The onion that every routed request passes: small named stages around the one that sends it to its server.
 * A stage may answer itself, look at the answer, or change it; it calls `next` at most once.
 */
import type { Call } from "../model/call.ts";
import type { Answer } from "../model/json-rpc.ts";
import type { Route } from "../router/resolve.ts";

export type Next = (call: Call, route: Route) => Promise<Answer>;
export type Stage = (call: Call, route: Route, next: Next) => Promise<Answer>;

export function compose(stages: readonly Stage[], last: Next): Next {
  return stages.reduceRight<Next>((next, stage) => (call, route) => stage(call, route, next), last);
}
