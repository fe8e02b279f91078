/**
 * What a primary process and its workers tell each other. The channel is the one that Node opens
 * between a process and its child: no other process can read it, and the secret is nowhere else.
 */
import type { Owner } from "../../cluster/owners.ts";

/** A worker that serves. */
export interface Member extends Owner {
  /** From 1. A worker that replaces another one has its number. */
  readonly number: number;
  readonly pid: number;
  /** When it began to serve, in milliseconds since 1970. */
  readonly since: number;
}

/** The first thing that a worker is told, when it asks. */
export interface Setup {
  readonly kind: "setup";
  readonly number: number;
  readonly count: number;
  readonly secret: string;
  /** Where the workers' sockets are. */
  readonly folder: string;
}

export type ToWorker =
  | Setup
  | { readonly kind: "members"; readonly members: readonly Member[] }
  | { readonly kind: "hangup" }
  | { readonly kind: "end" };

/** Where a worker listens. */
export interface Listening {
  readonly kind: "listening";
  readonly owner: Owner;
  readonly url: string;
  readonly port: number;
  readonly adminUrl: string | undefined;
}

/** A worker that does not know yet who it is. */
export interface Hello {
  readonly kind: "hello";
}

export type FromWorker = Hello | Listening;
