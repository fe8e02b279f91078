/**
 * Calls that a person allowed, and whose servers want input before they go on. The client repeats
 * its request with the input: that is the same call, and nobody is asked about it again.
 *
 * Invariant: a continuation is the same call as before, with the state that its server gave, and
 * counts once. Everything else is a new call.
 */
import { createHash } from "node:crypto";
import { canonical } from "../../lib/json/canonical.ts";
import { dropMembers, memberSpan, memberText } from "../../lib/json/json-text.ts";
import { type Raw, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Grant } from "./record.ts";

interface Continuation {
  readonly grant: Grant;
  readonly expiresAt: number;
}

const INPUT_REQUIRED = '"input_required"';
/** How long a client may take to answer. */
const MAX_AGE_MS = 3_600_000;
const MAX_CONTINUATIONS = 10_000;

/** The params of the call that a request continues; undefined: it begins one. */
export function begunWith(params: string): string | undefined {
  if (!memberSpan(params, 0, "inputResponses")) return undefined;
  return dropMembers(params, (key) => key === "inputResponses" || key === "requestState");
}

/** Whether a result wants input from the client. */
export function wantsInput(result: Raw): boolean {
  return result.includes(INPUT_REQUIRED) && memberText(rawText(result), "resultType") === INPUT_REQUIRED;
}

export class Continuations {
  /** By the call and the state of its server, oldest first. */
  readonly #open = new Map<string, Continuation[]>();
  #size = 0;

  /** `key`: of the call. `state`: of its server, in JSON. */
  add(key: string, state: string | undefined, grant: Grant, now: number): void {
    const id = idOf(key, state);
    const same = this.#open.get(id) ?? [];
    this.#open.delete(id);
    this.#open.set(id, [...same, { grant, expiresAt: now + MAX_AGE_MS }]);
    this.#size++;
    for (const [oldest, { length }] of this.#open) {
      if (this.#size <= MAX_CONTINUATIONS) break;
      this.#open.delete(oldest);
      this.#size -= length;
    }
  }

  take(key: string, state: string | undefined, now: number): Grant | undefined {
    const id = idOf(key, state);
    const [first, ...others] = this.#open.get(id) ?? [];
    if (!first) return undefined;
    this.#size--;
    if (others.length > 0) this.#open.set(id, others);
    else this.#open.delete(id);
    return first.expiresAt > now ? first.grant : this.take(key, state, now);
  }

  /** Ends those of a grant that was revoked. */
  remove(grantId: string): void {
    for (const [id, all] of this.#open) {
      const left = all.filter(({ grant }) => grant.id !== grantId);
      this.#size -= all.length - left.length;
      if (left.length > 0) this.#open.set(id, left);
      else this.#open.delete(id);
    }
  }
}

function idOf(key: string, state: string | undefined): string {
  const text = JSON.stringify([key, state === undefined ? null : canonical(state)]);
  return createHash("sha256").update(text).digest("base64url");
}
