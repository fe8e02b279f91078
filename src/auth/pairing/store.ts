/**
 * What pairing remembers, in one encrypted file of the state folder: the keys that sign tokens, the
 * registered clients, the grants and the codes that `goblin pair` made. The gateway and the command
 * line both use it, so a user who may read the folder needs no other right.
 *
 * Of tokens and codes only digests are stored.
 */
import { createHmac } from "node:crypto";
import type { JWK } from "jose";
import { openStateFolder, SealedFile } from "../secrets/sealed-file.ts";
import { SharedFile } from "../secrets/shared/shared-file.ts";
import type { SharedPlaces } from "../secrets/shared/shared-place.ts";
import type { BookForm } from "../secrets/shared/stamped-book.ts";

export interface StoredKey {
  readonly kid: string;
  readonly createdAt: number;
  readonly jwk: JWK;
}

/** A client that registered itself (RFC 7591). */
export interface RegisteredClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly createdAt: number;
  /** When a person last let it in; undefined: never. */
  readonly usedAt?: number | undefined;
}

/** A client that a person let in. */
export interface Grant {
  readonly id: string;
  /** The gateway's own URL. One state folder may serve several gateways. */
  readonly issuer: string;
  readonly clientId: string;
  /** What the client calls itself. */
  readonly clientName: string;
  /** Where the client had itself sent the code: its host, or the scheme of its app. */
  readonly clientHost: string;
  /** The endpoint that its tokens are for. */
  readonly resource: string;
  readonly scope: string;
  /** The profile that the client is limited to; undefined: it is not limited. */
  readonly profile?: string | undefined;
  /** The server whose endpoint its tokens open, and no other; undefined: all endpoints. */
  readonly server?: string | undefined;
  readonly createdAt: number;
  /** When it last got a token. */
  readonly usedAt: number;
  readonly refresh: RefreshState;
}

/** The newest refresh token of a grant, and the one before it. */
export interface RefreshState {
  readonly generation: number;
  readonly digest: string;
  readonly before?: string | undefined;
  readonly rotatedAt: number;
}

/** A code that `goblin pair` made. */
export interface PairingCode {
  readonly id: string;
  readonly issuer: string;
  readonly digest: string;
  readonly expiresAt: number;
  readonly attemptsLeft: number;
  /** The grant that it was used for. */
  readonly grant?: string | undefined;
}

/** An authorization code that was exchanged, by its digest. Only replicas keep these here. */
export interface RedeemedCode {
  readonly digest: string;
  readonly grant: string;
  readonly at: number;
}

export interface PairingBook {
  readonly keys: readonly StoredKey[];
  readonly clients: readonly RegisteredClient[];
  readonly grants: readonly Grant[];
  readonly codes: readonly PairingCode[];
  readonly redeemed: readonly RedeemedCode[];
}

const EMPTY_BOOK: PairingBook = { keys: [], clients: [], grants: [], codes: [], redeemed: [] };

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const FORM: BookForm<PairingBook> = {
  // The rest has an end of its own, and anybody can have clients made and removed without end.
  removedMs: (name) => (name.startsWith("g ") ? YEAR_MS : HOUR_MS),
  entries: ({ keys, clients, grants, codes, redeemed }) =>
    new Map([
      ...keys.map((one) => [`k ${one.kid}`, JSON.stringify(one)] as const),
      ...clients.map((one) => [`c ${one.id}`, JSON.stringify(one)] as const),
      ...grants.map((one) => [`g ${one.id}`, JSON.stringify(one)] as const),
      ...codes.map((one) => [`p ${one.id}`, JSON.stringify(one)] as const),
      ...redeemed.map((one) => [`r ${one.digest}`, JSON.stringify(one)] as const),
    ]),
  content(entries) {
    const of = <One>(kind: string): One[] =>
      [...entries].flatMap(([name, text]) => (name.startsWith(kind) ? [JSON.parse(text) as One] : []));
    const byAge = <One extends { readonly createdAt: number }>(all: One[]): One[] =>
      all.sort((a, b) => a.createdAt - b.createdAt);
    return {
      keys: byAge(of<StoredKey>("k ")),
      clients: byAge(of<RegisteredClient>("c ")),
      grants: byAge(of<Grant>("g ")),
      codes: of<PairingCode>("p "),
      redeemed: of<RedeemedCode>("r ").sort((a, b) => a.at - b.at),
    };
  },
};

export class PairingStore {
  readonly #file: SealedFile<PairingBook>;
  readonly #key: Buffer;
  #shared: SharedFile<PairingBook> | undefined;
  #keyFor: ((purpose: string) => Buffer) | undefined;

  constructor(folder: string, key: Buffer) {
    const remedy = "pair your clients again";
    this.#file = new SealedFile({ folder, name: "pairing", key, empty: EMPTY_BOOK, remedy });
    this.#key = key;
  }

  /** Opens the store of the user's state folder, and creates the folder and its key if needed. */
  static async open(env: Readonly<Record<string, string | undefined>>): Promise<PairingStore> {
    const { folder, key } = await openStateFolder(env);
    return new PairingStore(folder, key);
  }

  /** Takes keys that all replicas have, in place of those of the state folder. */
  takeKeys(keyFor: (purpose: string) => Buffer): void {
    this.#keyFor = keyFor;
  }

  /** Shares the store with the other replicas, from now until it is closed. */
  async share(places: SharedPlaces, warn: (message: string) => void): Promise<void> {
    this.takeKeys((purpose) => places.keyFor(purpose));
    const place = places.book("pairing", FORM.removedMs);
    this.#shared = new SharedFile({ sealed: this.#file, form: FORM, place, warn });
    await place.settled();
    await this.#shared.look();
  }

  /** Takes over what other replicas changed, before something counts as unknown. */
  async lookElsewhere(): Promise<void> {
    await this.#shared?.lookSoon();
  }

  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  close(): void {
    this.#shared?.close();
  }

  get path(): string {
    return this.#file.file;
  }

  read(): Promise<PairingBook> {
    return this.#file.read();
  }

  change(change: (book: PairingBook) => PairingBook): Promise<PairingBook> {
    return (this.#shared ?? this.#file).change(change);
  }

  /** A key for one purpose, the same after a restart and at all replicas. */
  derive(purpose: string): Buffer {
    if (this.#keyFor) return this.#keyFor(`pairing ${purpose}`);
    return createHmac("sha256", this.#key).update(`goblin pairing ${purpose}`).digest();
  }
}
