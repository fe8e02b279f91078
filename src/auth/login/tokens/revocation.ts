/** Tells an authorization server that a login is over (RFC 7009). */
import type { Guard } from "../guarded-fetch.ts";
import { oauth, requestOptions, whatWentWrong } from "../oauth.ts";
import { clientAuth } from "../registration.ts";
import type { Login } from "../store.ts";

/** Returns the problem, if the authorization server could not be told. */
export async function revoke(login: Login, guard: Guard): Promise<string | undefined> {
  const { issuer, revocationEndpoint, client, refreshToken, accessToken } = login;
  if (revocationEndpoint === undefined) return "it has no way to end a login";
  try {
    const { revocationRequest, processRevocationResponse } = await oauth();
    const server = { issuer, revocation_endpoint: revocationEndpoint };
    const options = await requestOptions(guard);
    const token = refreshToken ?? accessToken;
    const as = { client_id: client.clientId };
    const answer = await revocationRequest(...([server, as, await clientAuth(client), token] as const), options);
    await processRevocationResponse(answer);
    return undefined;
  } catch (error) {
    return whatWentWrong(error);
  }
}
