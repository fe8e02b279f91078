/** The admin API's routes about the lock file: a part of the route table in `../routes.ts`. */
import type { AdminRoute } from "../route.ts";
import { ServerParams } from "../schema.ts";
import { ApprovalRequest, LockedServerRow, LockState } from "./schema.ts";

export const lockRoutes = {
  getLock: {
    method: "get",
    path: "/api/lock",
    tag: "servers",
    replicas: "any",
    summary: "What servers offer now, compared with the lock file",
    description: "Every difference with its class, its effect and both texts.",
    response: LockState,
  },
  approveServer: {
    method: "post",
    path: "/api/lock/:id",
    tag: "servers",
    replicas: "all",
    summary: "Approve what a server offers now",
    description:
      "Writes it to the lock file. With the digest of a new version that waits, that version is approved and takes " +
      "over. 409: it offers something else than `expect`, or nothing is known of it.",
    params: ServerParams,
    request: ApprovalRequest,
    response: LockedServerRow,
    errors: [400, 404, 409],
  },
  switchServer: {
    method: "post",
    path: "/api/lock/:id/switch",
    tag: "servers",
    replicas: "all",
    summary: "Let a new version of a server take over without an approval",
    description: "What is not approved of it is pinned or hidden. 409: no version with the digest `expect` waits.",
    params: ServerParams,
    request: ApprovalRequest,
    response: LockState,
    errors: [400, 409],
  },
  removeLockedServer: {
    method: "delete",
    path: "/api/lock/:id",
    tag: "servers",
    replicas: "all",
    summary: "Remove a server from the lock file",
    description: "Nothing of it is approved from then on. Answers with what is left.",
    params: ServerParams,
    response: LockState,
    errors: [404, 409],
  },
} as const satisfies Record<string, AdminRoute>;
