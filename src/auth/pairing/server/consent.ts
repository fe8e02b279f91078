/**
 * The authorization endpoint: asks a person whether a client may use the gateway.
 *
 * The request waits in a sealed ticket on the page, not in memory, so nobody can fill the memory
 * with requests. The ticket belongs to the browser that asked: its cookie must come back with it.
 * Until the client and its redirect URI are known to belong together, nothing is sent there.
 */
import { createHash, randomBytes } from "node:crypto";
import { SealedTexts } from "../../../lib/crypto/sealed-texts.ts";
import { cookieIn } from "../../../lib/text/cookie.ts";
import { tryCode } from "../codes.ts";
import type { LiveBook } from "../live-book.ts";
import type { AuthorizationCodes } from "./authorization-codes.ts";
import type { Browsers } from "./browsers.ts";
import type { Clients } from "./oauth-clients.ts";
import { OAuthProblem } from "./oauth-problem.ts";
import { consentPage, problemPage } from "./page.ts";
import { Rate } from "./rates.ts";
import { isRegistered, redirectHost, redirectSource, withParameters } from "./redirects.ts";
import type { Resources } from "./resources.ts";

export interface ConsentOptions {
  readonly issuer: string;
  readonly book: LiveBook;
  readonly browsers: Browsers;
  readonly clients: Clients;
  readonly codes: AuthorizationCodes;
  readonly resources: Resources;
  /** The names of the gateway's profiles now. */
  readonly profiles: () => readonly string[];
  readonly now: () => number;
  readonly refused: (reason: string) => void;
}

/** An authorization request that waits for a person. */
interface Ticket {
  readonly clientId: string;
  readonly clientName: string;
  readonly publishedBy: string | undefined;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly challenge: string;
  readonly resource: string;
  /** The only profile that the client asks for; undefined: the person chooses. */
  readonly profile: string | undefined;
  /** The only server that the client asks for. */
  readonly server: string | undefined;
  readonly expiresAt: number;
  /** The digest of the browser's cookie. */
  readonly browser: string;
}

const TICKET_MS = 10 * 60_000;
const WRONG = "That is not the code, or it is not valid any more. Run goblin pair again if in doubt.";
const GONE = "There is no such profile any more.";
const TOO_FAST = "Too many attempts. Wait a minute.";
const SCOPE = "mcp";

export class Consent {
  readonly #options: ConsentOptions;
  readonly #tickets: SealedTexts<Ticket>;
  readonly #attempts: Rate;
  readonly #cookieName: string;

  constructor(options: ConsentOptions) {
    this.#options = options;
    this.#tickets = new SealedTexts(options.book.store.derive("tickets"), "goblin pairing ticket", options.now);
    this.#attempts = new Rate({ perNetwork: 10, total: 60, now: options.now });
    // Browsers refuse this prefix without TLS.
    this.#cookieName = options.issuer.startsWith("https:") ? "__Host-goblin-pairing" : "goblin-pairing";
  }

  /** Shows the page. */
  async ask(request: Request, network: string): Promise<Response> {
    const { searchParams: given } = new URL(request.url);
    const twice = [...given.keys()].find((name) => name !== "resource" && given.getAll(name).length > 1);
    if (twice !== undefined) return problemPage("The client sent a parameter twice");
    const redirectUri = given.get("redirect_uri") ?? "";
    let client: Awaited<ReturnType<Clients["find"]>>;
    try {
      client = await this.#options.clients.find(given.get("client_id") ?? "", network);
    } catch (error) {
      if (error instanceof OAuthProblem) return problemPage(error.message, error.status);
      throw error;
    }
    if (!isRegistered(client.redirectUris, redirectUri)) {
      this.#options.refused(`a client asks to be answered at an address that it did not register`);
      return problemPage("The client asks to be answered at an address that it did not register");
    }
    const state = given.get("state") ?? undefined;
    try {
      const browser = this.#cookieOf(request) ?? randomBytes(32).toString("base64url");
      const ticket: Ticket = {
        clientId: client.id,
        clientName: client.name,
        publishedBy: client.host,
        redirectUri,
        state,
        challenge: checkedChallenge(given),
        ...this.#options.resources.named(given.getAll("resource")),
        expiresAt: this.#options.now() + TICKET_MS,
        browser: digestOf(browser),
      };
      return this.#page(ticket, { cookie: this.#cookie(browser) });
    } catch (error) {
      if (!(error instanceof OAuthProblem)) throw error;
      // Anybody can register an address. So the browser goes there only if the person wants it to.
      const told = { error: error.code, error_description: error.message, state };
      return problemPage(error.message, 400, {
        to: this.#answerUri(redirectUri, told),
        host: redirectHost(redirectUri),
      });
    }
  }

