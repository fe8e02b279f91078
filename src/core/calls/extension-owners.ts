/** Which servers the methods of an extension can be meant for, as a client sees them. */
import type { Call } from "../../mcp/protocol/call.ts";
import { shownTo } from "../../mcp/protocol/principal.ts";
import { extensionOwners, mayBeDeclared, notOffered } from "../routing/extension.ts";
import type { RelayParts } from "./relay.ts";

export class ExtensionOwners {
  readonly #parts: Pick<RelayParts, "servers" | "catalog" | "waiting">;

  constructor(parts: Pick<RelayParts, "servers" | "catalog" | "waiting">) {
    this.#parts = parts;
  }

  of({ method, client }: Call): string[] {
    return extensionOwners(method, shownTo(client, this.#parts.servers.infos()));
  }

  /** Whether a server has the extension of this method, or may have it when it has started. */
  has(call: Call): boolean {
    return this.of(call).length > 0 || mayBeDeclared(call.method, this.#parts.catalog.view(call.client));
  }

  /** Waits while servers start that may have it. @throws GoblinError if none has */
  async known(call: Call): Promise<void> {
    const { waiting } = this.#parts;
    await waiting.found(
      (newest) => {
        if (this.of(call).length === 0) notOffered(call.method, newest);
      },
      { client: call.client, call },
    );
  }
}
