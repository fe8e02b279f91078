/**
 * Gives the client of a call to a server that needs a login the link where its user can log in.
 *
 * A client that can open links is asked to (the number `LINKS_REQUIRED`, which the fronts put into
 * the form of the client's version). Another one gets the link in words: in the result of a tool,
 * which its model reads, else in the error. When somebody has logged in, the clients that were
 * asked are told.
 */

import { randomUUID } from "node:crypto";
import { BoundedMap } from "../../../lib/structures/bounded-map.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { LINKS_REQUIRED } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, type ErrorAnswer, success } from "../../../mcp/protocol/json-rpc.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { Servers } from "../../../upstream/servers/servers.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

/** Makes the links. */
export interface LoginLinks {
  /** Undefined: this principal cannot log in to the server, or not on a page. */
  link(who: Principal, serverId: string): string | undefined | Promise<string | undefined>;
}

interface Offer {
  readonly serverId: string;
  readonly principal: string;
}

/** The data of an error, with the link. */
interface Linked extends Readonly<Record<string, unknown>> {
  readonly serverId: string;
  readonly url: string;
}

const DONE = "notifications/elicitation/complete";
const MAX_OFFERS = 1000;
/** The requests that a client may be asked in the middle of. */
const ASKABLE: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

export class LoginLink implements Stage {
  readonly #links: LoginLinks;
  readonly #servers: Servers;
  /** What sessions were asked to open, by id. Oldest first. */
  readonly #offers = new BoundedMap<string, Offer>(MAX_OFFERS);

  constructor(links: LoginLinks, servers: Servers) {
    this.#links = links;
    this.#servers = servers;
    servers.on("loggedIn", (serverId, owner) => this.#loggedIn(serverId, owner));
  }

  leave(flight: Flight, _route: Route | undefined, answer: Answer): Answer | Promise<Answer> {
    if (answer.ok || answer.symbol !== "LOGIN_REQUIRED" || answer.code === LINKS_REQUIRED) return answer;
    const error = recordOf(JSON.parse(answer.raw));
    const data = recordOf(error["data"]);
    const { serverId } = data;
    if (typeof serverId !== "string") return answer;
    const url = this.#links.link(flight.call.who, serverId);
    if (url === undefined) return answer;
    if (typeof url === "string") return this.#linked(flight, answer, { ...data, serverId, url });
    return url.then((made) =>
      made === undefined ? answer : this.#linked(flight, answer, { ...data, serverId, url: made }),
    );
  }

  #linked({ call }: Flight, answer: ErrorAnswer, linked: Linked): Answer {
    const { serverId, scopes, url } = linked;
    const more = Array.isArray(scopes) ? ` with more scopes (${scopes.join(" ")})` : "";
    const message = `Server "${serverId}" needs a login${more}`;
    const { client, method, links } = call;
    if (links !== "refused" && ASKABLE.has(method) && opensLinks(client.capabilities)) {
      const elicitationId = randomUUID();
      this.#offer(elicitationId, { serverId, principal: client.principal });
      if (client.hasSession) this.#servers.emit("linked", serverId, elicitationId, client);
      const elicitations = [{ mode: "url", elicitationId, url, message: `${message}. Log in on this page.` }];
      return withError(answer, LINKS_REQUIRED, { message, data: { ...linked, elicitations } });
    }
    const text = `${message}: the user must open ${url} and then repeat the request.`;
    if (method !== "tools/call") return withError(answer, answer.code, { message: text, data: linked });
    return success({ content: [{ type: "text", text }], isError: true, _meta: { "goblin/error": linked } });
  }

  #offer(id: string, offer: Offer): void {
    this.#offers.set(id, offer);
  }

  #loggedIn(serverId: string, owner: string): void {
    for (const [elicitationId, offer] of this.#offers) {
      if (offer.serverId !== serverId || (owner !== "" && owner !== offer.principal)) continue;
      this.#offers.delete(elicitationId);
      const params = JSON.stringify({ elicitationId });
      this.#servers.emit("notified", { serverId, method: DONE, params, to: "several" });
    }
  }
}

function opensLinks(capabilities: Readonly<Record<string, unknown>>): boolean {
  return recordOf(capabilities["elicitation"])["url"] !== undefined;
}

function withError(answer: ErrorAnswer, code: number, rest: Readonly<Record<string, unknown>>): ErrorAnswer {
  return { ...answer, code, raw: JSON.stringify({ code, ...rest }) };
}
