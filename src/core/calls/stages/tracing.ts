/**
 * Begins the trace of a request and gives its server the trace context. `CallMetrics` ends the
 * trace, because it sees the end of every request, also of those that pass no stage.
 */
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Tracing } from "../../../observe/otel/tracing.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Send, Stage } from "../compose.ts";

export class TracingStage implements Stage {
  readonly #tracing: Pick<Tracing, "begin">;

  constructor(tracing: Pick<Tracing, "begin">) {
    this.#tracing = tracing;
  }

  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    const params = this.#tracing.begin(flight, route.params);
    return next(flight, params === route.params ? route : { ...route, params });
  }
}
