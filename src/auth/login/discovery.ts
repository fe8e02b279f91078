/**
 * Finds out where a server's logins happen: the server's own metadata (RFC 9728), then the metadata
 * of its authorization server (RFC 8414, OpenID Connect Discovery).
 *
 * Metadata counts only if it names what it was asked for: the server's metadata a resource that
 * contains the server's URL, the authorization server's metadata exactly the issuer. Without PKCE
 * (S256) there is no login.
 */
import type { AuthorizationServer } from "oauth4webapi";
import type { ServerAuth } from "../../config/schema/server-auth.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { metadataPlaces } from "../../lib/text/metadata-places.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Challenge } from "./challenge.ts";
import type { Guard } from "./guarded-fetch.ts";
import { LoginError } from "./login-error.ts";

/** A server of the config, as far as a login is concerned. */
export interface LoginTarget {
  readonly id: string;
  readonly url: string;
  readonly auth: ServerAuth;
  /** Returns `auth` with the secrets that the config only refers to. */
  readonly completeAuth?: (() => Promise<ServerAuth | undefined>) | undefined;
}

export interface Discovered {
  /** The identifier of the server, as tokens are asked for. */
  readonly resource: string;
  /** The scopes that the server's metadata lists. */
  readonly scopes: readonly string[];
  readonly authorizationServer: AuthorizationServer;
  /** There is no metadata at all, so the endpoints are the default ones. */
  readonly isAssumed: boolean;
}

const ASK_OWNER = "Ask who runs the server; its OAuth metadata is wrong.";
const CHECK_URL = 'Check the server\'s "url", or set "auth.issuer" in its config.';

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "device_authorization_endpoint",
];

type Document = Readonly<Record<string, unknown>>;

export async function discover(
  target: LoginTarget,
  guard: Guard,
  challenge: Challenge | undefined,
): Promise<Discovered> {
  if (guard.isExposed) {
    throw new LoginError({
      server: target.id,
      step: "checking the server's address",
      what: "it is a public server without TLS, so others could read the token on its way",
      remedy: "Use its https URL.",
    });
  }
  const metadata = await resourceMetadata(target, guard, challenge);
  const resource = resourceOf(target, metadata);
  const issuer = issuerOf(target, metadata);
  const scopes = texts(metadata?.["scopes_supported"]);
  const isOwn = metadata === undefined && issuer === new URL(target.url).origin;
  if (!isOwn) {
    return { resource, scopes, authorizationServer: await issuerMetadata(target, guard, issuer), isAssumed: false };
  }
  // Nobody named this issuer, and the Python SDK ends its own with a slash.
  const found = await findIssuerMetadata(target, guard, { issuer, alias: `${issuer}/` });
  return { resource, scopes, authorizationServer: found ?? defaultEndpoints(issuer), isAssumed: !found };
}

/** The endpoints of an authorization server without metadata, as early MCP clients know them. */
function defaultEndpoints(issuer: string): AuthorizationServer {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

/** The canonical form of a server's URL (RFC 8707): no fragment, no trailing slash. */
export function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = "";
  return url.pathname === "/" && url.search === "" ? url.origin : url.href.replace(/\/$/, "");
}

/** Returns undefined if the server has no metadata of its own. */
async function resourceMetadata(
  target: LoginTarget,
  guard: Guard,
  challenge: Challenge | undefined,
): Promise<Document | undefined> {
  const named = challenge?.resourceMetadata;
  if (named !== undefined) {
    const found = await readDocument(target, guard, named);
    if (found) return found;
    throw new LoginError({
      server: target.id,
      step: `reading the server's metadata at ${named}`,
      what: "there is none, although the server names it",
      remedy: ASK_OWNER,
    });
  }
  const { origin, pathname } = new URL(target.url);
  const path = pathname.replace(/\/$/, "");
  const places = new Set([`${path}`, ""].map((end) => `${origin}/.well-known/oauth-protected-resource${end}`));
  for (const place of places) {
    const found = await readDocument(target, guard, place);
    if (found) return found;
  }
  return undefined;
}

function resourceOf(target: LoginTarget, metadata: Document | undefined): string {
  const { resource } = target.auth;
  if (resource !== "auto" && resource !== false) return resource;
  const own = canonicalUrl(target.url);
  if (metadata === undefined) return own;
  const named = metadata["resource"];
  if (typeof named === "string" && URL.canParse(named) && contains(named, target.url)) return named;
  throw new LoginError({
    server: target.id,
    step: "reading the server's metadata",
    what: `it is for ${JSON.stringify(named)}, not for ${own}`,
    remedy: 'If that is right, set "auth.resource" in the server\'s config.',
  });
}

