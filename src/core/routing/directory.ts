/**
 * The fronts' view of the servers: the gateway's description of itself, and the schemas and hints
 * that an answer needs.
 *
 * It keeps no state. Every answer is read on demand, so the next request sees a reload or a catalog
 * change.
 */

import type { Call, Client } from "../../mcp/protocol/call.ts";
import { type ChangeKind, listMethods, routedMethods } from "../../mcp/protocol/methods.ts";
import { shownTo, type Viewer } from "../../mcp/protocol/principal.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import { NO_HINTS } from "../../upstream/catalog/definitions.ts";
import type { ServerInfo, Servers } from "../../upstream/servers/servers.ts";
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
  describe(client: Client): Described {
    const { settled } = this.#servers;
    const { capabilities, visibility } = client;
    const isAlone = visibility?.server !== undefined;
    return describeServers(this.#infos(client), {
      settled,
      isAlone,
      client: capabilities,
      behind: this.#catalog.view(client),
      mayAsk: visibility?.mayAsk === true,
    });
  }

  /** Resolves when a description need not wait any more: not for starting servers. */
  whenDescribed(client: Client): Promise<void> | undefined {
    const waits = this.#servers.arrivals.firstDescription(client);
    return waits ? waits.then(() => this.#catalog.ready(client)) : this.#catalog.ready(client);
  }

  /** Returns how long, and by whom, the answer to this method may be cached. */
  cacheHints(method: string, viewer: Viewer): { readonly ttlMs: number; readonly cacheScope: "public" | "private" } {
    const list = listMethods.get(method);
    if (!list) return NO_HINTS;
    const view = this.#catalog.view(viewer);
    // A list that lacks a server's entries is no list to keep.
    const isComplete = view.servers.every(({ standing }) => standing.kind === "known");
    return isComplete ? view.cacheHints(list.kind) : NO_HINTS;
  }

  /** Returns the input schema of a tool, by any name that a call accepts. */
  inputSchema(tool: string, viewer: Viewer): unknown {
    return this.#catalog.view(viewer).tools.find(tool)?.definition.value["inputSchema"];
  }

  /** Returns the output schema of a tool, and the protocol version of its server. */
  outputOf(tool: string, viewer: Viewer): { readonly schema: unknown; readonly version: string } | undefined {
    return describeOutput(this.#catalog.view(viewer).tools.find(tool), this.#servers.infos());
  }

  /** Returns the server that a call belongs to. */
  ownerOf(call: Call): string | undefined {
    const routed = routedMethods.get(call.method);
    try {
      return routed && resolve(call, routed, this.#catalog.view(call.client)).serverId;
    } catch {
      return undefined;
    }
  }

  /** Whether a server declared an extension that this method belongs to, or still may. */
  routesExtension(method: string, viewer: Viewer): boolean {
    if (declaringServers(method, this.#infos(viewer)).length > 0) return true;
    return mayBeDeclared(method, this.#catalog.view(viewer));
  }

  /** Runs the listener for every change of the viewer's lists. Returns a function that ends it. */
  onChange(viewer: Viewer, listener: (kinds: readonly ChangeKind[]) => void): () => void {
    return this.#catalog.watch(viewer, listener);
  }

  #infos(viewer: Viewer): ServerInfo[] {
    return shownTo(viewer, this.#servers.infos());
  }
}
