/**
 * Builds the parts that hold what clients have open: sessions, subscriptions and tasks, and what
 * outlives the process. The parts listen to each other; nothing else is wired here.
 */
import { Access } from "../../auth/access/access.ts";
import type { Approvals } from "../../auth/approvals/approvals.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Waiting } from "../../upstream/servers/waiting.ts";
import type { SeenUris } from "../routing/seen-uris.ts";
import { Continuity, ephemeralSealer, type Replica, type SessionState } from "./continuity.ts";
import { HeldTasks } from "./held/held-tasks.ts";
import { ResourceSubscriptions } from "./resource-subscriptions.ts";
import { ServerMessages } from "./server-messages.ts";
import { SessionStore } from "./store.ts";
import { Subscriptions } from "./subscriptions.ts";
import { Tasks } from "./tasks.ts";

export interface ClientStateParts {
  readonly config: LiveConfig;
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly waiting: Waiting;
  readonly seen: SeenUris;
  /** Lets sessions outlive the process. */
  readonly state: SessionState | undefined;
  readonly cluster?: Replica | undefined;
  /** The questions that held calls wait for. */
  readonly approvals: Pick<Approvals, "find" | "sessionEnded">;
  readonly onLimit: OnLimit;
}

export function createClientState(given: ClientStateParts) {
  const { config, catalog, servers, waiting, seen, state, cluster, approvals, onLimit } = given;
  const access = new Access(config);
  const { sealer = ephemeralSealer(), journal, isShared } = state ?? {};
  const sessions = new SessionStore(config, onLimit);
  const subscriptions = new Subscriptions({ servers, sessions, config, onLimit });
  const continuity = new Continuity({
    sealer,
    journal: cluster?.journal ?? journal,
    config,
    sessions,
    subscriptions,
    isShared,
    replica: cluster,
  });
  const parts = { catalog, servers, waiting, seen, sessions, continuity, subscriptions };
  const resourceSubscriptions = new ResourceSubscriptions(parts);
  const isProgram = (serverId: string): boolean =>
    config.current.servers.some(({ id, transport }) => id === serverId && transport.kind === "stdio");
  const tasks = new Tasks({ servers, sessions, catalog, sealer, tag: cluster?.tag, isProgram });
  const heldTasks = new HeldTasks({
    sessions,
    sealer,
    tasks,
    tag: cluster?.tag,
    limits: () => config.current.limits,
    timeoutMs: () => config.current.approvals.timeoutMs,
    recordOf: (id) => approvals.find(id),
  });
  new ServerMessages(servers, sessions, catalog);
  sessions.on("opened", (session) => access.follow(session));
  sessions.on("ended", (session) => access.unfollow(session));
  sessions.on("ended", ({ key }) => approvals.sessionEnded(key));
  access.on("changed", () => catalog.lookAgain());
  return { access, sessions, subscriptions, continuity, resourceSubscriptions, tasks, heldTasks, mark: sealer.mark };
}
