/**
 * What one client may use: calls under way at once, and calls started in a second (a token bucket
 * that holds one second's worth). A session is one client; so is everybody without a session who
 * has the same token or, without one, comes from the same address.
 *
 * A call over a limit is refused at once with an error that names the limit; it costs the servers
 * and the other clients nothing. What was counted for clients that are gone is forgotten now and
 * then.
 */
import type { LiveConfig } from "../../../config/live-config.ts";
import type { BudgetUser, SharedBudget } from "../../../lib/structures/shared-budget.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../../mcp/protocol/json-rpc.ts";
import { limitExceeded, type OnLimit, tooManyUnderWay } from "../../../mcp/protocol/limit-exceeded.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

interface Use {
  inFlight: number;
  tokens: number;
  /** The part of the calls in a second that this gateway has, if it shares them with others. */
  share: number;
  /** Calls since the parts were given last. */
  calls: number;
  /** When the tokens were counted. */
  at: number;
}

const MANY = 4096;
const FORGOTTEN_MS = 10_000;
/** A client without a call for this long has no share of the budgets that gateways share. */
const QUIET_MS = 2000;

export class ClientLimits implements Stage, BudgetUser {
  readonly #config: Pick<LiveConfig, "current">;
  readonly #onLimit: OnLimit;
  readonly #uses = new Map<string, Use>();
  /** Those that other gateways may count too. Undefined: there are no others. */
  #shared: Map<string, Use> | undefined;
  #equalShare = 1;
  #countedAt = 0;

  constructor(config: Pick<LiveConfig, "current">, onLimit: OnLimit) {
    this.#config = config;
    this.#onLimit = onLimit;
  }

  enter({ call }: Flight): Answer | undefined {
    const { inFlightPerSession, callsPerSecond } = this.#config.current.limits;
    const { meter, account } = call.client;
    const use = this.#countsOf(meter);
    if (this.#shared !== undefined && callsPerSecond > 0 && meter === account) this.#count(use, meter);
    if (use.inFlight >= inFlightPerSession) {
      this.#onLimit("inFlightPerSession");
      return failure(tooManyUnderWay(inFlightPerSession), { requestId: call.requestId });
    }
    const wait = callsPerSecond > 0 ? spend(use, callsPerSecond * use.share, performance.now()) : 0;
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

  /** Each of the gateways has an equal part. */
  split(gateways: number): void {
    this.#equalShare = 1 / gateways;
    this.#shared ??= new Map();
    for (const use of this.#shared.values()) use.share = this.#equalShare;
  }

  /** The calls of clients without a session, which come to all gateways. */
  budgets(): SharedBudget[] {
    const { callsPerSecond: limit } = this.#config.current.limits;
    const now = performance.now();
    const seconds = Math.max(0.001, (now - this.#countedAt) / 1000);
    this.#countedAt = now;
    const found: SharedBudget[] = [];
    for (const [meter, use] of this.#shared ?? []) {
      const demand = use.calls / seconds;
      use.calls = 0;
      if (now - use.at > QUIET_MS || limit === 0) {
        this.#shared!.delete(meter);
        continue;
      }
      const grant = (part: number): void => {
        use.share = part / limit;
      };
      found.push({ name: `calls ${meter}`, limit, demand, inUse: 0, isWhole: false, grant });
    }
    return found;
  }

  /** A session has all its calls at one gateway. Everybody else may call at others too. */
  #count(use: Use, meter: string): void {
    use.calls++;
    const shared = this.#shared!;
    if (shared.get(meter) === use) return;
    // Nobody asks for the budgets while the others cannot be reached. All begin with an equal part
    // again.
    if (shared.size >= MANY) shared.clear();
    use.share = this.#equalShare;
    shared.set(meter, use);
  }

  #countsOf(meter: string): Use {
    const known = this.#uses.get(meter);
    if (known) return known;
    const now = performance.now();
    if (this.#uses.size >= MANY) this.#forgetIdle(now);
    const use = { inFlight: 0, tokens: Number.POSITIVE_INFINITY, share: 1, calls: 0, at: now };
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
