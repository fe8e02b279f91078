/**
 * The authorization server for one person: its metadata (RFC 8414) and endpoints as functions from
 * a request to a response. Loaded only if pairing is on.
 *
 * The caller has checked the Host header, and the Origin of all requests but those of the page.
 */
import { styleResponse } from "../../../lib/html/page.ts";
import { readBounded } from "../../../lib/http-client/read-bounded.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import { createPublicGuard } from "../../login/guarded-fetch.ts";
import { Grants } from "../grants.ts";
import type { LiveBook } from "../live-book.ts";
import { AuthorizationCodes } from "./authorization-codes.ts";
import { Browsers } from "./browsers.ts";
import { Consent } from "./consent.ts";
import { SigningKeys } from "./keys.ts";
import { Clients } from "./oauth-clients.ts";
import { OAuthProblem } from "./oauth-problem.ts";
import { problemPage } from "./page.ts";
import { RefreshTokens } from "./refresh-tokens.ts";
import { Resources } from "./resources.ts";
import { TokenEndpoint } from "./token-endpoint.ts";

export interface AuthorizationServerOptions {
  readonly issuer: string;
  readonly book: LiveBook;
  /** Hosts of clients' documents that may be private. */
  readonly privateHosts: readonly string[];
  /** The names of the gateway's profiles now. */
  readonly profiles: () => readonly string[];
  readonly now: () => number;
  /** Logs why something was refused, for the operator. Never called with a token or a code. */
  readonly refused: (reason: string) => void;
}

type Handler = (request: Request, network: string) => Response | Promise<Response>;

const MAX_BODY = 64 * 1024;
const OPEN = { "access-control-allow-origin": "*" };

export class AuthorizationServer {
  readonly issuer: string;
  readonly grants: Grants;
  readonly browsers: Browsers;
  readonly #book: LiveBook;
  readonly #keys: SigningKeys;
  readonly #resources: Resources;
  readonly #routes: ReadonlyMap<string, Handler>;

  constructor(options: AuthorizationServerOptions) {
    const { issuer, book, now, refused, privateHosts, profiles } = options;
    this.issuer = issuer;
    this.#book = book;
    this.grants = new Grants({ book, issuer, now });
    this.#keys = new SigningKeys(book, now);
    this.#resources = new Resources(issuer, profiles);
    const codes = new AuthorizationCodes(book, now);
    const clients = new Clients({ book, now, refused, guard: createPublicGuard(privateHosts) });
    const { store } = book;
    const refreshTokens = new RefreshTokens({ chain: store.derive("refresh"), tag: store.derive("tag") });
    const shared = { issuer, codes, now, refused, resources: this.#resources };
    this.browsers = new Browsers({ issuer, now, key: store.derive("browsers") });
    const consent = new Consent({ ...shared, book, clients, profiles, browsers: this.browsers });
    const tokens = new TokenEndpoint({ ...shared, refreshTokens, grants: this.grants, keys: this.#keys });
    this.#routes = new Map<string, Handler>([
      ["GET /oauth/authorize", (request, network) => consent.ask(request, network)],
      ["POST /oauth/authorize", async (request, network) => consent.answer(request, await readForm(request), network)],
      ["POST /oauth/token", async (request) => tokens.issue(await readForm(request))],
      ["POST /oauth/revoke", async (request) => tokens.revoke(await readForm(request))],
      [
        "POST /oauth/register",
        async (request, network) => {
          const made = await clients.register(await readJson(request), network);
          return Response.json(made, { status: 201, headers: { "cache-control": "no-store" } });
        },
      ],
      ["GET /oauth/jwks", () => Response.json(this.#keys.published(), { headers: OPEN })],
      ["GET /oauth/page.css", styleResponse],
    ]);
  }

  async fetch(request: Request, network: string): Promise<Response> {
    const { pathname } = new URL(request.url);
    const isPage = pathname === "/oauth/authorize";
    try {
      if (pathname.startsWith("/.well-known/")) return this.#metadata(pathname);
      const handler = this.#routes.get(`${request.method} ${pathname}`);
      if (handler) return await handler(request, network);
      throw new OAuthProblem("invalid_request", "There is nothing here for this method", isPage ? 405 : 404);
    } catch (error) {
      if (!(error instanceof OAuthProblem)) throw error;
      return isPage ? problemPage(error.message, error.status) : error.toResponse();
    }
  }

  /** Returns the claims of an access token of a grant that has not ended. Rejects any other. */
  async verify(token: string): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#verify(token);
    } catch (error) {
      // Another replica may have let the client in a moment ago.
      if (!(await this.#book.catchUp())) throw error;
      return this.#verify(token);
    }
  }

  async #verify(token: string): Promise<Readonly<Record<string, unknown>>> {
    const claims = await this.#keys.verify(token, { issuer: this.issuer, audience: [...this.#resources.all] });
    const grant = this.grants.find(claims.sub!);
    if (grant?.clientId !== claims["client_id"])
      throw new Error(`a token is of the grant ${claims.sub}, which has ended`);
    return {
      ...claims,
      preferred_username: `${grant!.clientHost}/${grant!.id}`,
      profile: grant!.profile,
      server: grant!.server,
    };
  }

  #metadata(pathname: string): Response {
    const { issuer } = this;
    const path = new URL(issuer).pathname.replace(/\/$/, "");
    const suffix = pathname.replace(/^\/\.well-known\/[^/]+/, "");
    if (suffix !== "" && suffix !== path)
      throw new OAuthProblem("invalid_request", "There is no such issuer here", 404);
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      registration_endpoint: `${issuer}/oauth/register`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      jwks_uri: `${issuer}/oauth/jwks`,
      scopes_supported: ["mcp"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    };
    return Response.json(metadata, { headers: OPEN });
  }
}

async function readForm(request: Request): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new OAuthProblem("invalid_request", "The body must be application/x-www-form-urlencoded");
  }
  return new URLSearchParams(await readText(request));
}

async function readJson(request: Request): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new OAuthProblem("invalid_client_metadata", "The body must be application/json");
  }
  const text = await readText(request);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OAuthProblem("invalid_client_metadata", `The body is not valid JSON: ${messageOf(error)}`);
  }
}

async function readText(request: Request): Promise<string> {
  const body = await readBounded(request.body, MAX_BODY);
  if (!body) throw new OAuthProblem("invalid_request", "The body is too large", 413);
  return body.toString("utf8");
}
