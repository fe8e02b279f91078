/**
 * Logins for people who use the gateway through a client: links to the gateway's own page, and the
 * page itself, which loads when somebody opens it.
 *
 * The links lead to the gateway, never to an authorization server: the page there says where the
 * login happens.
 */

import { lazy } from "../../lib/structures/lazy.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { Logins } from "../login/logins.ts";
import { Links, type PageLink } from "./links.ts";
import type { OwnAddress } from "./own-address.ts";
import type { Proof } from "./proofs.ts";

export interface ConnectOptions {
  readonly logins: Logins;
  /** The configured address of a client metadata document. */
  readonly metadataUrl: () => string | undefined;
  /** Returns whether the gateway lets this principal in as a client. */
  readonly admits: (principal: Principal) => boolean;
  /** Returns whether this principal may change what all clients share. */
  readonly administers: (principal: Principal) => boolean;
  /** Returns the servers with a login that this principal may see; undefined: all. */
  readonly visibleServers: (principal: Principal) => readonly string[] | undefined;
  /** Returns the principal behind a token, as a client with it would be. */
  readonly identify: (token: string, host: string | undefined) => Promise<Principal | undefined>;
  /** Returns how a person shows that the principal of a link is theirs. */
  readonly proofOf: (link: Pick<PageLink, "principal" | "isAdmin">, base: URL) => Proof;
}

export interface GatewayAddress {
  /** The URL that people reach the gateway at; undefined: none. */
  readonly url: () => string | undefined;
  /** Whether the config names it: then a proxy may be in between. */
  readonly isPublic: () => boolean;
}

export class Connect {
  readonly #options: ConnectOptions;
  readonly #place: GatewayAddress;
  readonly #links: Links;
  readonly #load = lazy(() => import("./site.ts"));
  #own: Promise<OwnAddress> | undefined;
  /** The gateway's only client started it, and so belongs to the user of this machine. */
  #isAlone = false;
  #site: { readonly base: string; readonly serve: (request: Request, path: string) => Promise<Response> } | undefined;

  constructor(options: ConnectOptions, place: GatewayAddress) {
    this.#options = options;
    this.#place = place;
    this.#links = new Links(options.logins.keyFor("connect"));
  }

  /** Whether the gateway listens nowhere but to the client that started it. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** From now on the page has an address of its own: the gateway listens on none. */
  serveAlone(): void {
    this.#isAlone = true;
  }

  /**
   * Returns the link where this principal can log in to the server; undefined: it cannot, or there
   * is no address for the page.
   */
  link(who: Principal, serverId: string): string | undefined | Promise<string | undefined> {
    const owner = this.#options.logins.ownerFor(serverId, who.id);
    if (owner === undefined) return undefined;
    if (this.#isAlone)
      return this.#openOwn().then(
        ({ url }) => this.#linkAt(url, who),
        () => undefined,
      );
    const base = this.#place.url();
    if (base === undefined || (owner === "" && !this.#options.administers(who))) return undefined;
    return this.#linkAt(base, who);
  }

  async close(): Promise<void> {
    (await this.#own?.catch(() => undefined))?.close();
  }

  #linkAt(base: string, who: Principal): string {
    return `${base.replace(/\/$/, "")}/connect/${this.#links.make(who, this.#options.visibleServers(who))}`;
  }

  #openOwn(): Promise<OwnAddress> {
    this.#own ??= this.#loadOwn().catch((error) => {
      this.#own = undefined;
      throw error;
    });
    return this.#own;
  }

  async #loadOwn(): Promise<OwnAddress> {
    const [{ openOwnAddress }, { Site }] = await Promise.all([import("./own-address.ts"), this.#load()]);
    let site: { serve(request: Request, path: string): Promise<Response> } | undefined;
    const own: OwnAddress = await openOwnAddress((request) => {
      // Only the gateway's one client hands out links.
      const options = { ...this.#options, admits: () => true, administers: () => true };
      site ??= new Site({ ...options, links: this.#links, base: new URL(own.url) });
      return site.serve(request, pathOf(request));
    });
    return own;
  }

  /** Serves everything under `/connect/`. */
  async fetch(request: Request): Promise<Response> {
    const base = this.#place.url();
    if (base === undefined) return new Response(null, { status: 404 });
    const { pathname, host, search } = new URL(request.url);
    // Another name of this machine has other cookies.
    if (!this.#place.isPublic() && host !== new URL(base).host && request.method === "GET") {
      return new Response(null, { status: 303, headers: { location: new URL(pathname + search, base).href } });
    }
    const { Site } = await this.#load();
    if (this.#site?.base !== base) {
      const site = new Site({ ...this.#options, links: this.#links, base: new URL(base) });
      this.#site = { base, serve: (asked, rest) => site.serve(asked, rest) };
    }
    return this.#site.serve(request, pathOf(request));
  }
}

/** What follows `/connect/`. */
function pathOf({ url }: Request): string {
  return new URL(url).pathname.slice("/connect/".length);
}
