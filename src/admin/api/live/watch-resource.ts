/**
 * Subscribes to a resource for the caller of the API and streams its updates. The subscription ends
 * with the stream.
 */
import { randomUUID } from "node:crypto";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { refusal } from "../call-tool.ts";
import type { AdminParts } from "../parts.ts";
import { EventResponse } from "./event-response.ts";

type Parts = Pick<AdminParts, "resourceSubscriptions">;

export class Watches {
  readonly #parts: Parts;
  readonly #streams = new Map<EventResponse, Principal>();

  constructor(parts: Parts & Pick<AdminParts, "guards">) {
    this.#parts = parts;
    const { guards } = parts;
    guards.on("expired", (isLive) => this.#revoke(isLive));
    guards.on("changed", () => this.#revoke((principal) => guards.main.admits(principal, "admin")));
  }

  async open(uri: string, principal: Principal): Promise<Response> {
    const { resourceSubscriptions } = this.#parts;
    const key = `api-${randomUUID()}`;
    const stream = new EventResponse(() => {
      this.#streams.delete(stream);
      resourceSubscriptions.release(key);
    });
    this.#streams.set(stream, principal);
    const subscriber = { viewer: { key, visibility: undefined }, account: principal.id || "api" };
    const answer = await resourceSubscriptions.subscribe(subscriber, uri, (params) => stream.send("updated", params));
    if (!answer.ok) {
      stream.end();
      throw refusal(answer);
    }
    stream.send("subscribed", JSON.stringify({ uri }));
    return stream.response;
  }

  close(): void {
    this.#revoke(() => false);
  }

  /** Ends the streams of callers whose access was revoked. */
  #revoke(isValid: (principal: Principal) => boolean): void {
    for (const [stream, principal] of [...this.#streams]) if (!isValid(principal)) stream.end();
  }
}
