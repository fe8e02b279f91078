/**
 * What one client may use: calls under way at once, and calls started in a second (a token bucket
 * that holds one second's worth).
 *
 * A call over a limit is refused at once with an error that names the limit; it costs the servers
 * and the other clients nothing. What was counted for clients that are gone is forgotten now and
 * then.
 */
import { failure } from "../../protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../../protocol/limit-exceeded.ts";
import type { Stage } from "../compose.ts";

export interface ClientLimits {
  readonly inFlightPerSession: number;
  /** 0: no limit. */
  readonly callsPerSecond: number;
}

interface Use {
  inFlight: number;
  tokens: number;
  /** When the tokens were counted. */
  at: number;
}

const MANY = 4096;
const FORGOTTEN_MS = 10_000;

export interface LimitsOptions {
  /** Read for each call, so that a new config takes effect. */
  readonly current: () => ClientLimits;
  readonly onLimit: OnLimit;
}

export function limits({ current, onLimit }: LimitsOptions): Stage {
  const now = (): number => performance.now();
  const uses = new Map<string, Use>();
  const forgetIdle = (time: number): void => {
    for (const [account, { inFlight, at }] of uses) {
      if (inFlight === 0 && time - at > FORGOTTEN_MS) uses.delete(account);
    }
  };
  return {
    enter(call) {
      const { inFlightPerSession, callsPerSecond } = current();
      const { account } = call.client;
      let use = uses.get(account);
      if (!use) {
        if (uses.size >= MANY) forgetIdle(now());
        use = { inFlight: 0, tokens: Number.POSITIVE_INFINITY, at: now() };
        uses.set(account, use);
      }
      if (use.inFlight >= inFlightPerSession) {
        onLimit("inFlightPerSession");
        const error = limitExceeded({
          limit: "inFlightPerSession",
          value: inFlightPerSession,
          what: "too many calls of this client are under way",
          advice: "wait for one to be answered",
        });
        return failure(error, { requestId: call.requestId });
      }
      const wait = callsPerSecond > 0 ? spend(use, callsPerSecond, now()) : 0;
      if (wait > 0) {
        onLimit("callsPerSecond");
        const error = limitExceeded({
          limit: "callsPerSecond",
          value: callsPerSecond,
          what: "this client starts too many calls in a second",
          advice: `try again in ${wait} ms`,
          data: { retryAfterMs: wait },
        });
        return failure(error, { requestId: call.requestId });
      }
      use.inFlight++;
      return undefined;
    },
    leave(call, _route, answer) {
      uses.get(call.client.account)!.inFlight--;
      return answer;
    },
  };
}

/** Takes a token, or says in how many milliseconds there will be one. */
function spend(use: Use, perSecond: number, time: number): number {
  const most = Math.max(1, perSecond);
  use.tokens = Math.min(most, use.tokens + ((time - use.at) / 1000) * perSecond);
  use.at = time;
  if (use.tokens < 1) return Math.ceil(((1 - use.tokens) / perSecond) * 1000);
  use.tokens -= 1;
  return 0;
}
