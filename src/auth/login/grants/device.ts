/**
 * A login on another device (RFC 8628): the user opens a short address anywhere and enters a code,
 * while this program asks again and again, as slowly as the authorization server wants.
 */
import type { TokenEndpointResponse } from "oauth4webapi";
import { type AttemptOptions, loginOf, remedyFor, scopesFor } from "../attempt.ts";
import { canonicalUrl, type Discovered, discover } from "../discovery.ts";
import { LoginError } from "../login-error.ts";
import { errorCodeOf, oauth, requestOptions, whatWentWrong } from "../oauth.ts";
import { clientAuth, registrationAt } from "../registration.ts";
import { admitIssuer } from "../secret-issuer.ts";
import { type Login, type Registration, wantedKey } from "../store.ts";

export interface DeviceLogin {
  readonly userCode: string;
  /** The address that the user opens. */
  readonly url: string;
  /** The same with the code in it. */
  readonly completeUrl: string | undefined;
  readonly issuer: string;
  /** Resolves when the user has agreed. Rejects with a `LoginError`. */
  finish(): Promise<Login>;
}

export type DeviceOptions = Omit<AttemptOptions, "redirectUri">;

interface Begun extends DeviceOptions {
  readonly found: Discovered;
  readonly client: Registration;
  readonly scopes: readonly string[];
  readonly namesResource: boolean;
}

interface Code {
  readonly device_code: string;
  readonly expires_in: number;
  readonly interval?: number | undefined;
}

const DEFAULT_INTERVAL_S = 5;
const SLOWER_S = 5;

export async function beginDeviceLogin(options: DeviceOptions): Promise<DeviceLogin> {
  const { target, guard, store, challenge } = options;
  const found = await discover(target, guard, challenge);
  const { authorizationServer: server } = found;
  const endpoint = server.device_authorization_endpoint;
  const step = `asking ${server.issuer} for a code`;
  if (endpoint === undefined) {
    throw new LoginError({
      server: target.id,
      step,
      what: "it has no login on another device",
      remedy: "Log in without --device.",
    });
  }
  const client = await registrationAt({ ...options, ...found, redirectUri: undefined });
  const pinIssuer = await admitIssuer({ ...options, client, issuer: server.issuer });
  const { wanted } = await store.read();
  const key = wantedKey(canonicalUrl(target.url), options.principal);
  const scopes = scopesFor(found, target, { challenge, wanted: wanted[key] });
  const namesResource = target.auth.resource !== false;
  const begun: Begun = { ...options, found, client, scopes, namesResource };
  try {
    const { deviceAuthorizationRequest, processDeviceAuthorizationResponse } = await oauth();
    const as = { client_id: client.clientId };
    const parameters = {
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...(namesResource && { resource: found.resource }),
    };
    await pinIssuer();
    const answer = await deviceAuthorizationRequest(
      ...([server, as, await clientAuth(client), parameters] as const),
      await requestOptions(guard),
    );
    const code = await processDeviceAuthorizationResponse(server, as, answer);
    return {
      userCode: code.user_code,
      url: guard.check(code.verification_uri).href,
      completeUrl: code.verification_uri_complete && guard.check(code.verification_uri_complete).href,
      issuer: server.issuer,
      finish: () => finish(begun, code),
    };
  } catch (error) {
    if (error instanceof LoginError) throw error;
    throw new LoginError({ server: target.id, step, what: whatWentWrong(error), remedy: remedyFor(error) });
  }
}

async function finish(begun: Begun, code: Code): Promise<Login> {
  const login = loginOf(begun, await tokensFor(begun, code));
  await begun.store.add(login);
  return login;
}

async function tokensFor({ target, found, client, guard, namesResource }: Begun, code: Code) {
  const { authorizationServer: server, resource } = found;
  const { deviceCodeGrantRequest, processDeviceCodeResponse } = await oauth();
  const as = { client_id: client.clientId };
  const end = Date.now() + code.expires_in * 1000;
  let interval = Math.max(1, code.interval ?? DEFAULT_INTERVAL_S);
  const fail = (what: string, remedy: string): LoginError =>
    new LoginError({ server: target.id, step: `waiting for the user at ${server.issuer}`, what, remedy });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, interval * 1000));
    if (Date.now() > end) throw fail("nobody entered the code in time", "Nothing was stored. Log in again.");
    try {
      const answer = await deviceCodeGrantRequest(
        ...([server, as, await clientAuth(client), code.device_code] as const),
        { ...(await requestOptions(guard)), ...(namesResource && { additionalParameters: { resource } }) },
      );
      return (await processDeviceCodeResponse(server, as, answer)) satisfies TokenEndpointResponse;
    } catch (error) {
      const answered = errorCodeOf(error);
      if (answered === "slow_down") interval += SLOWER_S;
      else if (answered !== "authorization_pending") throw fail(whatWentWrong(error), remedyFor(error));
    }
  }
}
