/**
 * What one client may use: calls under way at once, and calls started in a second (a token bucket that holds one second's worth).
 *
 * A call over a limit is refused at once with an error that names the limit; it costs the servers and the other clients nothing. What was
 * counted for clients that are gone is forgotten now and then.
 */
import { GoblinError } from "../model/errors.ts";
import { failure } from "../model/json-rpc.ts";
import type { Stage } from "./compose.ts";

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

export function limits(current: () => ClientLimits, now: () => number = () => performance.now()): Stage {
  const uses = new Map<string, Use>();
  const forgetIdle = (time: number): void => {
    for (const [account, { inFlight, at }] of uses) {
      if (inFlight === 0 && time - at > FORGOTTEN_MS) uses.delete(account);
    }
  };
  return async (call, route, next) => {
    const { inFlightPerSession, callsPerSecond } = current();
    const { account } = call.client;
    let use = uses.get(account);
    if (!use) {
      if (uses.size >= MANY) forgetIdle(now());
      use = { inFlight: 0, tokens: Number.POSITIVE_INFINITY, at: now() };
      uses.set(account, use);
    }
    if (use.inFlight >= inFlightPerSession) {
      const message = `LimitExceeded: ${inFlightPerSession} calls of this client are under way (limits.inFlightPerSession)`;
      const error = new GoblinError("LimitExceeded", message, { data: { limit: inFlightPerSession } });
      return failure(error, { requestId: call.requestId });
    }
    const wait = callsPerSecond > 0 ? spend(use, callsPerSecond, now()) : 0;
    if (wait > 0) {
      const message = `LimitExceeded: a client may start ${callsPerSecond} calls in a second (limits.callsPerSecond)`;
      const data = { limit: callsPerSecond, retryAfterMs: wait };
      return failure(new GoblinError("LimitExceeded", message, { data }), { requestId: call.requestId });
    }
    use.inFlight++;
    try {
      return await next(call, route);
    } finally {
      use.inFlight--;
    }
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
