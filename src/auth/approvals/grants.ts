/**
 * The grants in force. A grant allows calls with its key, and no others: in its session if it is
 * for one, until it expires, and as often as it says.
 */
import { BoundedMap } from "../../lib/structures/bounded-map.ts";
import type { Grant } from "./record.ts";

const MAX_GRANTS = 10_000;

export class Grants {
  /** Oldest first. */
  readonly #grants = new BoundedMap<string, Grant>(MAX_GRANTS);

  all(now: number): Grant[] {
    for (const [id, grant] of this.#grants) if (isOver(grant, now)) this.#grants.delete(id);
    return [...this.#grants.values()].filter(({ uses }) => uses !== 0);
  }

  add(grant: Grant): void {
    this.#grants.set(grant.id, grant);
  }

  remove(id: string): Grant | undefined {
    const grant = this.#grants.get(id);
    this.#grants.delete(id);
    return grant;
  }

  removeSession(session: string): void {
    for (const [id, { span, subject }] of this.#grants)
      if (span === "session" && subject.session === session) this.#grants.delete(id);
  }

  replace(grants: readonly Grant[]): void {
    this.#grants.clear();
    for (const grant of grants) this.add(grant);
  }

  /** Uses a grant for a call. Those that end with their use are kept for when nothing else fits. */
  take(key: string, session: string | null, now: number): Grant | undefined {
    let found: Grant | undefined;
    for (const grant of this.#grants.values()) {
      if (grant.key !== key || grant.uses === 0 || isOver(grant, now)) continue;
      if (grant.span === "session" && (session === null || grant.subject.session !== session)) continue;
      if (!found || found.uses !== null) found = grant;
    }
    if (found) this.spend(found.id);
    return found;
  }

  spend(id: string): void {
    const grant = this.#grants.get(id);
    if (grant && grant.uses !== null) grant.uses--;
  }

  /** A call that was allowed was surely not run. */
  giveBack(id: string): void {
    const grant = this.#grants.get(id);
    if (grant && grant.uses !== null) grant.uses++;
  }
}

function isOver({ expiresAt }: Grant, now: number): boolean {
  return expiresAt <= now;
}
