/**
 * Who asks to be let in: a client that published a metadata document (its id is the document's
 * address), or one that registered itself (RFC 7591).
 *
 * A document is fetched from a public https address only, so that nobody can use the gateway to
 * reach its network. Stored registrations are bounded: those that no person ever let in end after a
 * day, and make room for newer ones before. When there is no room, or too many come, the client id
 * itself holds the registration, sealed, and nothing is stored. So a flood of strangers costs no
 * memory, and does not keep the owner's client out, even if all come from the address of a tunnel.
 */
import { randomBytes } from "node:crypto";
import { SealedTexts } from "../../../lib/crypto/sealed-texts.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { clean } from "../../../lib/text/clean.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Guard } from "../../login/guarded-fetch.ts";
import type { LiveBook } from "../live-book.ts";
import type { RegisteredClient } from "../store.ts";
import { OAuthProblem } from "./oauth-problem.ts";
import { Rate } from "./rates.ts";
import { redirectHost, redirectProblem } from "./redirects.ts";

export interface OAuthClient {
  readonly id: string;
  /** What it calls itself, in printable characters. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The host of its metadata document, which proves that the name is that host's. */
  readonly host?: string | undefined;
}

export interface ClientsOptions {
  readonly book: LiveBook;
  readonly guard: Guard;
  readonly now: () => number;
  /** Logs why a client was refused, for the operator. */
  readonly refused: (reason: string) => void;
}

/** What a client id holds if the registration is not stored. */
interface SealedClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly expiresAt: number;
}

const MAX_URIS = 10;
const MAX_NAME = 80;
const MAX_ID = 2000;
const MAX_DOCUMENT = 64 * 1024;
const KNOWN_MS = 5 * 60_000;
const MAX_KNOWN = 200;
const MAX_UNUSED = 100;
const MAX_CLIENTS = 1000;
const UNUSED_MS = 24 * 3_600_000;
/** A registration that is younger is not pushed out by others. */
const SAFE_MS = 10 * 60_000;
const USED_MS = 180 * 24 * 3_600_000;

export class Clients {
  readonly #options: ClientsOptions;
  readonly #documents = new Map<string, { readonly client: Promise<OAuthClient>; readonly until: number }>();
  readonly #fetches: Rate;
  readonly #registrations: Rate;
  readonly #sealed: SealedTexts<SealedClient>;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#fetches = new Rate({ perNetwork: 20, total: 120, now: options.now });
    this.#registrations = new Rate({ perNetwork: 10, total: 60, now: options.now });
    this.#sealed = new SealedTexts(options.book.store.derive("clients"), "goblin pairing client", options.now);
  }

  /** Rejects with an `OAuthProblem`. */
  async find(id: string, network: string): Promise<OAuthClient> {
    if (id.length > MAX_ID) throw new OAuthProblem("invalid_client", "The client id is too long");
    if (/^https?:\/\//i.test(id)) return this.#document(id, network);
    const { book } = this.#options;
    const known = (): RegisteredClient | undefined => book.current.clients.find((one) => one.id === id);
    const found = known() ?? ((await book.catchUp()) ? known() : undefined);
    if (found) return found;
    const sealed = this.#sealed.open(id);
    if (sealed && sealed !== "expired") return { id, name: sealed.name, redirectUris: sealed.redirectUris };
    throw new OAuthProblem(
      "invalid_client",
      "This client is not registered here any more; add the gateway to it again",
    );
  }

  /** Registers a client; the answer is that of RFC 7591. Rejects with an `OAuthProblem`. */
  async register(metadata: unknown, network: string): Promise<object> {
    const { name, redirectUris } = readMetadata(metadata, "invalid_redirect_uri");
    const now = this.#options.now();
    const stored = this.#registrations.pass(network)
      ? await this.#store({ name, redirectUris, createdAt: now })
      : undefined;
    const id = stored ?? this.#sealed.seal({ name, redirectUris, expiresAt: now + USED_MS });
    if (id.length > MAX_ID) throw tooMany();
    return {
      client_id: id,
      client_id_issued_at: Math.floor(now / 1000),
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  /** Returns the id of the stored registration; undefined if there is no room for it. */
  async #store(client: Omit<RegisteredClient, "id">): Promise<string | undefined> {
    const made: RegisteredClient = { id: randomBytes(12).toString("base64url"), ...client };
    let isStored = false;
    await this.#options.book.change((book) => {
      const kept = withRoom(book.clients, client.createdAt);
      isStored = kept !== undefined;
      return kept ? { ...book, clients: [...kept, made] } : book;
    });
    return isStored ? made.id : undefined;
  }

  #document(id: string, network: string): Promise<OAuthClient> {
    const now = this.#options.now();
    const known = this.#documents.get(id);
    if (known && known.until > now) return known.client;
    if (!this.#fetches.pass(network)) throw tooMany();
    const client = this.#fetch(id);
    this.#documents.delete(id);
    for (const [oldest] of this.#documents) {
      if (this.#documents.size < MAX_KNOWN) break;
      this.#documents.delete(oldest);
    }
    this.#documents.set(id, { client, until: now + KNOWN_MS });
    // A failure may be over the next time.
    client.catch(() => this.#documents.delete(id));
    return client;
  }

  async #fetch(id: string): Promise<OAuthClient> {
    const fail = (why: string): OAuthProblem => new OAuthProblem("invalid_client", `The client's document ${why}`);
    let url: URL;
    let text: string;
    try {
      url = documentUrl(id, this.#options.guard);
      const answer = await this.#options.guard.fetch(id, { headers: { accept: "application/json" } });
      if (answer.status !== 200) throw fail(`answers with HTTP ${answer.status}`);
      if (!/^application\/([\w.-]+\+)?json\b/i.test(answer.headers.get("content-type") ?? ""))
        throw fail("is not JSON");
      text = await answer.text();
    } catch (error) {
      if (error instanceof OAuthProblem) throw error;
      // Which addresses of this network exist is nobody's business.
      this.#options.refused(`the document of a client cannot be read: ${messageOf(error)}`);
      throw fail("cannot be read");
    }
    if (text.length > MAX_DOCUMENT) throw fail("is too large");
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      throw fail("is not JSON");
    }
    if (!isRecord(document) || document["client_id"] !== id) throw fail("is for another client id");
    return { id, ...readMetadata(document, "invalid_client"), host: url.host };
  }
}

