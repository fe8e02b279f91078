/**
 * Asks the policy about a request's arguments, as the last step before its server: what passes here
 * is what the server gets. Requests of clients without such rules pass at once.
 *
 * Invariant: neither the log nor the audit file gets an argument's value from here.
 */

import { Throttle } from "../../lib/timing/throttle.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import type { AskFirst } from "../../mcp/protocol/principal.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { Refusal } from "../../policy/arguments/admit.ts";
import type { Route } from "../routing/resolve.ts";

export class Admission {
  readonly #log: Pick<Logger, "warn">;
  /** A client chooses the arguments, and so how often a condition cannot be evaluated. */
  readonly #lines = new Throttle({ burst: 10, everyMs: 60_000 });

  constructor(log: Pick<Logger, "warn">) {
    this.#log = log;
  }

  /** Returns the params for the server. @throws GoblinError if a rule refuses the request */
  params(flight: Flight, route: Route, visibility = flight.call.client.visibility): string | AskFirst {
    const { admit } = visibility ?? {};
    const kind = route.spec.names;
    if (!admit || kind === "reference" || kind === "extension") return route.params;
    const { serverId, target, name, snapshot, params } = route;
    const list = kind === "tool" ? snapshot.tools : kind === "prompt" ? snapshot.prompts : undefined;
    const definition = list?.find(name)?.definition.value;
    const who = flight.call.who;
    try {
      return admit({ serverId, kind, name: target, definition, who, params, shownName: name });
    } catch (error) {
      if (error instanceof Refusal) this.#note(flight, error);
      throw error;
    }
  }

  #note(flight: Flight, { rule, problem }: Refusal): void {
    flight.rule = rule?.name ?? "policy.default";
    const heldBack = problem === undefined ? undefined : this.#lines.pass();
    if (heldBack === undefined) return;
    const { requestId, who } = flight.call;
    const { serverId, target } = flight;
    this.#log.warn(
      { server: serverId, tool: target, rule: rule?.name, who: who.name, requestId },
      `denied: ${problem}`,
    );
  }
}
