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

export interface PairingBook {
  readonly keys: readonly StoredKey[];
  readonly clients: readonly RegisteredClient[];
  readonly grants: readonly Grant[];
  readonly codes: readonly PairingCode[];
}

const EMPTY_BOOK: PairingBook = { keys: [], clients: [], grants: [], codes: [] };

export class PairingStore {
  readonly #file: SealedFile<PairingBook>;
  readonly #key: Buffer;

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

  get path(): string {
    return this.#file.file;
  }

  read(): Promise<PairingBook> {
    return this.#file.read();
  }

  change(change: (book: PairingBook) => PairingBook): Promise<PairingBook> {
    return this.#file.change(change);
  }

  /** A key for one purpose, the same after a restart. */
  derive(purpose: string): Buffer {
    return createHmac("sha256", this.#key).update(`goblin pairing ${purpose}`).digest();
  }
}
