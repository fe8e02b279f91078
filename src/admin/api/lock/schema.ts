/** What the admin API says about the lock file. */
import * as z from "zod";
import { driftClasses } from "../../../upstream/lock/change.ts";
import { driftKinds } from "../../../upstream/lock/drift.ts";
import { sourceKeys } from "../../../upstream/lock/source.ts";

const digest = z.string().describe("sha256: and 64 digits");
const count = z.int().nonnegative();

export const DriftRow = z.object({
  kind: z.enum(driftKinds),
  name: z.string().describe("empty for what a server has once"),
  change: z.enum(["added", "removed", "changed"]),
  class: z.enum(driftClasses).describe("the most serious of its changes"),
  effect: z
    .enum(["listed", "pinned", "hidden", "gone"])
    .describe("what clients get: the new form, the approved form, nothing; gone: the server has it no more"),
  changes: z.array(z.object({ class: z.enum(driftClasses), path: z.string(), what: z.string() })),
  before: z.string().nullable().describe("the approved text"),
  after: z.string().nullable().describe("the current text"),
});
export type DriftRow = z.infer<typeof DriftRow>;

const source = z.partialRecord(z.enum(sourceKeys), z.string());

export const UpgradeRow = z.object({
  state: z.enum(["starting", "failed", "waiting"]).describe("failed: it does not run, and the old one stays"),
  reason: z.string().describe("why it has not taken over"),
  digest: digest.nullable().describe("of what it offers and where it comes from, to approve it or to switch to it"),
  source,
  drifts: z.array(DriftRow).describe("compared with what was approved"),
});
export type UpgradeRow = z.infer<typeof UpgradeRow>;

export const LockedServerRow = z.object({
  id: z.string(),
  state: z
    .enum(["approved", "drift", "new", "unknown", "gone"])
    .describe("new: not in the file; unknown: it has not been listed; gone: not in the config"),
  line: count.nullable().describe("its line in the file"),
  approved: digest.nullable().describe("the digest of what was approved"),
  current: digest.nullable().describe("the digest of what it offers now"),
  source: source.describe("where it comes from, now or when it was approved"),
  drifts: z.array(DriftRow),
  upgrade: UpgradeRow.nullable().describe("a new version that runs beside it and has not taken over"),
});
export type LockedServerRow = z.infer<typeof LockedServerRow>;

export const LockState = z.object({
  file: z.string(),
  mode: z.enum(["off", "warn", "enforce"]),
  problems: z.array(z.object({ line: count, message: z.string() })).describe("what is wrong in the file"),
  servers: z.array(LockedServerRow),
});
export type LockState = z.infer<typeof LockState>;

export const ApprovalRequest = z.object({ expect: digest.describe("the digest of what was looked at") });
