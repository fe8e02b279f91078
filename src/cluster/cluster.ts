/**
 * This gateway as one of several that share a secret and serve the same clients.
 *
 * A session, a parked call or a stream belongs to the replica that began it, and its id says which
 * one that is. A request for it that reaches another replica is handed to the owner. If the owner's
 * process has ended, the replica that got the request goes on with the session. With a store, all
 * replicas agree on which one that is. If the owner is silent, the client gets an error that says
 * so: an owner that only slept must not find its session in two places. Only the store can tell
 * that it slept too long. What was handed over is never handed over again.
 */
import type { IncomingMessage } from "node:http";
import type { Agent } from "node:https";
import type { SharedPlaces } from "../auth/secrets/shared/shared-place.ts";
import type { SessionJournal } from "../core/session/journal.ts";
import type { BudgetUser } from "../lib/structures/shared-budget.ts";
import { Throttle } from "../lib/timing/throttle.ts";
import { GoblinError } from "../mcp/protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../mcp/protocol/limit-exceeded.ts";
import { ask, type ReplicaRequest } from "./ask.ts";
import { createAgent } from "./channel.ts";
import type { Exchange } from "./hand-over.ts";
import { type HandedOver, type Listener, openListener } from "./listener.ts";
import { newOwnerId, type Owner, OwnerTags } from "./owners.ts";
import { Peers } from "./peers.ts";
import type { SharedStore, StoreUser } from "./store.ts";

/** A session is passed on when replicas end one after the other. Then its client tries again. */
const MAX_HOLDERS = 4;

export interface ClusterOptions {
  readonly secret: string;
  readonly listen: string;
  readonly address?: string | undefined;
  readonly timeoutMs: number;
  readonly headerBytes: number;
  readonly receiveMs: number;
  /** Makes the store, if there is one. */
  readonly storeFor?: ((self: Owner, isOwn: (id: string) => boolean) => SharedStore) | undefined;
  readonly log: Record<"info" | "warn", (fields: object, message: string) => void>;
}

/** A request for something that may be elsewhere. */
export interface Misplaced extends Exchange {
  readonly network: string;
  readonly account: string;
  readonly shared: Readonly<Record<string, string>> | undefined;
  /** The body, if it was read already. */
  readonly body?: string | undefined;
  /** Answers with an error. */
  readonly refuse: (error: GoblinError) => void;
}

/** What the gateway tells the cluster. */
export interface ClusterUser extends StoreUser {
  /** Serves a request that another replica handed over. */
  serve(request: HandedOver): void;
  /** Whether the session that a request is for was left to another replica. */
  hasMoved(incoming: IncomingMessage): boolean;
  /** `handOvers`. */
  limit(): number;
  readonly onLimit: OnLimit;
}

export class Cluster {
  readonly self: Owner;
  /** Begins the ids that this replica issues. */
  readonly tag: string;
  readonly #tags: OwnerTags;
  readonly #agent: Agent;
  readonly #peers: Peers;
  readonly #listener: Listener;
  readonly #waiting: { user: ClusterUser | undefined };
  readonly #store: SharedStore | undefined;
  readonly #log: ClusterOptions["log"];
  /** Every request for a silent replica would be a line. */
  readonly #lines = new Throttle({ burst: 3, everyMs: 10_000 });

  private constructor(options: ClusterOptions, self: Owner, parts: Pick<Parts, "listener" | "waiting">) {
    const { secret, timeoutMs } = options;
    this.self = self;
    this.#log = options.log;
    this.#tags = new OwnerTags(secret);
    this.tag = this.#tags.tagOf(self);
    this.#store = options.storeFor?.(self, (id) => this.#tags.ownerIn(id)?.id === self.id);
    this.#listener = parts.listener;
    this.#waiting = parts.waiting;
    this.#agent = createAgent(secret);
    this.#peers = new Peers({ agent: this.#agent, timeoutMs, limit: () => parts.waiting.user?.limit() ?? 0 });
  }

  /** Listens at once, and serves once the gateway is there. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    const waiting: Parts["waiting"] = { user: undefined };
    const ownerId = newOwnerId();
    const listener = await openListener({
      ...options,
      ownerId,
      hasMoved: (incoming) => waiting.user?.hasMoved(incoming) === true,
      serve(request) {
        if (waiting.user) waiting.user.serve(request);
        else request.outgoing.destroy();
      },
    });
    const self = { id: ownerId, address: options.address ?? listener.address };
    options.log.info({ replica: self.id, address: self.address }, "Takes requests of other replicas");
    return new Cluster(options, self, { listener, waiting });
  }

  /** Begins to serve the other replicas. */
  use(user: ClusterUser): void {
    this.#waiting.user = user;
    this.#store?.use(user);
  }

  /** Where the state of sessions is kept for the replica that takes them over. */
  get journal(): SessionJournal | undefined {
    return this.#store?.journal;
  }

  /** Where logins and grants are kept for all replicas. */
  get books(): SharedPlaces | undefined {
    return this.#store?.books;
  }

  /** Divides limits among the replicas, if they can tell each other what they need. */
  divide(user: BudgetUser): void {
    this.#store?.budgets?.use(user);
  }

  /** Undefined without Redis. */
  get redis(): "connected" | "lost" | undefined {
    const isUp = this.#store?.isUp;
    return isUp === undefined ? undefined : isUp ? "connected" : "lost";
  }

