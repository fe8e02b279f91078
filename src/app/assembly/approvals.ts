/** Makes the approvals: connects them with the config, the masker and the sessions. */
import { Approvals } from "../../auth/approvals/approvals.ts";
import type { OpenedLedger } from "../../auth/approvals/ledger.ts";
import { shownArguments } from "../../auth/approvals/shown-arguments.ts";
import { Webhook } from "../../auth/approvals/webhook.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { HeldTasks } from "../../core/session/held/held-tasks.ts";
import type { SessionStore } from "../../core/session/store.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { type Logger, logBookOf } from "../../observe/telemetry/logger.ts";
import type { Lock } from "../../upstream/lock/lock.ts";

export interface ApprovalsParts {
  readonly config: Pick<LiveConfig, "current">;
  readonly sessions: Pick<SessionStore, "on">;
  readonly heldTasks: Pick<HeldTasks, "recordOf">;
  readonly onLimit: OnLimit;
  readonly log: Logger;
  readonly lock: Pick<Lock, "isOn" | "file">;
  /** Where the gateway listens; empty: nowhere. */
  readonly address: { readonly url: string };
}

/** `opened`: what an earlier process left. Undefined: nothing survives a restart. */
export function createApprovals(parts: ApprovalsParts, opened: OpenedLedger | undefined): Approvals {
  const { config, sessions, onLimit, log, lock } = parts;
  const { masker } = logBookOf(log);
  const secrets = { known: () => masker.known };
  const approvals = new Approvals({
    settings: () => ({ ...config.current.approvals, ...config.current.limits }),
    show: (args) => shownArguments(args, secrets),
    opened,
    onLimit,
    warn: (message) => log.error(message),
  });
  // Grants for a server hold only for its approved version.
  approvals.lockOf = ({ server }) => (lock.isOn ? lock.file.servers.get(server)?.digest : undefined);
  approvals.pageOf = (id) => {
    const { gateway } = config.current;
    const base = gateway.publicUrl ?? parts.address.url;
    // The page is elsewhere, perhaps where no client can reach it.
    if (base === "" || gateway.admin.port !== undefined) return undefined;
    return `${(gateway.publicUrl ?? new URL(base).origin).replace(/\/$/, "")}/ui/approvals/${id}`;
  };
  const webhook = new Webhook({
    settings: () => config.current.approvals.webhook,
    pageOf: (id) => approvals.pageOf(id),
    warn: (message) => log.warn(message),
  });
  approvals.on("changed", (record) => webhook.changed(record));
  approvals.on("closed", () => webhook.close());
  sessions.on("ended", ({ key }) => approvals.sessionEnded(key));
  parts.heldTasks.recordOf = (id) => approvals.find(id);
  return approvals;
}
