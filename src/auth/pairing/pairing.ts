/**
 * Pairing as the gateway sees it: lets the clients of one person in, without an identity provider.
 *
 * Costs nothing while it is off: the authorization server and its store load when a config with
 * pairing does. If the store cannot be used, nobody is let in.
 */
import { EventEmitter } from "node:events";
import { Throttle } from "../../lib/timing/throttle.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { Unavailable } from "../identity/issuer-metadata.ts";
import type { SharedPlaces } from "../secrets/shared/shared-place.ts";
import type { LiveBook } from "./live-book.ts";
import type { AuthorizationServer } from "./server/authorization-server.ts";
import type { Grant } from "./store.ts";

export interface PairingOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (message: string) => void;
  /** Hosts of clients' documents that may be private. */
  readonly privateHosts?: readonly string[];
  /** Where the grants of all replicas are. */
  readonly books?: SharedPlaces | undefined;
}

export interface PairingConfig {
  readonly publicUrl?: string | undefined;
  readonly auth: { readonly pairing?: boolean };
  /** The names of the profiles that a client can be limited to. */
  readonly profiles?: readonly string[];
}

interface Loaded {
  readonly book: LiveBook;
  readonly server: AuthorizationServer;
}

/** The issuer of a gateway's own tokens: its public URL, without a slash at the end. */
export function issuerOf({ publicUrl, auth }: PairingConfig): string | undefined {
  return auth.pairing ? publicUrl?.replace(/\/$/, "") : undefined;
}

/** Emits `ended` when a grant may have ended. */
export class Pairing extends EventEmitter<{ ended: [] }> {
  readonly #options: PairingOptions;
  #issuer: string | undefined;
  #profiles: readonly string[] = [];
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;

  constructor(options: PairingOptions) {
    super();
    this.#options = options;
  }

  /** Undefined while pairing is off. */
  get issuer(): string | undefined {
    return this.#issuer;
  }

  /** Turns pairing on or off, as a config says. */
  apply(config: PairingConfig): void {
    const issuer = issuerOf(config);
    this.#profiles = config.profiles ?? [];
    if (issuer === this.#issuer) return;
    this.close();
    this.#issuer = issuer;
    if (issuer !== undefined) this.#load(issuer).catch((error) => this.#options.warn(unusable(error)));
  }

  /** Rejects a token that is not of a grant. */
  async verify(token: string): Promise<Readonly<Record<string, unknown>>> {
    let server: AuthorizationServer;
    try {
      server = await this.#server();
    } catch (error) {
      throw new Unavailable(unusable(error));
    }
    return server.verify(token);
  }

  /** Whether a grant has not ended. Until the store is read, nobody knows of one that has. */
  isLive(grant: string): boolean {
    return this.#loaded === undefined || this.#loaded.server.grants.find(grant) !== undefined;
  }

  /** The grants of this gateway that have not ended. Rejects while pairing is off. */
  async grants(): Promise<readonly Grant[]> {
    return (await this.#server()).grants.list();
  }

  /** Ends a grant, and returns it; undefined: there is none. */
  async revoke(id: string): Promise<Grant | undefined> {
    const { grants } = await this.#server();
    const grant = grants.find(id);
    if (grant) await grants.revoke(id);
    return grant;
  }

  /** Makes a code that lets one client in, and names the endpoint for it. */
  async newCode(): Promise<{ readonly code: string; readonly expiresAt: number; readonly url: string }> {
    const { issuer } = await this.#server();
    const [{ newCode }, { book }] = await Promise.all([import("./codes.ts"), this.#load(issuer)]);
    const { code, expiresAt } = await newCode(book.store, issuer, Date.now());
    return { code, expiresAt, url: `${issuer}/mcp` };
  }

  /** Whether the browser with these cookies let the client of this grant in. */
  async letIn(grant: string, cookies: string | null): Promise<boolean> {
    return (await this.#server()).browsers.letIn(grant, cookies);
  }

  /** Tries a code that the person of this grant typed. A right one is used up. */
  async tryCode(grant: string, typed: string): Promise<boolean> {
    const { issuer } = await this.#server();
    const [{ tryCode }, { book }] = await Promise.all([import("./codes.ts"), this.#load(issuer)]);
    return (await tryCode(book.store, { issuer, typed, grant, now: Date.now() })) === "accepted";
  }

  /** Serves the endpoints of the authorization server. */
  async fetch(request: Request, network: string): Promise<Response> {
    try {
      return await (await this.#server()).fetch(request, network);
    } catch (error) {
      this.#options.warn(`Pairing: ${messageOf(error)}`);
      return Response.json({ error: "server_error", error_description: "See the gateway's log" }, { status: 503 });
    }
  }

  close(): void {
    void this.#loading?.then(({ book }) => book.close()).catch(() => {});
    this.#loading = this.#loaded = this.#issuer = undefined;
  }

  async #server(): Promise<AuthorizationServer> {
    if (this.#issuer === undefined) throw new Error("pairing is off");
    return (await this.#load(this.#issuer)).server;
  }

  #load(issuer: string): Promise<Loaded> {
    if (this.#loading) return this.#loading;
    const loading = this.#open(issuer);
    this.#loading = loading;
    loading.then(
      (loaded) => {
        if (this.#loading !== loading) return;
        this.#loaded = loaded;
        // Grants may have ended while the gateway was down.
        this.emit("ended");
      },
      () => {
        // The next request tries again.
        if (this.#loading === loading) this.#loading = undefined;
      },
    );
    return loading;
  }

  async #open(issuer: string): Promise<Loaded> {
    const { env, warn, privateHosts = [], books } = this.#options;
    const [{ PairingStore }, { LiveBook }, { AuthorizationServer }] = await Promise.all([
      import("./store.ts"),
      import("./live-book.ts"),
      import("./server/authorization-server.ts"),
    ]);
    const store = await PairingStore.open(env);
    if (books) await store.share(books, warn);
    const book = await LiveBook.open(store, warn);
    // A flood of bad requests must not flood the log.
    const lines = new Throttle({ burst: 10, everyMs: 60_000 });
    const refused = (reason: string): void => {
      if (lines.pass() !== undefined) warn(`Pairing: ${reason}`);
    };
    const server = new AuthorizationServer({
      issuer,
      book,
      privateHosts,
      now: Date.now,
      refused,
      profiles: () => this.#profiles,
    });
    let before = book.current.grants;
    book.on("changed", () => {
      const ids = new Set(book.current.grants.map(({ id }) => id));
      const hasEnded = before.some(({ id }) => !ids.has(id));
      before = book.current.grants;
      if (hasEnded) this.emit("ended");
    });
    return { book, server };
  }
}

function unusable(error: unknown): string {
  return `Clients cannot be paired: ${messageOf(error)}`;
}
