/** Finds the routes of requests whose server was still starting when they came in. */
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Waiting } from "../../../upstream/servers/waiting.ts";
import { LateRoute } from "../../routing/late-route.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Send, Stage } from "../compose.ts";

export class LateRoutes implements Stage {
  readonly #waiting: Waiting;

  constructor(waiting: Waiting) {
    this.#waiting = waiting;
  }

  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    return route instanceof LateRoute ? this.#sendLate(flight, route, next) : next(flight, route);
  }

  async #sendLate(flight: Flight, late: LateRoute, next: Send): Promise<Answer> {
    const { call, deadline } = flight;
    const route = await this.#waiting.found(late.find, { client: call.client, call, deadline });
    late.settle(route);
    flight.serverId = route.serverId;
    flight.target = route.target;
    return next(flight, route);
  }
}
