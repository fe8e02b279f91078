/**
 * What replicas know in common beyond a secret, if there is a place to keep it: who is alive, and
 * who took over a session of a replica that is not.
 *
 * Every answer may be wrong by a moment, and there may be none at all. So nothing here is needed to
 * serve a session that is where its id says.
 */
import type { SharedPlaces } from "../auth/secrets/shared/shared-place.ts";
import type { SessionJournal } from "../core/session/journal.ts";
import type { BudgetUser } from "../lib/structures/shared-budget.ts";
import type { Owner } from "./owners.ts";

export interface Member extends Owner {
  readonly version: string;
  /** Identifies the config that it runs on. */
  readonly revision: string;
  readonly sessions: number;
  /** When it started, in milliseconds since 1970. */
  readonly since: number;
  /** When it last renewed its lease, by its own clock. */
  readonly lastSeen: number;
}

/** What the store needs to know of this process. */
export interface StoreUser {
  /** The ids of the sessions that this process has. */
  open(): Iterable<string>;
  /** Ends a session here that goes on elsewhere. Its client is told nothing more. */
  surrender(id: string): void;
  describe(): Pick<Member, "version" | "revision" | "sessions">;
}

export interface SharedStore {
  /** Undefined: it keeps no state of sessions. */
  readonly journal: SessionJournal | undefined;
  /** What every replica must have. Undefined: all have the same state folder. */
  readonly books: SharedPlaces | undefined;
  /** Where limits of all replicas are divided. Undefined: each has its share already. */
  readonly budgets: { use(user: BudgetUser): void } | undefined;
  /** Whether it answers. Undefined: there is no connection that could be lost. */
  readonly isUp: boolean | undefined;
  /** The replicas with a lease, as they were a moment ago. */
  readonly members: readonly Member[];
  /** The replicas whose lease ran out within the last minutes: they neither answer nor left. */
  readonly lost: readonly Member[];
  use(user: StoreUser): void;
  /** Returns who took the session over from the owner in its id. Rejects without answer. */
  holder(id: string): Promise<Owner | undefined>;
  /** Takes a session over from a replica. Returns who has it now. Rejects without answer. */
  claim(id: string, from: Owner): Promise<Owner>;
  /** Rejects without answer. */
  isAlive(owner: Owner): Promise<boolean>;
  /** Leaves the other replicas. */
  leave(): Promise<void>;
  close(): void;
}
