/** Makes the approvals: connects them with the config, the masker and the sessions. */
import { Approvals } from "../../auth/approvals/approvals.ts";
import type { OpenedLedger } from "../../auth/approvals/ledger.ts";
import { shownArguments } from "../../auth/approvals/shown-arguments.ts";
import { Webhook } from "../../auth/approvals/webhook.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { Audit } from "../../core/calls/stages/audit.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { type Logger, logBookOf } from "../../observe/telemetry/logger.ts";
import type { Lock } from "../../upstream/lock/lock.ts";

export interface ApprovalsParts {
  readonly config: Pick<LiveConfig, "current">;
  /** What an earlier process left. Undefined: nothing survives a restart. */
  readonly opened: OpenedLedger | undefined;
  /** Undefined: there is no audit log. */
  readonly audit: Pick<Audit, "chained"> | undefined;
  readonly onLimit: OnLimit;
  readonly log: Logger;
  readonly lock: Pick<Lock, "isOn" | "file">;
  /** Where the gateway listens; empty: nowhere. */
  readonly address: { readonly url: string };
  readonly isAlone: () => boolean;
}

export function createApprovals(parts: ApprovalsParts): Approvals {
  const { config, opened, audit, onLimit, log, lock, address, isAlone } = parts;
  const { masker } = logBookOf(log);
  const secrets = { known: () => masker.known };
  const pageOf = (id: string): string | undefined => {
    const { gateway } = config.current;
    const base = gateway.publicUrl ?? address.url;
    // The page is elsewhere, perhaps where no client can reach it.
    if (base === "" || gateway.admin.port !== undefined) return undefined;
    return `${(gateway.publicUrl ?? new URL(base).origin).replace(/\/$/, "")}/ui/approvals/${id}`;
  };
  const approvals = new Approvals({
    settings: () => ({ ...config.current.approvals, ...config.current.limits }),
    show: (args) => shownArguments(args, secrets),
    opened,
    onLine: audit && ((text, whole) => audit.chained(text, whole)),
    pageOf,
    // Grants for a server hold only for its approved version.
    lockOf: (serverId) => (lock.isOn ? lock.file.servers.get(serverId)?.digest : undefined),
    isAlone,
    onLimit,
    warn: (message) => log.error(message),
  });
  const webhook = new Webhook({
    settings: () => config.current.approvals.webhook,
    pageOf,
    warn: (message) => log.warn(message),
  });
  approvals.on("changed", (record) => webhook.changed(record));
  approvals.on("closed", () => webhook.close());
  approvals.begin();
  return approvals;
}
