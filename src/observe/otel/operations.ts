/**
 * Measures how long requests take, those of clients and those to servers.
 *
 * Names of tools and prompts are no labels: their number is not bounded.
 */
import type { Flight } from "../../mcp/protocol/flight.ts";
import type { Answer } from "../../mcp/protocol/json-rpc.ts";
import type { Outcome } from "../../mcp/protocol/outcomes.ts";
import { errorTypeLabel, methodLabel, statusLabel } from "../telemetry/labels.ts";
import { Durations } from "./durations.ts";
import { type Attributes, arrivalOfCall } from "./network.ts";

export class Operations {
  readonly served = new Durations("mcp.server.operation.duration");
  readonly asked = new Durations("mcp.client.operation.duration");
  readonly #connection: (serverId: string) => Attributes;

  /** `connection`: the protocol's version at a server, and how it is reached. */
  constructor(connection: (serverId: string) => Attributes) {
    this.#connection = connection;
  }

  /** Measures a request that has ended, at this time on the clock of `performance.now()`. */
  add(flight: Flight, { answer, outcome }: { answer: Answer; outcome: Outcome }, endedAt: number): void {
    const { call, serverId, sentAt, answeredAt, startedAt } = flight;
    const labels = {
      "mcp.method.name": methodLabel(call.method),
      "gen_ai.operation.name": call.method === "tools/call" ? "execute_tool" : undefined,
      "error.type": errorTypeLabel(answer, outcome),
      "rpc.response.status_code": answer.ok ? undefined : statusLabel(answer),
    };
    const version = { "mcp.protocol.version": call.client.protocolVersion };
    this.served.add((endedAt - startedAt) / 1000, { ...labels, ...version, ...arrivalOfCall(call) });
    if (sentAt === 0 || serverId === undefined) return;
    const ms = (answeredAt || endedAt) - sentAt;
    this.asked.add(ms / 1000, { ...labels, "goblin.server.id": serverId, ...this.#connection(serverId) });
  }
}
