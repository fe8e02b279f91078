/**
 * The fronts' view of the servers: the gateway's description of itself, and the schemas and hints
 * that an answer needs.
 *
 * It keeps no state. Every answer is read on demand, so the next request sees a reload or a catalog
 * change.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { NO_HINTS } from "../catalog/definitions.ts";
import type { Call, Client } from "../protocol/call.ts";
import { type ChangeKind, listMethods, lookUp, routedMethods } from "../protocol/methods.ts";
import type { Servers } from "../servers/servers.ts";
import { type Described, describeOutput, describeServers } from "./describe.ts";
import { declaringServers, mayBeDeclared } from "./extension.ts";
import { resolve } from "./resolve.ts";

export class Directory {
  /** The gateway's name and version. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly #catalog: Catalog;
  readonly #servers: Servers;

  constructor(serverInfo: Readonly<Record<string, unknown>>, catalog: Catalog, servers: Servers) {
    this.serverInfo = serverInfo;
    this.#catalog = catalog;
    this.#servers = servers;
  }

  /** Returns the gateway's description of itself for this client. */
  describe({ capabilities }: Client): Described {
    const { settled } = this.#servers;
    return describeServers(this.#servers.infos(), { settled, client: capabilities, behind: this.#catalog.snapshot });
  }

  /** Resolves when a description need not wait for starting servers any more. */
  whenDescribed(client: Client): Promise<void> | undefined {
    return this.#servers.firstDescription(client);
  }

  /** Returns how long, and by whom, the answer to this method may be cached. */
  cacheHints(method: string): { readonly ttlMs: number; readonly cacheScope: "public" | "private" } {
    const list = lookUp(listMethods, method);
    const { snapshot } = this.#catalog;
    // A list that lacks a server's entries is no list to keep.
    const isComplete = list && snapshot.servers.every(({ standing }) => standing.kind === "known");
    return isComplete ? snapshot.cacheHints(list.kind) : NO_HINTS;
  }

  /** Returns the input schema of a tool, by any name that a call accepts. */
  inputSchema(tool: string): unknown {
    return this.#catalog.snapshot.tools.find(tool)?.definition.value["inputSchema"];
  }

  /** Returns the output schema of a tool, and the protocol version of its server. */
  outputOf(tool: string): { readonly schema: unknown; readonly version: string } | undefined {
    return describeOutput(this.#catalog.snapshot.tools.find(tool), this.#servers.infos());
  }

  /** Returns the server that a call belongs to. */
  ownerOf(call: Call): string | undefined {
    const routed = lookUp(routedMethods, call.method);
    try {
      return routed && resolve(call, routed, this.#catalog.view(call.client.key)).serverId;
    } catch {
      return undefined;
    }
  }

  /** Whether a server declared an extension that this method belongs to, or still may. */
  routesExtension(method: string): boolean {
    return declaringServers(method, this.#servers.infos()).length > 0 || mayBeDeclared(method, this.#catalog.snapshot);
  }

  /** Runs the listener for every change of a list. Returns a function that removes it. */
  onChange(listener: (kinds: readonly ChangeKind[]) => void): () => void {
    this.#catalog.on("listed", listener);
    return () => this.#catalog.off("listed", listener);
  }
}
