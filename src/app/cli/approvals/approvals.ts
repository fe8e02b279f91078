/**
 * `goblin approvals`: the calls that wait for a person, at a running gateway, and the answers.
 *
 * What is shown comes from clients and servers: nothing of it reaches the terminal as it is.
 */
import type { ApprovalGrantRow, ApprovalRow } from "../../../admin/api/live/approval-schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { Span } from "../../../auth/approvals/record.ts";
import { clean, visibleJson } from "../../../lib/text/clean.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import type { GatewayOptions } from "../gateway/find-gateway.ts";
import { withAdmin } from "../recordings/admin.ts";
import { type Column, printJson, printTable, withReplica } from "../terminal/table.ts";

interface ApprovalsOptions extends GatewayOptions {
  readonly all?: boolean | undefined;
  readonly json?: boolean | undefined;
}

interface AllowOptions extends ApprovalsOptions {
  readonly for: Span;
  readonly expect?: string | undefined;
}

interface DenyOptions extends ApprovalsOptions {
  readonly reason?: string | undefined;
}

const MAX_BRIEF = 100;

const ago = (at: number): string => `${formatDuration(Date.now() - at)} ago`;
const left = (at: number): string => formatDuration(Math.max(0, at - Date.now()));
const asker = ({ who, client }: { readonly who: string | null; readonly client: string | null }): string =>
  [who, client && `(${client})`].filter(Boolean).join(" ") || "–";

/** A table may cut what is at the end, so that the number of characters comes first. */
const briefArguments = ({ arguments: shown, characters }: ApprovalRow): string =>
  characters > MAX_BRIEF ? `(${characters} characters) ${visibleJson(shown.slice(0, MAX_BRIEF))}…` : visibleJson(shown);

const columns: Column<ApprovalRow>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "ASKED", text: ({ proposedAt }) => ago(proposedAt) },
  { title: "LEFT", text: ({ state, expiresAt }) => (state === "held" ? left(expiresAt) : "–"), align: "right" },
  { title: "WHO", text: asker },
  { title: "CALL", text: ({ shownName }) => shownName },
  { title: "ARGUMENTS", text: briefArguments },
];
const stateColumn: Column<ApprovalRow> = { title: "STATE", text: (row) => stateOf(row) };
const grantColumns: Column<ApprovalGrantRow>[] = [
  { title: "GRANT", text: ({ id }) => id },
  { title: "FOR", text: (row) => row.for },
  { title: "LEFT", text: ({ expiresAt }) => left(expiresAt), align: "right" },
  { title: "BY", text: ({ by }) => by },
  { title: "WHO", text: asker },
  { title: "CALL", text: ({ shownName }) => shownName },
  { title: "APPROVAL", text: ({ approval }) => approval },
];

export function listApprovals(options: ApprovalsOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const { items } = await admin.request(adminRoutes.listApprovals);
    const rows = options.all ? items : items.filter(({ state }) => state === "held");
    if (options.json) printJson({ approvals: rows });
    else if (rows.length === 0) console.log("Nothing waits for approval.");
    else printTable(rows, withReplica(rows, options.all ? columns.toSpliced(1, 0, stateColumn) : columns));
    return 0;
  });
}

export function showApproval(id: string, options: ApprovalsOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const row = await admin.request(adminRoutes.getApproval, { params: { id } });
    if (options.json) printJson(row);
    else for (const line of linesOf(row)) console.log(clean(line));
    return 0;
  });
}

export function allow(id: string, options: AllowOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const body = { for: options.for, ...(options.expect !== undefined && { expect: options.expect }) };
    const given = await admin.request(adminRoutes.allowApproval, { params: { id }, body });
    if (options.json) {
      printJson(given);
      return 0;
    }
    const { approval, grant, rule } = given;
    console.log(clean(`Allowed ${approval.shownName} for ${asker(approval)}, ${spanOf(grant)}.`));
    if (options.for !== "always") return 0;
    if (rule === null) console.log("Its arguments cannot stand in a config: write a rule for it by hand.");
    else console.log(`To allow it always, add this to policy.rules:\n${clean(visibleJson(rule))}`);
    return 0;
  });
}

export function deny(id: string, options: DenyOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const row = await admin.request(adminRoutes.denyApproval, { params: { id }, body });
    if (options.json) printJson(row);
    else console.log(clean(`Denied ${row.shownName} for ${asker(row)}.`));
    return 0;
  });
}

export function listGrants(options: ApprovalsOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const { items } = await admin.request(adminRoutes.listApprovalGrants);
    if (options.json) printJson({ grants: items });
    else if (items.length === 0) console.log("Nothing is allowed beyond the calls that were answered.");
    else printTable(items, withReplica(items, grantColumns));
    return 0;
  });
}

export function revoke(id: string, options: ApprovalsOptions): Promise<number> {
  return withAdmin(options, async (admin) => {
    const grant = await admin.request(adminRoutes.revokeApprovalGrant, { params: { id } });
    if (options.json) printJson(grant);
    else console.log(clean(`${grant.shownName} is not allowed any longer for ${asker(grant)}.`));
    return 0;
  });
}

function stateOf({ state, ended, outcome }: ApprovalRow): string {
  if (state === "ended") return ended ?? state;
  return outcome === null ? state : `${state}, ${outcome}`;
}

function spanOf({ for: span, expiresAt }: ApprovalGrantRow): string {
  if (span === "session") return "for this session";
  return span === "hour" ? `for ${left(expiresAt)}` : "once";
}

function* linesOf(row: ApprovalRow): Generator<string> {
  yield `id         ${row.id}`;
  yield `state      ${row.state === "held" ? `waits for an answer, ${left(row.expiresAt)} left` : stateOf(row)}`;
  if (row.by !== null) yield `answered   by ${row.by}${row.for === null ? "" : `, for ${row.for}`}`;
  if (row.words !== null) yield `said       ${row.words}`;
  yield `who        ${row.who ?? "anyone: the gateway needs no token"}`;
  yield `client     ${row.client ?? "–"}${row.app === null ? "" : ` (OAuth client ${row.app})`}`;
  yield `${row.kind.padEnd(10)} ${row.name} of ${row.server}, listed as ${row.shownName}`;
  yield `rule       ${row.rule}${row.reason === null ? "" : `: ${row.reason}`}`;
  yield `asked      ${ago(row.proposedAt)}`;
  if (row.replica !== undefined) yield `replica    ${row.replica}`;
  yield `digest     ${row.digest}`;
  yield `arguments  ${visibleJson(row.arguments)}`;
}
