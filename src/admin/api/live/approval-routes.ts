/** The admin API's routes about approvals. They are part of the route table in `../routes.ts`. */
import type { AdminRoute } from "../route.ts";
import { listOf } from "../schema.ts";
import {
  Allowed,
  AllowRequest,
  ApprovalGrantParams,
  ApprovalGrantRow,
  ApprovalParams,
  ApprovalRow,
  DenyRequest,
} from "./approval-schema.ts";

export const approvalRoutes = {
  listApprovals: {
    method: "get",
    path: "/api/approvals",
    tag: "approvals",
    summary: "Calls that wait for a person, and those that were answered",
    description: "Oldest first: all that wait, and the newest 1000 others. Long arguments are cut.",
    response: listOf(ApprovalRow),
  },
  getApproval: {
    method: "get",
    path: "/api/approvals/:id",
    tag: "approvals",
    summary: "One of them, with all its arguments",
    description: "Secrets are masked. The digest is of the arguments as they are.",
    params: ApprovalParams,
    response: ApprovalRow,
    errors: [404],
  },
  allowApproval: {
    method: "post",
    path: "/api/approvals/:id/allow",
    tag: "approvals",
    summary: "Let the call run",
    description:
      "Once, for an hour or for its session: the same call of the same client, with the same arguments. 403: the one who made the call cannot approve it. 409: it was answered, has ended, or has other arguments than expected.",
    params: ApprovalParams,
    request: AllowRequest,
    response: Allowed,
    errors: [400, 404, 409, 503],
  },
  denyApproval: {
    method: "post",
    path: "/api/approvals/:id/deny",
    tag: "approvals",
    summary: "Refuse the call",
    description: "The client is told not to try again. 403 and 409: as for allow.",
    params: ApprovalParams,
    request: DenyRequest,
    response: ApprovalRow,
    errors: [400, 404, 409, 503],
  },
  listApprovalGrants: {
    method: "get",
    path: "/api/approval-grants",
    tag: "approvals",
    summary: "What answers still allow",
    description: "Those for an hour or a session, and those for one call that has not come yet.",
    response: listOf(ApprovalGrantRow),
  },
  revokeApprovalGrant: {
    method: "delete",
    path: "/api/approval-grants/:id",
    tag: "approvals",
    summary: "Allow it no longer",
    description: "Calls under way go on. Answers with the grant.",
    params: ApprovalGrantParams,
    response: ApprovalGrantRow,
    errors: [404],
  },
} as const satisfies Record<string, AdminRoute>;
