/** The parts of the gateway that the fronts use. Each front takes only the slice that it needs. */
import type { Access } from "../auth/access/access.ts";
import type { LiveConfig } from "../config/live-config.ts";
import type { Relay } from "../core/calls/relay.ts";
import type { Directory } from "../core/routing/directory.ts";
import type { Continuity } from "../core/session/continuity.ts";
import type { HeldTasks } from "../core/session/held/held-tasks.ts";
import type { ResourceSubscriptions } from "../core/session/resource-subscriptions.ts";
import type { SessionStore } from "../core/session/store.ts";
import type { Tasks } from "../core/session/tasks.ts";
import type { OnLimit } from "../mcp/protocol/limit-exceeded.ts";
import type { RetryHint } from "./http/retry-hint.ts";
import type { SoleClient } from "./sole-client.ts";

export interface FrontContext {
  /** Answers requests. */
  readonly relay: Relay;
  readonly directory: Directory;
  /** Decides what a principal sees at an endpoint. */
  readonly access: Access;
  readonly sessions: SessionStore;
  readonly continuity: Continuity;
  readonly subscriptions: ResourceSubscriptions;
  readonly tasks: Tasks;
  readonly heldTasks: HeldTasks;
  readonly config: LiveConfig;
  readonly onLimit: OnLimit;
  /** What event streams say before they end with the gateway. */
  readonly retryHint?: RetryHint | undefined;
  /** The client of the only channel. */
  readonly sole?: Pick<SoleClient, "hasNoSession"> | undefined;
}