/** A server's metadata may be that of all servers under one path. */
function contains(resource: string, url: string): boolean {
  const [outer, inner] = [new URL(resource), new URL(url)];
  const path = outer.pathname.replace(/\/$/, "");
  const isUnder = inner.pathname === path || inner.pathname.startsWith(`${path}/`);
  return outer.origin === inner.origin && isUnder && (outer.search === "" || outer.search === inner.search);
}

function issuerOf({ id, url, auth }: LoginTarget, metadata: Document | undefined): string {
  if (metadata === undefined) return auth.issuer ?? new URL(url).origin;
  const named = texts(metadata["authorization_servers"]);
  const step = "choosing the authorization server";
  if (auth.issuer !== undefined) {
    if (named.length === 0 || named.includes(auth.issuer)) return auth.issuer;
    const what = `the server names ${named.join(", ")}, but the config has the issuer ${auth.issuer}`;
    const remedy = 'If the server is right, and you trust what it names, change "auth.issuer" in its config.';
    throw new LoginError({ server: id, step, what, remedy });
  }
  const [first] = named;
  if (first !== undefined) return first;
  throw new LoginError({
    server: id,
    step,
    what: "the server's metadata names none",
    remedy: 'Set "auth.issuer" in the server\'s config.',
  });
}

export async function issuerMetadata(
  target: Pick<LoginTarget, "id">,
  guard: Guard,
  issuer: string,
): Promise<AuthorizationServer> {
  const found = await findIssuerMetadata(target, guard, { issuer });
  if (found) return found;
  const step = `reading the metadata of ${issuer}`;
  throw new LoginError({ server: target.id, step, what: "it has none", remedy: CHECK_URL });
}

interface NamedIssuer {
  readonly issuer: string;
  /** Another spelling that the metadata may have. */
  readonly alias?: string;
}

/** Returns undefined if the issuer has no metadata. */
async function findIssuerMetadata(
  target: Pick<LoginTarget, "id">,
  guard: Guard,
  { issuer, alias }: NamedIssuer,
): Promise<AuthorizationServer | undefined> {
  const step = `reading the metadata of ${issuer}`;
  const fail = (what: string): LoginError => new LoginError({ server: target.id, step, what, remedy: ASK_OWNER });
  if (!URL.canParse(issuer) || /[?#]/.test(issuer)) throw fail("that is not the URL of an issuer");
  for (const place of metadataPlaces(issuer)) {
    const found = await readDocument(target, guard, place);
    if (!found) continue;
    const own = found["issuer"];
    if (own !== issuer && (alias === undefined || own !== alias))
      throw fail(`${place} is of another issuer, ${JSON.stringify(own)}`);
    if (typeof found["token_endpoint"] !== "string") throw fail("it has no token_endpoint");
    for (const key of ENDPOINTS) {
      try {
        if (found[key] !== undefined) guard.check(String(found[key]));
      } catch (error) {
        throw fail(`its ${key} cannot be used: ${messageOf(error)}`);
      }
    }
    return found as unknown as AuthorizationServer;
  }
  return undefined;
}

/** Throws unless people can log in there with a browser. */
export function assertBrowserLogin({ id }: LoginTarget, server: AuthorizationServer): void {
  const fail = (what: string): LoginError =>
    new LoginError({ server: id, step: `reading the metadata of ${server.issuer}`, what, remedy: ASK_OWNER });
  if (typeof server.authorization_endpoint !== "string") throw fail("it has no authorization_endpoint");
  if (!texts(server.code_challenge_methods_supported).includes("S256")) {
    throw fail("it does not support PKCE (S256), without which a login is not safe");
  }
}

/** Returns undefined if there is nothing at that address. */
async function readDocument({ id }: Pick<LoginTarget, "id">, guard: Guard, url: string): Promise<Document | undefined> {
  const step = `reading ${url}`;
  let answer: Response;
  try {
    answer = await guard.fetch(url, { headers: { accept: "application/json" } });
  } catch (error) {
    throw new LoginError({ server: id, step, what: messageOf(error), remedy: CHECK_URL, cause: error });
  }
  if (answer.status >= 400 && answer.status < 500) return undefined;
  const fail = (what: string): LoginError => new LoginError({ server: id, step, what, remedy: ASK_OWNER });
  if (answer.status !== 200) throw fail(`the answer is HTTP ${answer.status}`);
  try {
    const value: unknown = JSON.parse(await answer.text());
    if (isRecord(value)) return value;
  } catch {
    // Falls through: the same complaint for everything that is no object.
  }
  throw fail("the answer is not a JSON object");
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
