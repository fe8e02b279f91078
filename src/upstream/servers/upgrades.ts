/**
 * Upgrades of servers while the lock is enforced. The new version runs aside, and its offer is
 * compared with the approved one and with the running one. It takes over if nothing in it is held.
 * Else both stay: the old one serves, the new one waits for an approval.
 *
 * Invariant: what clients see changes only when a version takes over.
 */
import { isInvalid, type ServerConfig } from "../../config/schema/server.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Lock } from "../lock/lock.ts";
import { heldBack, type Offer, versionText } from "../lock/upgrade.ts";
import { installs } from "./connections/connect-server.ts";
import type { Server } from "./server.ts";

/** A version that has not taken over. */
export interface Upgrade {
  /** `failed`: it cannot be compared, since it does not run. */
  readonly state: "starting" | "failed" | "waiting";
  /** Why it has not taken over, in words. */
  readonly reason: string;
  /** Undefined: it has not been listed. */
  readonly offer?: Offer | undefined;
}

export interface UpgradesOptions {
  readonly lock: Lock;
  readonly log: Logger;
  /** Something else is known of a server's upgrade. */
  readonly changed: (serverId: string) => void;
}

export class Upgrades {
  readonly #options: UpgradesOptions;
  readonly #upgrades = new Map<string, Upgrade>();

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  get(serverId: string): Upgrade | undefined {
    return this.#upgrades.get(serverId);
  }

  /** Whether this config of a server must run aside first. */
  concerns(old: Server | undefined, next: ServerConfig): boolean {
    const { lock } = this.#options;
    if (!old || !lock.actions || !lock.file.servers.has(next.id)) return false;
    if (old.callers || !old.config.enabled || !next.enabled || isInvalid(next)) return false;
    const { state } = old.backend.status;
    return (state === "ready" || state === "degraded") && isOther(old.config, next);
  }

  /** Whether the version that runs aside may take over. If not, `get` says why. */
  async mayTakeOver(old: Server, next: Server): Promise<boolean> {
    const { lock, log } = this.#options;
    const { id } = next;
    const { state, reason } = next.backend.status;
    const { listed } = next;
    if (!listed || state !== "ready") {
      const isOver = state === "down" || state === "needs-login" || state === "invalid" || state === "degraded";
      const why = `the new version does not run: ${reason ?? state}`;
      const hasFailed = this.#upgrades.get(id)?.state === "failed";
      // One that is tried again has failed until it runs.
      if (hasFailed && !isOver) return false;
      if (isOver && !hasFailed) {
        log.error({ server: id, reason: reason ?? state }, "A new version of the server failed; the old one stays");
      }
      this.#set(id, isOver ? { state: "failed", reason: why } : { state: "starting", reason: "it starts" });
      return false;
    }
    const offer = await lock.offer(next.config, listed);
    const running = await lock.compare(old.config);
    const held = heldBack(offer, running?.drifts ?? [], lock.actions);
    if (held.length === 0) return true;
    if (this.#upgrades.get(id)?.offer?.digest !== offer.digest) {
      const version = versionText(offer.current.source);
      const message = "A new version of the server waits for approval; the old one goes on serving: goblin lock diff";
      log.warn({ server: id, version, held: held.length }, message);
    }
    const what = held.length === 1 ? "1 difference is" : `${held.length} differences are`;
    this.#set(id, { state: "waiting", reason: `${what} not approved: goblin lock diff ${id}`, offer });
    return false;
  }

  /** Nothing of this server is aside any more. */
  over(serverId: string): void {
    if (this.#upgrades.delete(serverId)) this.#tell(serverId, undefined);
  }

  #set(serverId: string, upgrade: Upgrade): void {
    this.#upgrades.set(serverId, upgrade);
    this.#tell(serverId, upgrade.offer);
  }

  #tell(serverId: string, offer: Offer | undefined): void {
    this.#options.lock.offered(serverId, offer);
    this.#options.changed(serverId);
  }
}

/**
 * Whether something else may run than before. Other credentials and settings make no other server.
 */
function isOther(old: ServerConfig, next: ServerConfig): boolean {
  // What a package runner runs may be another thing each time.
  return programOf(old) !== programOf(next) || installs(next.transport);
}

function programOf({ transport }: ServerConfig): string {
  if (transport.kind !== "stdio") return JSON.stringify([transport.kind, transport.url]);
  const { command, args, cwd } = transport;
  return JSON.stringify([command, args, cwd]);
}
