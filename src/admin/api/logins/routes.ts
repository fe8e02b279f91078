/** The admin API's routes about logins: a part of the route table in `../routes.ts`. */
import type { AdminRoute } from "../route.ts";
import { LoginResult, listOf, ServerParams } from "../schema.ts";
import { LoginRow, LogoutRequest, LogoutResult } from "./schema.ts";

export const loginRoutes = {
  listLogins: {
    method: "get",
    path: "/api/logins",
    tag: "servers",
    replicas: "any",
    summary: "The logins at servers",
    description: "One row for each login, and one for each server that could have one and has none. No tokens.",
    response: listOf(LoginRow),
    errors: [503],
  },
  loginServer: {
    method: "post",
    path: "/api/servers/:id/login",
    tag: "servers",
    replicas: "any",
    summary: "Get the link to the page where a person logs in to a server",
    description: "The link belongs to the caller and works for half an hour. 409: the server has no such login.",
    params: ServerParams,
    response: LoginResult,
    errors: [404, 409],
  },
  logoutServer: {
    method: "post",
    path: "/api/servers/:id/logout",
    tag: "servers",
    replicas: "any",
    summary: "Forget logins at a server, and tell its authorization server",
    description: "What cannot be told is forgotten all the same. 409: the server has no logins.",
    params: ServerParams,
    request: LogoutRequest,
    response: LogoutResult,
    errors: [400, 404, 409, 503],
  },
} as const satisfies Record<string, AdminRoute>;
