/** A task of an earlier process, from the record of its question. It has failed. */
import type { ApprovalRecord } from "../../../auth/approvals/record.ts";
import { refusal } from "../../../auth/approvals/refusal.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { failure } from "../../../mcp/protocol/json-rpc.ts";
import type { TaskState } from "./held-task.ts";

export function pastTask(id: string, record: ApprovalRecord, ttlMs: number): TaskState {
  const { proposedAt, answeredAt } = record;
  const error = errorOf(record);
  return {
    id,
    status: error.code === "CANCELLED" ? "cancelled" : "failed",
    message: error.message,
    createdAt: proposedAt,
    updatedAt: answeredAt ?? proposedAt,
    ttlMs,
    questions: [],
    answer: failure(error),
  };
}

function errorOf(record: ApprovalRecord): GoblinError {
  const { id: approval, state, runs, outcome, subject } = record;
  if (state !== "allowed") return refusal(record);
  const { shownName: name } = subject;
  if (runs === 0) {
    const message = `The gateway stopped before ${name} ran. It was not run. It was approved: call it again.`;
    return new GoblinError("NOT_APPROVED", message, { data: { approval, why: "restart", retry: true } });
  }
  const message =
    `The gateway stopped before the result of ${name} was fetched. It was run (outcome: ${outcome}). ` +
    "Do not simply repeat it: see what it did.";
  return new GoblinError("BACKEND_ERROR", message, { data: { approval, why: "restart", retry: false } });
}