/** The address of a document has a path, and nothing that could be read in two ways. */
function documentUrl(id: string, guard: Guard): URL {
  const url = guard.check(id);
  if (url.href === id && url.pathname !== "/" && !/[#\\]/.test(id)) return url;
  throw new OAuthProblem("invalid_client", "The client's document has no valid address");
}

type UriCode = "invalid_redirect_uri" | "invalid_client";

function readMetadata(metadata: unknown, code: UriCode): { name: string; redirectUris: readonly string[] } {
  const wrong = (why: string): OAuthProblem =>
    new OAuthProblem(code === "invalid_client" ? code : "invalid_client_metadata", why);
  if (!isRecord(metadata)) throw wrong("The metadata must be a JSON object");
  const { redirect_uris: uris, client_name: name, grant_types: grants, response_types: types } = metadata;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_URIS) {
    throw new OAuthProblem(code, `redirect_uris must have 1 to ${MAX_URIS} entries`);
  }
  for (const uri of uris as unknown[]) {
    const problem = typeof uri === "string" ? redirectProblem(uri) : "is not a text";
    if (problem !== undefined) throw new OAuthProblem(code, `A redirect URI ${problem}`);
  }
  if (grants !== undefined && !(Array.isArray(grants) && grants.includes("authorization_code"))) {
    throw wrong("grant_types must have authorization_code");
  }
  if (types !== undefined && !(Array.isArray(types) && types.includes("code"))) {
    throw wrong("response_types must have code");
  }
  const shown = typeof name === "string" ? clean(name).trim().slice(0, MAX_NAME) : "";
  const [first] = uris as [string];
  return { name: shown === "" ? redirectHost(first) : shown, redirectUris: uris as string[] };
}

/**
 * Drops registrations that ended, and an old unused one if there are too many. Returns undefined if
 * there is no room.
 */
function withRoom(clients: readonly RegisteredClient[], now: number): RegisteredClient[] | undefined {
  const isCurrent = ({ createdAt, usedAt }: RegisteredClient): boolean =>
    usedAt === undefined ? now - createdAt < UNUSED_MS : now - usedAt < USED_MS;
  const kept = clients.filter(isCurrent);
  const unused = kept.filter(({ usedAt }) => usedAt === undefined);
  if (unused.length < MAX_UNUSED && kept.length < MAX_CLIENTS) return kept;
  const [oldest] = unused;
  if (!oldest || now - oldest.createdAt < SAFE_MS) return undefined;
  return kept.filter((one) => one !== oldest);
}

function tooMany(): OAuthProblem {
  return new OAuthProblem("temporarily_unavailable", "Too many requests; try again in a minute", 429);
}
