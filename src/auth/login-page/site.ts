/**
 * The page where people log in to servers, under `/connect/` of the gateway: the list behind a
 * link, the way to an authorization server, and the redirect back.
 *
 * A page shows and does only what the link's principal may. Where the gateway needs credentials,
 * the person must prove once that this principal is theirs: a link alone, passed on to somebody
 * else, opens nothing. Whatever changes something comes from this page itself (the Origin header).
 */

import { type Page, styleResponse } from "../../lib/html/page.ts";
import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { BoundedMap } from "../../lib/structures/bounded-map.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { ANYONE, type Principal } from "../../mcp/protocol/principal.ts";
import { LoginError } from "../login/login-error.ts";
import { Attempts } from "./attempts.ts";
import type { ConnectOptions } from "./connect.ts";
import { Identity } from "./identity.ts";
import type { Links, PageLink } from "./links.ts";
import { leavePage, listPage, type Note, notePage } from "./page.ts";
import { answer, at, redirect } from "./responses.ts";
import { type Visit, Visits } from "./visits.ts";

export interface SiteOptions extends ConnectOptions {
  readonly links: Links;
  readonly base: URL;
}

/** A login that a form asks for. */
interface Begun {
  readonly visit: Visit;
  readonly who: Principal;
  readonly link: PageLink;
  readonly path: string;
  readonly serverId: string;
}

const MAX_FORM = 16 * 1024;
const MAX_NOTES = 500;
const AGAIN = "Make the call again to get a new one.";

export class Site {
  readonly #options: SiteOptions;
  readonly #visits: Visits;
  readonly #identity: Identity;
  readonly #attempts = new Attempts();
  /** What a browser is told on its next page. */
  readonly #notes = new BoundedMap<string, Note>(MAX_NOTES);

  constructor(options: SiteOptions) {
    this.#options = options;
    this.#visits = new Visits(options.logins.keyFor("connect"));
    this.#identity = new Identity(options, this.#visits);
  }

  /** `path`: what follows `/connect/`. */
  async serve(request: Request, path: string): Promise<Response> {
    const { method } = request;
    if (method !== "GET" && method !== "POST")
      return new Response(null, { status: 405, headers: { allow: "GET, POST" } });
    if (path === "style.css") return styleResponse();
    const document = /^client\/([\w-]{16})\.json$/.exec(path);
    if (document) return this.#describe(document[1]!);
    if (/^callback(\/[\w-]{16})?$/.test(path)) return this.#callback(request, path);
    if (path === "identity") return this.#identity.callback(request, this.#visitOf(request));
    const link = this.#options.links.open(path);
    if (link === "expired") return answer(410, notePage("This link has expired", AGAIN));
    if (!link) return answer(404, notePage("This link is not valid", AGAIN));
    return method === "GET" ? this.#show(request, link, path) : this.#act(request, link, path);
  }