  /** Takes the person's answer. */
  async answer(request: Request, form: URLSearchParams, network: string): Promise<Response> {
    const origin = request.headers.get("origin");
    const site = request.headers.get("sec-fetch-site");
    const isOwn = origin === null || origin === new URL(this.#options.issuer).origin;
    const ticket = isOwn && (site === null || site === "same-origin") ? this.#open(request, form) : undefined;
    if (!ticket) return problemPage("This page is too old, or was opened in another browser");
    const { redirectUri, state, clientId, challenge, resource, server } = ticket;
    if (form.get("choice") !== "allow") {
      return this.#leave(redirectUri, { error: "access_denied", error_description: "The person said no", state });
    }
    const chosen = server === undefined ? form.get("profile") || undefined : undefined;
    const profile = ticket.profile ?? chosen;
    if (profile !== undefined && !this.#options.profiles().includes(profile)) {
      return this.#page(ticket, { status: 400, problem: GONE });
    }
    if (!this.#attempts.pass(network)) return this.#page(ticket, { status: 429, problem: TOO_FAST });
    const { book, issuer, now, codes } = this.#options;
    const grant = randomBytes(6).toString("hex");
    const result = await tryCode(book.store, { issuer, typed: form.get("code") ?? "", grant, now: now() });
    if (result === "wrong") {
      this.#options.refused("somebody typed a wrong code on the pairing page");
      return this.#page(ticket, { status: 403, problem: WRONG });
    }
    const clientHost = redirectHost(redirectUri);
    const base = { grant, clientId, clientName: ticket.clientName, clientHost, scope: SCOPE };
    const code = codes.make({ ...base, redirectUri, challenge, resource, profile, server });
    const cookie = this.#options.browsers.cookie(grant, request.headers.get("cookie"));
    return this.#leave(redirectUri, { code, state }, { "set-cookie": cookie });
  }

  #page(ticket: Ticket, { status, problem, cookie }: { status?: number; problem?: string; cookie?: string }): Response {
    const view = {
      clientName: ticket.clientName,
      publishedBy: ticket.publishedBy,
      redirectHost: redirectHost(ticket.redirectUri),
      gateway: new URL(this.#options.issuer).host,
      profile: ticket.profile,
      server: ticket.server,
      profiles: this.#options.profiles(),
      ticket: this.#tickets.seal(ticket),
      problem,
    };
    const headers = cookie === undefined ? {} : { "set-cookie": cookie };
    return consentPage(view, { status, formTarget: redirectSource(ticket.redirectUri), headers });
  }

  /** Sends the browser back to the client. It says who answers (RFC 9207). */
  #leave(
    redirectUri: string,
    parameters: Readonly<Record<string, string | undefined>>,
    more: Readonly<Record<string, string>> = {},
  ): Response {
    const location = this.#answerUri(redirectUri, parameters);
    // With 303 a browser does not send the form, and the code in it, to the client.
    const headers = { ...more, location, "cache-control": "no-store", "referrer-policy": "no-referrer" };
    return new Response(null, { status: 303, headers });
  }

  #answerUri(redirectUri: string, parameters: Readonly<Record<string, string | undefined>>): string {
    return withParameters(redirectUri, { ...parameters, iss: this.#options.issuer });
  }

  #open(request: Request, form: URLSearchParams): Ticket | undefined {
    const cookie = this.#cookieOf(request);
    const ticket = this.#tickets.open(form.get("ticket") ?? "");
    if (!ticket || ticket === "expired" || cookie === undefined) return undefined;
    return ticket.browser === digestOf(cookie) ? ticket : undefined;
  }

  #cookie(value: string): string {
    const secure = this.#options.issuer.startsWith("https:") ? "; Secure" : "";
    return `${this.#cookieName}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${TICKET_MS / 1000}${secure}`;
  }

  #cookieOf(request: Request): string | undefined {
    const found = cookieIn(request.headers.get("cookie"), this.#cookieName);
    return found !== undefined && /^[\w-]{43}$/.test(found) ? found : undefined;
  }
}

/** Checks what a request must say besides who asks, and returns the PKCE challenge. */
function checkedChallenge(given: URLSearchParams): string {
  if (given.has("request") || given.has("request_uri")) {
    throw new OAuthProblem("request_not_supported", "Request objects are not supported");
  }
  if (given.get("response_type") !== "code") {
    throw new OAuthProblem("unsupported_response_type", "response_type must be code");
  }
  if ((given.get("response_mode") ?? "query") !== "query") {
    throw new OAuthProblem("invalid_request", "response_mode must be query");
  }
  if (given.get("code_challenge_method") !== "S256") {
    throw new OAuthProblem("invalid_request", "code_challenge_method must be S256");
  }
  const challenge = given.get("code_challenge") ?? "";
  if (/^[\w-]{43}$/.test(challenge)) return challenge;
  throw new OAuthProblem("invalid_request", "code_challenge must be the SHA-256 of the verifier in base64url");
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
