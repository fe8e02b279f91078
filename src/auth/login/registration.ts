/**
 * Who the gateway is at an authorization server: the client of the config, else a client metadata
 * document, else a dynamic registration (RFC 7591).
 *
 * A registration belongs to its issuer and is never used at another one, nor is a redirect URL that
 * the gateway chose. So the redirect URL tells which issuer a code comes from, even if the issuer
 * does not (RFC 9700, mix-up).
 */
import { createHash } from "node:crypto";
import type { AuthorizationServer, Client, ClientAuth } from "oauth4webapi";
import { isRecord } from "../../lib/structures/record.ts";
import { basicCredentials } from "../../lib/text/basic-credentials.ts";
import type { LoginTarget } from "./discovery.ts";
import type { Guard } from "./guarded-fetch.ts";
import { LoginError } from "./login-error.ts";
import { oauth, requestOptions, whatWentWrong } from "./oauth.ts";
import { importKey } from "./private-key.ts";
import type { LoginStore, Registration } from "./store.ts";

export interface RegistrationOptions {
  readonly target: LoginTarget;
  readonly authorizationServer: AuthorizationServer;
  /** Undefined: the login has no redirect, because it happens on another device. */
  readonly redirectUri: string | undefined;
  /** The address of a client metadata document that describes this gateway to all issuers. */
  readonly metadataUrl: string | undefined;
  /** Returns the address of one for a single issuer, by its tag; undefined: there is none. */
  readonly documentFor?: ((tag: string) => string) | undefined;
  readonly guard: Guard;
  readonly store: LoginStore;
  /** The authorization server has no metadata: its endpoints are a guess. */
  readonly isAssumed: boolean;
}

type Method = Registration["method"];

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export async function registrationAt(options: RegistrationOptions): Promise<Registration> {
  const { target, authorizationServer: server, redirectUri, store } = options;
  const { clientId } = target.auth;
  if (clientId !== undefined) {
    return { ...(await configuredClient(target, server)), clientId, redirectUri: redirectUri ?? "" };
  }
  const document = sharedDocument(options) ?? ownDocument(options);
  if (document !== undefined) return { clientId: document, method: "none", redirectUri: redirectUri ?? "" };
  const key = registrationKey(server.issuer, redirectUri);
  const known = (await store.read()).registrations[key];
  const isUsable = known?.redirectUri === (redirectUri ?? "") && (known.secretExpiresAt ?? Infinity) > Date.now();
  if (known && isUsable) return known;
  if (server.registration_endpoint === undefined) {
    throw new LoginError({
      server: target.id,
      step: `registering at ${server.issuer}`,
      what: "it does not let programs register themselves",
      remedy:
        redirectUri === undefined
          ? 'Register a client there, and set "auth.clientId" in the server\'s config.'
          : `Register a client there with the redirect URL ${redirectUri}, and set "auth.clientId" and "auth.callbackPort" in the server's config.`,
    });
  }
  const made = await register(options);
  await store.change((book) => ({ ...book, registrations: { ...book.registrations, [key]: made } }));
  return made;
}

type Documents = Pick<RegistrationOptions, "authorizationServer" | "metadataUrl" | "documentFor"> & {
  readonly redirectUri?: string | undefined;
};

/**
 * All issuers know the same redirect URL from this document. So it is for those that say who
 * answers, unless there is no redirect.
 */
function sharedDocument({ authorizationServer: server, metadataUrl, redirectUri }: Documents): string | undefined {
  const isTold = redirectUri === undefined || server.authorization_response_iss_parameter_supported === true;
  return isTold && server["client_id_metadata_document_supported"] === true ? metadataUrl : undefined;
}

function ownDocument({ authorizationServer: server, documentFor }: Documents): string | undefined {
  return server["client_id_metadata_document_supported"] === true ? documentFor?.(tagOf(server)) : undefined;
}

/**
 * Returns what a redirect URL ends with, so that only this issuer has it. Empty: the issuer knows
 * one that somebody else wrote down.
 */
export function redirectTag(target: LoginTarget, documents: Documents): string {
  const isWritten =
    target.auth.clientId !== undefined || sharedDocument({ ...documents, redirectUri: "" }) !== undefined;
  return isWritten ? "" : tagOf(documents.authorizationServer);
}

function tagOf({ issuer }: AuthorizationServer): string {
  return createHash("sha256").update(issuer).digest("base64url").slice(0, 16);
}

/** The client of the config, and how it proves who it is. */
export async function configuredClient(
  { auth, completeAuth }: LoginTarget,
  server: AuthorizationServer,
): Promise<Omit<Registration, "redirectUri">> {
  const { clientId = "", clientSecret, privateKey, keyId } = (await completeAuth?.()) ?? auth;
  if (privateKey !== undefined) return { clientId, privateKey, keyId, method: "private_key_jwt" };
  return { clientId, clientSecret, method: methodFor(server, clientSecret) };
}

