/** The admin API's routes about access: a part of the route table in `../routes.ts`. */
import type { AdminRoute } from "../route.ts";
import { AccessState, PrincipalView, ViewRequest } from "./schema.ts";

export const accessRoutes = {
  getAccess: {
    method: "get",
    path: "/api/access",
    tag: "clients",
    replicas: "any",
    summary: "Profiles, rules and named clients",
    description: "As they are in use, with their lines in the config file. Tokens and hashes are not shown.",
    response: AccessState,
  },
  viewAs: {
    method: "post",
    path: "/api/access/view",
    tag: "clients",
    replicas: "any",
    summary: "What a principal sees, entry by entry, and why",
    description: "It asks; nothing is called, and nobody becomes this principal. 400: there is no such profile.",
    request: ViewRequest,
    response: PrincipalView,
    errors: [400],
  },
} as const satisfies Record<string, AdminRoute>;
