/** The grants of one gateway: who was let in, and until when. A revoked one ends at once. */
import type { LiveBook } from "./live-book.ts";
import type { ReadToken, Renewal } from "./server/refresh-tokens.ts";
import type { Grant, PairingBook } from "./store.ts";

/** A grant ends after this time without use. */
const IDLE_MS = 90 * 24 * 3_600_000;
const MAX_GRANTS = 1000;

export class Grants {
  readonly #book: LiveBook;
  readonly #issuer: string;
  readonly #now: () => number;
  /** Those that ended in this process: one may end before it was stored. */
  readonly #ended = new Set<string>();

  constructor({ book, issuer, now }: { book: LiveBook; issuer: string; now: () => number }) {
    this.#book = book;
    this.#issuer = issuer;
    this.#now = now;
  }

  find(id: string): Grant | undefined {
    return this.#in(this.#book.current, id);
  }

  /** Looks also for what another replica knows since a moment. */
  async findAnywhere(id: string): Promise<Grant | undefined> {
    const found = this.find(id);
    return found ?? ((await this.#book.catchUp()) ? this.find(id) : undefined);
  }

  list(): Grant[] {
    return this.#book.current.grants.filter((grant) => this.#isOwn(grant));
  }

  /** Returns false if the grant has ended already. */
  async add(grant: Grant): Promise<boolean> {
    const next = await this.#book.change((book) => {
      if (this.#ended.has(grant.id)) return book;
      const kept = book.grants.filter(({ usedAt }) => this.#now() - usedAt < IDLE_MS).slice(1 - MAX_GRANTS);
      const clients = book.clients.map((one) => (one.id === grant.clientId ? { ...one, usedAt: this.#now() } : one));
      return { ...book, clients, grants: [...kept, grant] };
    });
    return next.grants.some(({ id }) => id === grant.id);
  }

  async revoke(id: string): Promise<void> {
    this.#ended.add(id);
    await this.#book.change((book) => withoutGrants(book, [id]));
  }

  /** Takes a refresh token's renewal over into the grant; ends a grant whose token was reused. */
  async renew({ grant: id }: ReadToken, renew: (grant: Grant) => Renewal): Promise<Renewal | undefined> {
    let renewal: Renewal | undefined;
    await this.#book.change((book) => {
      const grant = this.#in(book, id);
      renewal = undefined;
      if (!grant) return book;
      renewal = renew(grant);
      if (renewal.kind === "reuse") return withoutGrants(book, [id]);
      if (renewal.kind === "repeat") return book;
      const next = { ...grant, usedAt: this.#now(), refresh: renewal.state };
      return { ...book, grants: book.grants.map((one) => (one === grant ? next : one)) };
    });
    return renewal;
  }

  #in(book: PairingBook, id: string): Grant | undefined {
    return book.grants.find((one) => one.id === id && this.#isOwn(one));
  }

  #isOwn({ issuer, usedAt }: Grant): boolean {
    return issuer === this.#issuer && this.#now() - usedAt < IDLE_MS;
  }
}

export function withoutGrants(book: PairingBook, ids: readonly string[]): PairingBook {
  const grants = book.grants.filter(({ id }) => !ids.includes(id));
  return grants.length === book.grants.length ? book : { ...book, grants };
}