/** The page of a gateway, the command line and other devices register apart. */
function registrationKey(issuer: string, redirectUri: string | undefined): string {
  if (redirectUri === undefined) return `${issuer}#device`;
  const isPage = /\/connect\/callback(\/|$)/.test(new URL(redirectUri).pathname);
  return isPage ? `${issuer}#connect` : issuer;
}

async function register({ target, authorizationServer, redirectUri, guard, isAssumed }: RegistrationOptions) {
  const { dynamicClientRegistrationRequest, processDynamicClientRegistrationResponse } = await oauth();
  const supported = authorizationServer.token_endpoint_auth_methods_supported;
  // The Python SDK's server reads credentials of the header only if the body names the client too.
  const wanted = (["none", "client_secret_post", "client_secret_basic"] as const).find(
    (method) => supported === undefined || supported.includes(method),
  );
  try {
    const answer = await dynamicClientRegistrationRequest(
      authorizationServer,
      {
        client_name: "Goblin",
        application_type: redirectUri?.startsWith("https:") ? "web" : "native",
        redirect_uris: redirectUri === undefined ? [] : [redirectUri],
        grant_types: [redirectUri === undefined ? DEVICE_GRANT : "authorization_code", "refresh_token"],
        response_types: redirectUri === undefined ? [] : ["code"],
        token_endpoint_auth_method: wanted ?? "none",
      },
      await requestOptions(guard),
    );
    const client = await processDynamicClientRegistrationResponse(await strictRegistration(answer));
    return registrationOf(client, redirectUri ?? "");
  } catch (error) {
    if (isAssumed) {
      const what = `it has no OAuth metadata, and ${authorizationServer.registration_endpoint} does not work: ${whatWentWrong(error)}`;
      throw new LoginError({
        server: target.id,
        step: `looking for a login at ${authorizationServer.issuer}`,
        what,
        remedy: 'Check the server\'s "url". If the server takes an API key, set it in "headers".',
      });
    }
    throw new LoginError({
      server: target.id,
      step: `registering at ${authorizationServer.issuer}`,
      what: whatWentWrong(error),
      remedy: 'Register a client there yourself and set "auth.clientId" in the server\'s config.',
    });
  }
}

/**
 * Fills in what the library insists on and real servers leave out: the status 201, and when a
 * secret ends. FastMCP and the Python SDK omit `client_secret_expires_at` if the secret never ends.
 */
async function strictRegistration(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  if (status !== 200 && status !== 201) return answer;
  const text = await answer.text();
  const asIs = new Response(text, { status, headers });
  try {
    const client: unknown = JSON.parse(text);
    if (!isRecord(client)) return asIs;
    const { client_secret, client_secret_expires_at, ...rest } = client;
    const secret = { client_secret, client_secret_expires_at: client_secret_expires_at ?? 0 };
    const hasSecret = client_secret !== undefined && client_secret !== null;
    return new Response(JSON.stringify({ ...rest, ...(hasSecret && secret) }), { status: 201, headers });
  } catch {
    return asIs;
  }
}

function registrationOf(client: Client, redirectUri: string): Registration {
  const secret = typeof client.client_secret === "string" ? client.client_secret : undefined;
  const expires = Number(client["client_secret_expires_at"] ?? 0);
  return {
    clientId: client.client_id,
    ...(secret !== undefined && { clientSecret: secret }),
    method: secret === undefined ? "none" : readMethod(client.token_endpoint_auth_method),
    redirectUri,
    ...(secret !== undefined && expires > 0 && { secretExpiresAt: expires * 1000 }),
  };
}

function readMethod(method: unknown): Method {
  return method === "none" || method === "client_secret_post" ? method : "client_secret_basic";
}

export function methodFor(
  { token_endpoint_auth_methods_supported: supported }: AuthorizationServer,
  secret?: string,
): Method {
  if (secret === undefined) return "none";
  const isPostOnly = supported?.includes("client_secret_post") && !supported.includes("client_secret_basic");
  return isPostOnly ? "client_secret_post" : "client_secret_basic";
}

/** How the gateway proves at the token endpoint who it is. */
export async function clientAuth({ method, clientSecret, privateKey, keyId }: Registration): Promise<ClientAuth> {
  const { ClientSecretPost, None, PrivateKeyJwt } = await oauth();
  if (privateKey !== undefined) {
    const key = await importKey(privateKey);
    return PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId });
  }
  if (method === "none" || clientSecret === undefined) return None();
  if (method === "client_secret_post") return ClientSecretPost(clientSecret);
  return (_server, client, _body, headers) => {
    headers.set("authorization", basicCredentials(client.client_id, clientSecret));
  };
}
