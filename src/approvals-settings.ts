/** Makes the approvals: connects them with the config, the masker and the sessions. */
import { Approvals } from "./approvals/approvals.ts";
import type { OpenedLedger } from "./approvals/ledger.ts";
import { shownArguments } from "./approvals/shown-arguments.ts";
import { masked, mayHoldSecret } from "./calls/stages/audit-mask.ts";
import type { LiveConfig } from "./config/live-config.ts";
import type { OnLimit } from "./protocol/limit-exceeded.ts";
import type { SessionStore } from "./session/store.ts";
import { type Logger, logBookOf } from "./telemetry/logger.ts";

export interface ApprovalsParts {
  readonly config: Pick<LiveConfig, "current">;
  readonly sessions: Pick<SessionStore, "on">;
  readonly onLimit: OnLimit;
  readonly log: Logger;
}

/** `opened`: what an earlier process left. Undefined: nothing survives a restart. */
export function createApprovals(parts: ApprovalsParts, opened: OpenedLedger | undefined): Approvals {
  const { config, sessions, onLimit, log } = parts;
  const { masker } = logBookOf(log);
  const masks = { json: (text: string) => masker.json(text), suspects: mayHoldSecret, value: masked };
  const approvals = new Approvals({
    settings: () => ({ ...config.current.approvals, ...config.current.limits }),
    show: (args) => shownArguments(args, masks),
    opened,
    onLimit,
    warn: (message) => log.error(message),
  });
  sessions.on("ended", ({ key }) => approvals.sessionEnded(key));
  return approvals;
}
