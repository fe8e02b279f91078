/** What the relay is built from. */
import type { Access } from "../../auth/access/access.ts";
import type { Approvals } from "../../auth/approvals/approvals.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { OtelParts } from "../../observe/otel/otel.ts";
import type { Recorder } from "../../observe/recording/recorder.ts";
import type { Activity } from "../../observe/telemetry/activity.ts";
import type { KeptCalls } from "../../observe/telemetry/kept-calls.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Masker } from "../../observe/telemetry/masker.ts";
import type { Meters } from "../../observe/telemetry/meters.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Waiting } from "../../upstream/servers/waiting.ts";
import type { Masking } from "../masking/masking.ts";
import type { LocalTools } from "../meta/registry.ts";
import type { Results } from "../results/results.ts";
import type { SeenUris } from "../routing/seen-uris.ts";
import type { Continuity } from "../session/continuity.ts";
import type { HeldTasks } from "../session/held/held-tasks.ts";
import type { ResourceSubscriptions } from "../session/resource-subscriptions.ts";
import type { Tasks } from "../session/tasks.ts";
import type { LoginLinks } from "./stages/login-link.ts";

export interface RelayParts extends Pick<OtelParts, "env" | "sessions"> {
  readonly config: LiveConfig;
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly localTools: LocalTools;
  readonly resourceSubscriptions: ResourceSubscriptions;
  readonly tasks: Tasks;
  readonly heldTasks: HeldTasks;
  readonly continuity: Pick<Continuity, "keyFor">;
  readonly waiting: Waiting;
  readonly meters: Meters;
  readonly activity: Activity;
  readonly keptCalls: KeptCalls;
  readonly recorder: Recorder;
  readonly masker: Masker;
  readonly results: Results;
  readonly masking: Masking;
  readonly seen: SeenUris;
  readonly onLimit: OnLimit;
  readonly log: Logger;
  readonly approvals: Approvals;
  readonly access: Pick<Access, "placeOf">;
  /** Where users log in to servers. Undefined: nowhere. */
  readonly loginLinks?: LoginLinks | undefined;
}
