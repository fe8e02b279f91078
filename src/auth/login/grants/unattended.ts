/**
 * Tokens for which nobody logs in: the gateway asks the authorization server by itself, as the
 * server's config says.
 */
import type { ServerAuth } from "../../../config/schema/server-auth.ts";
import { loginOf, remedyFor, scopesFor } from "../attempt.ts";
import type { Challenge } from "../challenge.ts";
import { discover, type LoginTarget } from "../discovery.ts";
import type { Guard } from "../guarded-fetch.ts";
import { LoginError } from "../login-error.ts";
import { oauth, requestOptions, whatWentWrong } from "../oauth.ts";
import { clientAuth, configuredClient } from "../registration.ts";
import type { Login, Registration } from "../store.ts";
import { type Asking, onBehalf, type Subject } from "./on-behalf.ts";

export interface UnattendedOptions {
  readonly target: LoginTarget;
  readonly guard: Guard;
  readonly challenge: Challenge | undefined;
  /** Scopes that the server asked for later. */
  readonly wanted: readonly string[] | undefined;
  readonly principal: string;
  /** The caller's own token, for those that need it. */
  readonly subject: Subject | undefined;
}

/** Whether the gateway gets tokens for this server by itself. */
export function isUnattended({ grant }: Pick<ServerAuth, "grant">): boolean {
  return grant !== undefined && grant !== "authorization_code";
}

/** Rejects with a `LoginError`. Stores nothing. */
export async function obtain(options: UnattendedOptions): Promise<Login> {
  const { target, guard, challenge, wanted, principal, subject } = options;
  const found = await discover(target, guard, challenge);
  const client: Registration = { ...(await configuredClient(target, found.authorizationServer)), redirectUri: "" };
  const scopes = scopesFor(found, target, { challenge, wanted }).filter((scope) => scope !== "offline_access");
  const namesResource = target.auth.resource !== false;
  const step = `getting a token at ${found.authorizationServer.token_endpoint}`;
  try {
    const { authorizationServer: server, resource } = found;
    const asking: Asking = { target, server, resource: namesResource ? resource : undefined, client, guard, scopes };
    const tokens = await (subject ? onBehalf(asking, subject) : clientCredentials(asking));
    return loginOf({ target, found, client, principal, namesResource, scopes }, tokens);
  } catch (error) {
    const remedy = remedyFor(error, 'Check the server\'s "auth" in the config.');
    throw new LoginError({ server: target.id, step, what: whatWentWrong(error), remedy });
  }
}

/** RFC 6749, section 4.4. */
async function clientCredentials({ server, resource, client, guard, scopes }: Asking) {
  const { clientCredentialsGrantRequest, processClientCredentialsResponse } = await oauth();
  const as = { client_id: client.clientId };
  const parameters = {
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(resource !== undefined && { resource }),
  };
  const answer = await clientCredentialsGrantRequest(
    ...([server, as, await clientAuth(client), parameters] as const),
    await requestOptions(guard),
  );
  return processClientCredentialsResponse(server, as, answer);
}
