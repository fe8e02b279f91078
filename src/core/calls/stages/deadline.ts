/**
 * The timeout of a request. Progress from the server restarts the clock, and so does the answer to
 * a question to the client. The clock is paused while a question is open. If the question may
 * belong to another call, the clock continues where it stood: a call that hangs must not live as
 * long as others ask. All this up to an overall limit. While a person decides whether a call runs
 * at all, no clock runs. On expiry, the request is cancelled wherever it is, and its answer becomes
 * a timeout error.
 */
import type { LiveConfig } from "../../../config/live-config.ts";
import { type Alarm, Alarms } from "../../../lib/timing/alarms.ts";
import type { Call } from "../../../mcp/protocol/call.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Deadline, Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../../mcp/protocol/json-rpc.ts";
import type { Roster } from "../../../upstream/servers/roster.ts";
import { LateRoute } from "../../routing/late-route.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

export class Deadlines implements Stage {
  readonly #alarms = new Alarms();
  readonly #config: Pick<LiveConfig, "current">;
  readonly #roster: Pick<Roster, "get">;

  constructor(config: Pick<LiveConfig, "current">, roster: Pick<Roster, "get">) {
    this.#config = config;
    this.#roster = roster;
  }

  enter(flight: Flight, route: Route): undefined {
    const ofServer = this.#roster.get(route.serverId)?.config.timeoutMs;
    const limitMs = route.timeoutMs ?? ofServer ?? this.#config.current.timeouts.callMs;
    flight.deadline = new CallDeadline(flight, this.#alarms, { limitMs, maxMs: this.#maxMs });
  }

  readonly #maxMs = (): number => this.#config.current.timeouts.maxCallMs;

  leave(flight: Flight, route: Route, answer: Answer): Answer {
    const { deadline } = flight;
    deadline?.stop();
    if (!deadline?.expired || answer.ok) return answer;
    // Nothing was sent: the answer already says that the server did not start in time.
    if (route instanceof LateRoute && !route.isFound) return answer;
    return timeout(flight, route, deadline.reached);
  }
}

function timeout({ call, startedAt }: Flight, { serverId, name, spec }: Route, timeoutMs: number): Answer {
  const ms = Math.round(performance.now() - startedAt - call.heldMs);
  const message = `Timeout: ${name} of server "${serverId}" gave no answer within ${ms} ms`;
  return failure(new GoblinError(spec.timeout, message, { data: { serverId, timeoutMs } }), {
    requestId: call.requestId,
  });
}

interface DeadlineLimits {
  readonly limitMs: number;
  /** The overall limit of the call, regardless of progress. */
  readonly maxMs: () => number;
}

class CallDeadline implements Alarm, Deadline {
  due = 0;
  place = -1;
  expired = false;
  expiredWhileAsking = false;
  /** The limit that applies when the clock runs out: the request's own, or the overall one. */
  reached: number;
  readonly #limit: number;
  readonly #call: Call;
  /** When it would have started if it had never been held. */
  #startedAt: number;
  readonly #alarms: Alarms;
  readonly #maxMs: () => number;
  #questions = 0;
  /** The time that is left when the last open question is answered. */
  #left = 0;
  #stopped = false;
  #heldAt = 0;

  constructor({ call, startedAt }: Flight, alarms: Alarms, { limitMs, maxMs }: DeadlineLimits) {
    this.#call = call;
    this.#startedAt = startedAt;
    this.#alarms = alarms;
    this.reached = limitMs;
    this.#limit = limitMs;
    this.#maxMs = maxMs;
    alarms.set(this, startedAt + limitMs);
  }

  progress(): void {
    if (this.#questions === 0) this.#allow(this.#limit, this.#limit);
    else this.#left = this.#limit;
  }

  asks(): void {
    if (this.#questions++ === 0) this.#left = Math.max(0, this.due - performance.now());
    this.#allow(this.#maxMs(), this.#maxMs());
  }

  answered(isOwn: boolean): void {
    if (isOwn) this.#left = this.#limit;
    if (--this.#questions === 0) this.#allow(this.#left, this.#limit);
  }

  hold(): void {
    this.#heldAt = performance.now();
    this.#left = Math.max(0, this.due - this.#heldAt);
    this.#alarms.clear(this);
  }

  release(): void {
    this.#startedAt += performance.now() - this.#heldAt;
    this.#allow(this.#left, this.#limit);
  }

  stop(): void {
    this.#stopped = true;
    this.#alarms.clear(this);
  }

  ring(): void {
    this.expired = true;
    this.expiredWhileAsking = this.#questions > 0;
    this.#call.cancel("timeout");
  }

  /** Sets the deadline to now + ms, capped at the overall limit. `limit`: what it stands for. */
  #allow(ms: number, limit: number): void {
    if (this.#stopped || this.expired) return;
    const whole = Math.max(this.#limit, this.#maxMs());
    const due = performance.now() + ms;
    const end = this.#startedAt + whole;
    this.reached = due < end ? limit : whole;
    this.#alarms.set(this, Math.min(due, end));
  }
}
