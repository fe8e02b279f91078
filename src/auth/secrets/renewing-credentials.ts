/**
 * The credentials of a server whose entry refers to secrets. When the server refuses them, they are
 * looked up again; if they have changed since, a new connection is made with the new ones.
 */

import type { Credentials } from "../../mcp/links/http/credentials.ts";
import type { ServerTransport } from "../../mcp/links/transport.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { ServerSecrets } from "./server-secrets.ts";

export interface RenewingOptions {
  /** With the values in use. */
  readonly transport: ServerTransport;
  readonly secrets: ServerSecrets;
  /** The server's login, if it can have one. */
  readonly login: Credentials | undefined;
}

export function renewingCredentials({ transport, secrets, login }: RenewingOptions): Credentials | undefined {
  if (transport.kind === "stdio") return undefined;
  const isAuthorization = ([name]: [string, string]): boolean => name.toLowerCase() === "authorization";
  const own = Object.entries(transport.headers).find(isAuthorization)?.[1];
  return {
    get header() {
      return login ? login.header : own;
    },
    areHeaders: !login,
    refused: async (refusal) => {
      if (refusal.status !== 401 || !(await secrets.isOutdated(transport))) {
        return login?.refused(refusal) ?? "unknown";
      }
      const message = "The server refused credentials that have changed since; a new connection has the new ones";
      return new GoblinError("BACKEND_UNAVAILABLE", message, { reason: "renew" });
    },
  };
}
