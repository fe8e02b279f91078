/**
 * What one client may use: calls under way at once, and calls started in a second (a token bucket
 * that holds one second's worth). A session is one client; so is everybody without a session who
 * has the same token or, without one, comes from the same address.
 *
 * A call over a limit is refused at once with an error that names the limit; it costs the servers
 * and the other clients nothing. What was counted for clients that are gone is forgotten now and
 * then.
 */
import type { LiveConfig } from "../../config/live-config.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Answer, failure } from "../../protocol/json-rpc.ts";
import { limitExceeded, type OnLimit, tooManyUnderWay } from "../../protocol/limit-exceeded.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

interface Use {
  inFlight: number;
  tokens: number;
  /** When the tokens were counted. */
  at: number;
}

const MANY = 4096;
const FORGOTTEN_MS = 10_000;

export class ClientLimits implements Stage {
  readonly #config: Pick<LiveConfig, "current">;
  readonly #onLimit: OnLimit;
  readonly #uses = new Map<string, Use>();

  constructor(config: Pick<LiveConfig, "current">, onLimit: OnLimit) {
    this.#config = config;
    this.#onLimit = onLimit;
  }

  enter({ call }: Flight): Answer | undefined {
    const { inFlightPerSession, callsPerSecond } = this.#config.current.limits;
    const use = this.#countsOf(call.client.meter);
    if (use.inFlight >= inFlightPerSession) {
      this.#onLimit("inFlightPerSession");
      return failure(tooManyUnderWay(inFlightPerSession), { requestId: call.requestId });
    }
    const wait = callsPerSecond > 0 ? spend(use, callsPerSecond, performance.now()) : 0;
    if (wait > 0) {
      this.#onLimit("callsPerSecond");
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
  }

  leave({ call }: Flight, _route: Route, answer: Answer): Answer {
    this.#uses.get(call.client.meter)!.inFlight--;
    return answer;
  }

  #countsOf(meter: string): Use {
    const known = this.#uses.get(meter);
    if (known) return known;
    const now = performance.now();
    if (this.#uses.size >= MANY) this.#forgetIdle(now);
    const use = { inFlight: 0, tokens: Number.POSITIVE_INFINITY, at: now };
    this.#uses.set(meter, use);
    return use;
  }

  #forgetIdle(time: number): void {
    for (const [meter, { inFlight, at }] of this.#uses) {
      if (inFlight === 0 && time - at > FORGOTTEN_MS) this.#uses.delete(meter);
    }
  }
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