  /** The status shown to operators. */
  state() {
    const { members = [], lost = [] } = this.#store ?? {};
    const replicas = [
      ...members.map((member) => ({ ...member, answers: true })),
      ...lost.map((member) => ({ ...member, answers: false })),
    ];
    const { size: handedOver, passed: handOvers } = this.#peers;
    return { ...this.self, handedOver, handOvers, redis: this.redis ?? null, replicas };
  }

  /** The other replicas that have a lease in Redis. */
  get others(): readonly Owner[] {
    return (this.#store?.members ?? []).filter(({ id }) => id !== this.self.id);
  }

  /** Marks an id as one of this replica. */
  own(id: string): string {
    return `${this.tag}.${id}`;
  }

  /** Returns an id without its mark, and the replica that the mark names. */
  split(id: string): { readonly id: string; readonly owner: string } | undefined {
    const owner = this.#tags.ownerIn(id);
    return owner && { id: id.slice(id.indexOf(".") + 1), owner: owner.id };
  }

  /** Returns the replica that an id belongs to. Undefined: this one, or one that has ended. */
  ownerOf(id: string): Owner | undefined {
    const owner = this.#tags.ownerIn(id);
    return owner && owner.id !== this.self.id && !this.#peers.isGone(owner) ? owner : undefined;
  }

  /** Whether another replica may have a session that this process does not have. */
  isElsewhere(id: string): boolean {
    return this.#store ? this.#tags.ownerIn(id) !== undefined : this.ownerOf(id) !== undefined;
  }

  /**
   * Hands a request to the owner. Resolves to true if it is answered for, and to false if the
   * owner's process has ended: nothing of the request was read then.
   */
  async handOver(request: Misplaced, owner: Owner): Promise<boolean> {
    const outcome = await this.#pass(request, owner);
    if (outcome === "silent") request.refuse(silent(owner));
    return outcome === "done" || outcome === "silent";
  }

  /**
   * Hands a request for a session to the replica that has the session. Resolves to false if this
   * one is to go on with it: nothing of the request was read then.
   */
  async handOverSession(request: Misplaced, id: string): Promise<boolean> {
    let owner = this.#tags.ownerIn(id);
    for (let tries = 0; owner && tries < MAX_HOLDERS; tries++) {
      const outcome =
        this.#peers.isGone(owner) || owner.id === this.self.id ? "gone" : await this.#pass(request, owner);
      if (outcome === "done") return true;
      const holder = await this.#holderAfter(outcome, id, owner);
      if (holder === "unknown") {
        request.refuse(silent(owner));
        return true;
      }
      if (holder.id === this.self.id) return false;
      owner = holder;
    }
    return false;
  }

  /** Returns who has a session that its last known owner does not serve. */
  async #holderAfter(outcome: "gone" | "moved" | "silent", id: string, owner: Owner): Promise<Owner | "unknown"> {
    if (!this.#store) return outcome === "silent" ? "unknown" : this.self;
    try {
      // Its own sessions that it does not have are over, or others took them over.
      if (owner.id === this.self.id) return (await this.#store.holder(id)) ?? this.self;
      if (outcome === "silent" && (await this.#store.isAlive(owner))) return "unknown";
      return await this.#store.claim(id, owner);
    } catch {
      return outcome === "silent" ? "unknown" : this.self;
    }
  }

  async #pass(request: Misplaced, owner: Owner): Promise<"done" | "gone" | "moved" | "silent"> {
    const { refuse } = request;
    const failed = (): void => refuse(endedMeanwhile(owner));
    const outcome = await this.#peers.pass(request, owner, { ...request, failed });
    if (outcome.kind === "silent") this.#complain(owner, outcome.why);
    if (outcome.kind !== "full") return outcome.kind;
    refuse(this.#full());
    return "done";
  }

  /** Asks another replica about itself. */
  ask(owner: Owner, question: ReplicaRequest): Promise<IncomingMessage> {
    return ask(this.#agent, owner, question);
  }

  /** Tells the others, and the clients with streams at others, that this replica will end. */
  leave(): void {
    void this.#store?.leave();
    this.#peers.leave();
  }

  /** Resolves when other replicas hold nothing for clients of this one, or after this time. */
  drain(ms: number): Promise<void> {
    return this.#peers.drain(ms);
  }

  close(): void {
    this.#peers.close();
    this.#listener.close();
    this.#store?.close();
  }

  #complain({ id, address }: Owner, why: string): void {
    const heldBack = this.#lines.pass();
    if (heldBack === undefined) return;
    this.#log.warn({ replica: id, address, why, ...(heldBack > 0 && { heldBack }) }, "Cannot reach another replica");
  }

  #full(): GoblinError {
    const { user } = this.#waiting;
    user?.onLimit("handOvers");
    const what = "too many requests of this token or address are under way at other replicas";
    const advice = "wait until some are answered";
    return limitExceeded({ limit: "handOvers", value: user?.limit() ?? 0, what, advice });
  }
}

interface Parts {
  readonly listener: Listener;
  readonly waiting: { user: ClusterUser | undefined };
}

/** Clients learn the number of a replica, not its address. */
function silent({ id }: Owner): GoblinError {
  const message = `Replica ${id}, which holds this session, cannot be reached; try again later`;
  return new GoblinError("REPLICA_UNAVAILABLE", message, { data: { replica: id } });
}

function endedMeanwhile({ id }: Owner): GoblinError {
  const message = `Replica ${id} ended or fell silent during the request, which may have taken effect`;
  return new GoblinError("REPLICA_FAILED", message, { data: { replica: id } });
}
