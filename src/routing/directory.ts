/**
 * What the fronts may know of the servers and their things: what the gateway says of itself, and
 * the schemas and hints that an answer needs.
 *
 * It keeps nothing of its own. Every answer is read when it is asked for, so the next request sees
 * a reload or a change of the catalog.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { NO_HINTS } from "../catalog/definitions.ts";
import type { Call, Client } from "../protocol/call.ts";
import { type ChangeKind, listMethods, lookUp, routedMethods } from "../protocol/methods.ts";
import type { Servers } from "../servers/servers.ts";
import { type Described, describeOutput, describeServers } from "./describe.ts";
import { extensionOwners } from "./extension.ts";
import { resolve } from "./resolve.ts";

export class Directory {
  /** Who answers. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly #catalog: Catalog;
  readonly #servers: Servers;

  constructor(serverInfo: Readonly<Record<string, unknown>>, catalog: Catalog, servers: Servers) {
    this.serverInfo = serverInfo;
    this.#catalog = catalog;
    this.#servers = servers;
  }

  /** What the gateway offers to this client. */
  describe({ capabilities }: Client): Described {
    return describeServers(this.#servers.infos(), { settled: this.#servers.settled, client: capabilities });
  }

  /** How long, and by whom, the answer to this method may be kept. */
  cacheHints(method: string): { readonly ttlMs: number; readonly cacheScope: "public" | "private" } {
    const list = lookUp(listMethods, method);
    return list ? this.#catalog.snapshot.cacheHints(list.kind) : NO_HINTS;
  }

  /** The input schema of a tool, by any name that a call accepts. */
  inputSchema(tool: string): unknown {
    return this.#catalog.snapshot.tools.find(tool)?.definition.value["inputSchema"];
  }

  /** The output schema of a tool, and the protocol version that its server speaks. */
  outputOf(tool: string): { readonly schema: unknown; readonly version: string } | undefined {
    return describeOutput(this.#catalog.snapshot.tools.find(tool), this.#servers.infos());
  }

  /** The server that a call of a thing belongs to. */
  ownerOf(call: Call): string | undefined {
    const routed = lookUp(routedMethods, call.method);
    try {
      return routed && resolve(call, routed, this.#catalog.snapshot).serverId;
    } catch {
      return undefined;
    }
  }

  /** Whether a server declared an extension that this method belongs to. */
  routesExtension(method: string): boolean {
    return extensionOwners(method, this.#servers.infos()).length > 0;
  }

  /** Runs for every change of a list; returns how to stop that. */
  onChange(listener: (kinds: readonly ChangeKind[]) => void): () => void {
    this.#catalog.on("listed", listener);
    return () => this.#catalog.off("listed", listener);
  }
}
