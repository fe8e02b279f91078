/**
 * The other replicas, as far as this one has met them: which have ended, and what is handed over to
 * each right now.
 *
 * A replica that holds an exchange is asked now and then whether it is still there. One that says
 * nothing for too long loses what was handed to it: those clients get an error, or the end of their
 * stream, and do not wait for ever. No account takes more than its share of all hand-overs.
 */

import type { Agent } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { BoundedSet } from "../lib/structures/bounded-map.ts";
import { Shares } from "../lib/structures/shares.ts";
import { type Exchange, type HandOverOptions, type HandOverResult, handOver, isThere } from "./hand-over.ts";
import type { Owner } from "./owners.ts";

export interface PeersOptions {
  readonly agent: Agent;
  /** `timeoutMs`. */
  readonly timeoutMs: number;
  /** How many exchanges may be under way. */
  readonly limit: () => number;
}

export interface Passing extends Omit<HandOverOptions, "agent" | "owner" | "timeoutMs"> {
  readonly account: string;
}

interface Peer {
  /** Ends each exchange that it holds; the value says whether it is a standing stream. */
  readonly held: Map<() => void, boolean>;
  readonly timer: NodeJS.Timeout;
}

/** Owners are never used again, so only recent ones matter. */
const MAX_GONE = 1000;
const DRAIN_MS = 20;

export class Peers {
  readonly #options: PeersOptions;
  readonly #gone = new BoundedSet<string>(MAX_GONE);
  readonly #peers = new Map<string, Peer>();
  readonly #shares = new Shares();
  #passed = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** How many exchanges other replicas hold for clients of this one. */
  get size(): number {
    return this.#shares.total;
  }

  /** How many exchanges were handed over since the start. */
  get passed(): number {
    return this.#passed;
  }

  /** Whether that process is known to have ended. */
  isGone(owner: Owner): boolean {
    return this.#gone.has(owner.id);
  }

  /** Passes an exchange to its owner. `full`: too many are under way. */
  async pass(exchange: Exchange, owner: Owner, passing: Passing): Promise<HandOverResult | { readonly kind: "full" }> {
    const { agent, timeoutMs, limit } = this.#options;
    const { account } = passing;
    if (!this.#shares.take(account, limit())) return { kind: "full" };
    const outcome = await handOver(exchange, { ...passing, agent, owner, timeoutMs });
    if (outcome.kind === "done") {
      this.#passed++;
      this.#hold(exchange, owner, { cut: outcome.cut, account });
    } else this.#shares.giveBack(account);
    if (outcome.kind === "gone") this.#ended(owner);
    return outcome;
  }

  /** Ends the streams that go on for ever, so that their clients open them elsewhere. */
  leave(): void {
    for (const { held } of this.#peers.values()) for (const [cut, isStream] of held) if (isStream) cut();
  }

  /** Resolves when no exchange is under way, or after this time. */
  async drain(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (this.size > 0 && Date.now() < end) await pause(DRAIN_MS);
  }

  close(): void {
    for (const { held, timer } of this.#peers.values()) {
      clearInterval(timer);
      for (const cut of held.keys()) cut();
    }
    this.#peers.clear();
    this.#options.agent.destroy();
  }

  #hold(
    { incoming, outgoing }: Exchange,
    owner: Owner,
    { cut, account }: { readonly cut: () => void; readonly account: string },
  ): void {
    const peer = this.#peers.get(owner.id) ?? this.#watch(owner);
    peer.held.set(cut, incoming.method === "GET");
    const over = (): void => {
      this.#shares.giveBack(account);
      peer.held.delete(cut);
      if (peer.held.size > 0) return;
      clearInterval(peer.timer);
      this.#peers.delete(owner.id);
    };
    if (outgoing.destroyed) over();
    else outgoing.once("close", over);
  }

  #watch(owner: Owner): Peer {
    const { agent, timeoutMs } = this.#options;
    let isAsking = false;
    const timer = setInterval(async () => {
      if (isAsking) return;
      isAsking = true;
      const state = await isThere({ agent, owner, timeoutMs });
      isAsking = false;
      if (state === "there") return;
      if (state === "gone") this.#ended(owner);
      for (const cut of [...peer.held.keys()]) cut();
    }, timeoutMs).unref();
    const peer: Peer = { held: new Map(), timer };
    this.#peers.set(owner.id, peer);
    return peer;
  }

  #ended({ id }: Owner): void {
    this.#gone.add(id);
  }
}
