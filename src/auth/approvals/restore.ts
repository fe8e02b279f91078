/**
 * Reads the state of the approvals from the lines of an earlier process. What was held then is
 * over: its caller is gone, and it was not run. What was allowed and not used is still allowed.
 */
import type { ReadLine } from "./chain.ts";
import type { ApprovalRecord, Grant } from "./record.ts";

export interface Restored {
  /** Oldest first. */
  readonly records: Map<string, ApprovalRecord>;
  readonly grants: readonly Grant[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The lines must be a chain that was checked: their form is the one that this program writes. */
export function restore(lines: readonly ReadLine[]): Restored {
  const records = new Map<string, ApprovalRecord>();
  const grants = new Map<string, Grant>();
  for (const { value } of lines) take(value, records, grants);
  return { records, grants: [...grants.values()] };
}

function take(line: Fields, records: Map<string, ApprovalRecord>, grants: Map<string, Grant>): void {
  const record = records.get(String(line["id"]));
  switch (line["event"]) {
    case "proposed":
      records.set(String(line["id"]), proposed(line));
      return;
    case "approved": {
      const grant = line["grant"] as Grant;
      grants.set(grant.id, { ...grant });
      if (record) Object.assign(record, { state: "allowed", ...answer(line), span: grant.span });
      return;
    }
    case "joined":
      if (record) Object.assign(record, { state: "allowed", ...answer(line) });
      return;
    case "withdrawn":
      grants.delete(String(line["grant"]));
      if (record) Object.assign(record, { state: "held", by: undefined, answeredAt: undefined, span: undefined });
      return;
    case "denied":
      if (record) Object.assign(record, { state: "denied", ...answer(line), words: line["words"] });
      return;
    case "ended":
      if (record) Object.assign(record, { state: "ended", ended: line["why"] });
      return;
    case "executed": {
      const grant = grants.get(String(line["grant"]));
      if (grant && grant.uses !== null) grant.uses--;
      if (record) Object.assign(record, { runs: record.runs + 1, outcome: "unknown" });
      return;
    }
    case "returned": {
      const grant = grants.get(String(line["grant"]));
      if (line["undone"] === true && grant && grant.uses !== null) grant.uses++;
      if (record) record.outcome = String(line["outcome"]);
      return;
    }
    case "revoked":
      grants.delete(String(line["grant"]));
      return;
    case "continued":
      grants.clear();
      for (const grant of line["grants"] as Grant[]) grants.set(grant.id, { ...grant });
      for (const held of line["held"] as ApprovalRecord[]) if (!records.has(held.id)) records.set(held.id, { ...held });
      return;
  }
}

function proposed(line: Fields): ApprovalRecord {
  const { id, subject, bytes, expiresAt } = line;
  return {
    id: String(id),
    subject: subject as ApprovalRecord["subject"],
    shown: typeof line["arguments"] === "string" ? line["arguments"] : "{}",
    bytes: Number(bytes),
    proposedAt: timeOf(line),
    expiresAt: Number(expiresAt),
    state: "held",
    runs: 0,
  };
}

function answer(line: Fields): { readonly by: string; readonly answeredAt: number } {
  return { by: String(line["by"]), answeredAt: timeOf(line) };
}

function timeOf(line: Fields): number {
  return Date.parse(String(line["time"]));
}
