/** The calls that wait for a person, their answers, and what these allow. */
import { AnswerRefused, type RefusalReason } from "../../../auth/approvals/answering.ts";
import { lastingRule } from "../../../auth/approvals/lasting-rule.ts";
import type { ApprovalRecord, Grant } from "../../../auth/approvals/record.ts";
import { cutArguments } from "../../../auth/approvals/shown-arguments.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { AllowRequest, ApprovalGrantRow, ApprovalRow, DenyRequest } from "./approval-schema.ts";

interface Asked {
  readonly params: Record<string, unknown>;
  readonly body: unknown;
  readonly principal: Principal;
}

/** The longest arguments in a list; whole ones are in the answer about one approval. */
const MAX_LISTED_LENGTH = 2000;
const refusals = {
  unknown: "APPROVAL_NOT_FOUND",
  answered: "APPROVAL_ANSWERED",
  late: "APPROVAL_ENDED",
  self: "APPROVAL_SELF",
  changed: "APPROVAL_CHANGED",
  "no-session": "INVALID_PARAMS",
  unrecorded: "APPROVAL_UNRECORDED",
} as const satisfies Record<RefusalReason, Parameters<typeof apiFailure>[0]>;

export function approvalHandlers({ approvals, log }: Pick<AdminParts, "approvals" | "log">) {
  const known = (id: unknown): ApprovalRecord => {
    const record = approvals.find(String(id));
    if (record) return record;
    throw apiFailure("APPROVAL_NOT_FOUND", `There is no approval "${String(id)}"`);
  };
  const answered = async <Result>(act: () => Promise<Result>, { params, principal }: Asked): Promise<Result> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof AnswerRefused)) throw error;
      log.warn({ approval: params["id"], by: principal.name, why: error.why }, "An answer to an approval was refused");
      throw apiFailure(refusals[error.why], error.message);
    }
  };
  return {
    listApprovals: () => {
      const items = approvals.records().map((record) => approvalRow(record, MAX_LISTED_LENGTH));
      return { items, total: items.length };
    },
    getApproval: ({ params }: Asked) => approvalRow(known(params["id"])),
    allowApproval: (asked: Asked) =>
      answered(async () => {
        const { params, principal, body } = asked;
        const { for: span, expect } = body as AllowRequest;
        const id = String(params["id"]);
        const grant = await approvals.allow({ id, by: principal, span, expect });
        const record = known(id);
        const rule = span === "always" ? (lastingRule(record) ?? null) : null;
        return { approval: approvalRow(record), grant: grantRow(grant), rule };
      }, asked),
    denyApproval: (asked: Asked) =>
      answered(async () => {
        const { params, principal, body } = asked;
        const { reason, expect } = body as DenyRequest;
        await approvals.deny({ id: String(params["id"]), by: principal, words: reason, expect });
        return approvalRow(known(params["id"]));
      }, asked),
    listApprovalGrants: () => {
      const items = approvals.grants().map(grantRow);
      return { items, total: items.length };
    },
    revokeApprovalGrant: async ({ params, principal }: Asked) => {
      const id = String(params["id"]);
      const grant = await approvals.revoke(id, principal.name);
      if (!grant) throw apiFailure("GRANT_NOT_FOUND", `There is no grant "${id}"`);
      return grantRow(grant);
    },
  };
}

/** `longest`: where the arguments are cut. */
function approvalRow(record: ApprovalRecord, longest = Number.POSITIVE_INFINITY): ApprovalRow {
  const { id, state, subject, shown, bytes, proposedAt, expiresAt, runs } = record;
  const { who, app, client, session, server, kind, name, shownName, digest, rule, reason } = subject;
  return {
    id,
    state,
    who: who || null,
    app,
    client: client || null,
    hasSession: session !== null,
    server,
    kind,
    name,
    shownName,
    arguments: cutArguments(shown, longest),
    characters: shown.length,
    isCut: shown.length > longest,
    digest,
    bytes,
    rule,
    reason,
    proposedAt,
    expiresAt,
    by: record.by ?? null,
    for: record.span ?? null,
    answeredAt: record.answeredAt ?? null,
    words: record.words ?? null,
    ended: record.ended ?? null,
    runs,
    outcome: record.outcome ?? null,
  };
}

function grantRow({ id, approval, subject, span, by, at, expiresAt, uses }: Grant): ApprovalGrantRow {
  const { who, client, server, shownName, digest } = subject;
  const about = { who: who || null, client: client || null, server, shownName, digest };
  return { id, approval, ...about, for: span, by, createdAt: at, expiresAt, uses };
}
