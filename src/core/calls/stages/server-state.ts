/**
 * Gives a server its own state back, which its client returns sealed.
 *
 * Two stages, because a state that is not valid must be refused before a person or a server hears
 * of the request, and because rules and approvals are about the params without it.
 */
import { setMember } from "../../../lib/json/json-text.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import type { ServerStates } from "../../session/request-state.ts";
import type { Send, Stage } from "../compose.ts";

export class OpenState implements Stage {
  readonly #states: Pick<ServerStates, "open">;

  constructor(states: Pick<ServerStates, "open">) {
    this.#states = states;
  }

  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    flight.serverState = this.#states.open(flight.call, route.serverId);
    return next(flight, route);
  }
}

export class ReturnState implements Stage {
  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    const { serverState } = flight;
    if (serverState === undefined) return next(flight, route);
    return next(flight, { ...route, params: setMember(route.params, "requestState", serverState) });
  }
}
