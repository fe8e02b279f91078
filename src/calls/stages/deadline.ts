/**
 * The time limit of a request. Progress from the server starts the clock anew, and while the client
 * is asked something it stands still, both up to a limit on the whole. When it runs out the request
 * is cancelled, which ends it wherever it is, and its answer becomes a timeout error.
 */
import type { Call, Clock } from "../../protocol/call.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { type Answer, failure } from "../../protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import { type Alarm, Alarms } from "../../timing/alarms.ts";
import type { Stage } from "../compose.ts";

export interface DeadlineOptions {
  /** The limit for this server, or for this tool where it has its own. */
  readonly limitMs: (serverId: string, toolLimitMs: number | undefined) => number;
  readonly maxMs: () => number;
}

export function deadline({ limitMs, maxMs }: DeadlineOptions): Stage {
  const alarms = new Alarms();
  return {
    enter(call, route) {
      call.clock = new Deadline(call, alarms, limitMs(route.serverId, route.timeoutMs), maxMs);
      return undefined;
    },
    leave(call, route, answer) {
      const clock = call.clock as Deadline;
      clock.stop();
      return clock.expired && !answer.ok ? timeout(call, route, clock.reached) : answer;
    },
  };
}

function timeout(call: Call, { serverId, name, spec }: Route, timeoutMs: number): Answer {
  const ms = Math.round(performance.now() - call.started);
  const message = `Timeout: ${name} of server "${serverId}" gave no answer within ${ms} ms`;
  return failure(new GoblinError(spec.timeout, message, { data: { serverId, timeoutMs } }), {
    requestId: call.requestId,
  });
}

class Deadline implements Alarm, Clock {
  due = 0;
  place = -1;
  expired = false;
  expiredWhileAsking = false;
  /**
   * The limit that the request reaches when the clock runs out: its own, or the one on the whole.
   */
  reached: number;
  readonly #limit: number;
  readonly #call: Call;
  readonly #alarms: Alarms;
  readonly #maxMs: () => number;
  #questions = 0;
  #stopped = false;

  constructor(call: Call, alarms: Alarms, limit: number, maxMs: () => number) {
    this.#call = call;
    this.#alarms = alarms;
    this.reached = limit;
    this.#limit = limit;
    this.#maxMs = maxMs;
    alarms.set(this, call.started + limit);
  }

  progress(): void {
    if (this.#questions === 0) this.#allow(this.#limit);
  }

  asks(): void {
    this.#questions++;
    this.#allow(this.#maxMs());
  }

  answered(): void {
    this.#questions--;
    this.progress();
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

  /**
   * So much more from now on, but not more than the limit on the whole; never less than there was
   * to begin with.
   */
  #allow(ms: number): void {
    if (this.#stopped || this.expired) return;
    const whole = Math.max(this.#limit, this.#maxMs());
    const due = performance.now() + ms;
    const end = this.#call.started + whole;
    this.reached = due < end ? ms : whole;
    this.#alarms.set(this, Math.min(due, end));
  }
}
