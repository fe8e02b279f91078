/**
 * The access tokens that callers came with last, for servers that are used on their behalf. They
 * are in memory only, and not longer than they are valid. Their number is bounded.
 */

import { BoundedMap } from "../../../lib/structures/bounded-map.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { Subject } from "./on-behalf.ts";

const MAX_SUBJECTS = 10_000;
const SEPARATOR = "\u001f";

export class Subjects {
  /** By principal; oldest first. */
  readonly #tokens = new BoundedMap<string, { readonly token: string; readonly expiresAt: number }>(MAX_SUBJECTS);

  note({ id, expiresAt }: Principal, token: string): void {
    if (this.#tokens.get(id)?.token === token) return;
    this.#tokens.delete(id);
    this.#tokens.set(id, { token, expiresAt });
  }

  of(principal: string): Subject | undefined {
    const found = this.#tokens.get(principal);
    const end = principal.indexOf(SEPARATOR);
    if (!found || end === -1) return undefined;
    if (found.expiresAt > Date.now()) return { token: found.token, issuer: principal.slice(0, end) };
    this.#tokens.delete(principal);
    return undefined;
  }
}
