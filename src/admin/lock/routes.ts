/** The admin API's routes about the lock file: a part of the route table in `../routes.ts`. */
import type { AdminRoute } from "../route.ts";
import { ServerParams } from "../schema.ts";
import { Approval, LockedServerRow, LockState } from "./schema.ts";

export const lockRoutes = {
  getLock: {
    method: "get",
    path: "/api/lock",
    tag: "servers",
    summary: "What servers offer now, compared with the lock file",
    description: "Every difference with its class, its effect and both texts.",
    response: LockState,
  },
  approveServer: {
    method: "post",
    path: "/api/lock/:id",
    tag: "servers",
    summary: "Approve what a server offers now",
    description: "Writes it to the lock file. 409: it offers something else than `expect`, or nothing is known of it.",
    params: ServerParams,
    request: Approval,
    response: LockedServerRow,
    errors: [400, 404, 409],
  },
  removeLockedServer: {
    method: "delete",
    path: "/api/lock/:id",
    tag: "servers",
    summary: "Remove a server from the lock file",
    description: "Nothing of it is approved from then on. Answers with what is left.",
    params: ServerParams,
    response: LockState,
    errors: [404, 409],
  },
} as const satisfies Record<string, AdminRoute>;
