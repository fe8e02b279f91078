/**
 * Measures how long sessions of clients and connections to servers last, each as long as it is in
 * this process. Of a server, it is the connection that all clients share.
 */
import { Durations } from "./durations.ts";
import { type Attributes, arrivalOf } from "./network.ts";

interface MeasuredSession {
  readonly account: string;
  readonly principal: string;
  readonly protocolVersion: string;
  onEnd(ending: () => void): void;
}

interface Status {
  readonly state: string;
  /** Another object for each connection; undefined: there is none. */
  readonly info: { readonly protocolVersion: string } | undefined;
}

export interface SessionSources {
  readonly sessions: { on(event: "opened", listener: (session: MeasuredSession) => void): unknown };
  readonly servers: {
    on(event: "status", listener: (serverId: string, status: Status) => void): unknown;
    on(event: "removed", listener: (serverId: string) => void): unknown;
  };
  /** The protocol's version at a server, and how it is reached. */
  readonly connection: (serverId: string) => Attributes;
}

interface Connection {
  readonly info: Status["info"];
  readonly since: number;
  readonly labels: Attributes;
}

export class Sessions {
  readonly served = new Durations("mcp.server.session.duration");
  readonly asked = new Durations("mcp.client.session.duration");
  readonly #connections = new Map<string, Connection>();

  constructor({ sessions, servers, connection }: SessionSources) {
    sessions.on("opened", (session) => {
      const since = performance.now();
      const labels = { "mcp.protocol.version": session.protocolVersion, ...arrivalOf(session) };
      session.onEnd(() => this.served.add(secondsSince(since), labels));
    });
    servers.on("status", (serverId, { state, info }) => {
      if (this.#connections.get(serverId)?.info === info) return;
      this.#ended(serverId, state === "down" ? "unavailable" : undefined);
      const labels = { "goblin.server.id": serverId, ...connection(serverId) };
      if (info) this.#connections.set(serverId, { info, since: performance.now(), labels });
    });
    servers.on("removed", (serverId) => this.#ended(serverId, undefined));
  }

  /** The gateway has ended: so have all connections. */
  close(): void {
    for (const serverId of [...this.#connections.keys()]) this.#ended(serverId, undefined);
  }

  #ended(serverId: string, error: string | undefined): void {
    const connection = this.#connections.get(serverId);
    if (!connection) return;
    this.#connections.delete(serverId);
    this.asked.add(secondsSince(connection.since), { ...connection.labels, "error.type": error });
  }
}

function secondsSince(at: number): number {
  return (performance.now() - at) / 1000;
}