  /**
   * The client metadata document: who the gateway is, for an authorization server that reads one.
   * Each has its own, with a redirect URL of its own.
   */
  #describe(tag: string): Response {
    const { base } = this.#options;
    const document = {
      client_id: at(base, `client/${tag}.json`),
      client_name: "Goblin",
      client_uri: base.href,
      redirect_uris: [at(base, `callback/${tag}`)],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
    return Response.json(document, { headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
  }

  #show(request: Request, link: PageLink, path: string): Response | Promise<Response> {
    const visit = this.#visitOf(request);
    if (link.principal !== "") {
      const who = this.#whoIs(visit, link);
      if (!who) return this.#identity.ask(request, { link, path, visit });
      return answer(200, this.#list(who, link, this.#noteFor(visit!)));
    }
    if (!this.#options.admits(ANYONE)) return answer(403, notePage("This link is not valid any more", AGAIN));
    if (visit) return answer(200, this.#list(ANYONE, link, this.#noteFor(visit)));
    return answer(200, this.#list(ANYONE, link, undefined), this.#keep(this.#visits.begin("")));
  }

  async #act(request: Request, link: PageLink, path: string): Promise<Response> {
    const { base } = this.#options;
    if (request.headers.get("origin") !== base.origin) {
      return answer(403, notePage("Not from here", "This request came from another page. Open the link again."));
    }
    const body = await readBounded(request.body, MAX_FORM);
    if (!body) return answer(413, notePage("Too much", "The form is too large."));
    const form = new URLSearchParams(body.toString("utf8"));
    const visit = this.#visitOf(request);
    const taken = link.principal === "" ? undefined : await this.#identity.take(request, form, { link, path, visit });
    if (taken) return taken;
    if (!visit)
      return answer(400, notePage("Cookies are needed", "Allow cookies for this page and open the link again."));
    const who = link.principal === "" ? this.#anyone() : this.#whoIs(visit, link);
    if (!who) return this.#identity.ask(request, { link, path, visit });
    return this.#begin({ visit, who, link, path, serverId: form.get("server") ?? "" });
  }

  async #begin(given: Begun): Promise<Response> {
    const { logins, base, metadataUrl } = this.#options;
    const { visit, who, link, path, serverId } = given;
    try {
      const attempt = await logins.begin(serverId, {
        // A hidden server gets the same answer as one that does not exist.
        owners: isVisible(serverId, link) ? this.#ownersFor(who) : [],
        redirectUri: at(base, "callback"),
        metadataUrl: metadataUrl(),
        documentFor: base.protocol === "https:" ? (tag) => at(base, `client/${tag}.json`) : undefined,
      });
      if (!attempt)
        return answer(200, this.#list(who, link, { text: "This server asks for no login now.", isBad: false }));
      this.#attempts.add({ attempt, serverId, visitId: visit.id, principal: who.id, link: path });
      return answer(200, leavePage(`Log in to ${serverId}`, attempt.url));
    } catch (error) {
      return answer(200, this.#list(who, link, problem(error)));
    }
  }

  async #callback(request: Request, path: string): Promise<Response> {
    const { base, logins } = this.#options;
    const { search, searchParams } = new URL(request.url);
    const visit = this.#visitOf(request);
    const begun = visit && this.#attempts.take(searchParams.get("state") ?? "", visit.id);
    if (!begun) {
      const text = "It was not begun in this browser, took too long, or is over already. Open the link again.";
      return answer(400, notePage("This login cannot be finished", text));
    }
    let note: Note = { text: `Logged in to ${begun.serverId}.`, isBad: false };
    try {
      await begun.attempt.finish(new URL(`${at(base, path)}${search}`));
      await logins.load();
    } catch (error) {
      note = problem(error);
    }
    this.#notes.set(visit.id, note);
    return redirect(at(base, begun.link));
  }

  #list(who: Principal, link: PageLink, note: Note | undefined): Page {
    const owners = this.#ownersFor(who);
    const rows = this.#options.logins.waiting(owners).filter(({ id }) => isVisible(id, link));
    return listPage(
      rows,
      { name: who.name, note },
      rows.some(({ isShared }) => isShared),
    );
  }

  /** The owners of the logins that a person may make: their own, and the gateway's. */
  #ownersFor(who: Principal): string[] {
    const own = this.#options.logins.ownerOf(who.id);
    return [...(own === undefined ? [] : [own]), ...(this.#options.administers(who) ? [""] : [])];
  }

  /** The link's principal, if this is their browser. */
  #whoIs(visit: Visit | undefined, link: PageLink): Principal | undefined {
    if (!visit || visit.principal !== link.principal) return undefined;
    const who = { ...ANYONE, id: link.principal, name: link.name, isAdmin: visit.isAdmin === true };
    return this.#options.admits(who) ? who : undefined;
  }

  #anyone(): Principal | undefined {
    return this.#options.admits(ANYONE) ? ANYONE : undefined;
  }

  #visitOf(request: Request): Visit | undefined {
    return this.#visits.read(request.headers.get("cookie"), this.#options.base);
  }

  #noteFor(visit: Visit): Note | undefined {
    const note = this.#notes.get(visit.id);
    this.#notes.delete(visit.id);
    return note;
  }

  #keep(visit: Visit): Record<string, string> {
    return { "set-cookie": this.#visits.cookie(visit, this.#options.base) };
  }
}

function isVisible(serverId: string, { servers }: PageLink): boolean {
  return servers === undefined || servers.includes(serverId);
}

function problem(error: unknown): Note {
  // Other errors may hold what the page must not show.
  const text = error instanceof LoginError ? messageOf(error) : "The login failed. The gateway's log says why.";
  return { text, isBad: true };
}
