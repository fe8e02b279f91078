/**
 * The catalog as one principal sees it at one endpoint, entry by entry, with the reasons.
 *
 * Invariant: it only asks. The rules and profiles are those in use, which the file may not say any
 * more.
 */
import { endpointFor } from "../../../auth/access/endpoints.ts";
import type { Place, Principal, Visibility } from "../../../mcp/protocol/principal.ts";
import { createPolicy, type Policy, type Rule } from "../../../policy/policy.ts";
import type { Item } from "../../../policy/rule.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { FoundEntry } from "./find-entry.ts";

export interface SeenEntry {
  /** False: for this principal it does not exist. */
  readonly isVisible: boolean;
  readonly isListed: boolean;
  readonly why: string;
}

/** What the rules say about an entry. */
export interface Ruling {
  readonly isVisible: boolean;
  /** The rule that hides it; undefined: `policy.default` does. */
  readonly decidedBy: Rule | undefined;
}

export class SeenBy {
  readonly principal: Principal;
  /** Undefined if the endpoint does not exist for the principal. */
  readonly place: Place | undefined;
  /** Undefined if the config has no rules. */
  readonly policy: Policy | undefined;
  readonly #profile: string | undefined;
  readonly #parts: AdminParts;
  /** Server and own name of each tool that is listed. */
  #listed: ReadonlySet<string> | undefined;

  /** @throws ApiFailure if there is no such profile */
  constructor(principal: Principal, profile: string | undefined, parts: AdminParts) {
    const { profiles, policy, servers } = parts.config.current;
    if (profile !== undefined && !Object.hasOwn(profiles, profile))
      throw apiFailure("INVALID_PARAMS", `The config has no profile "${profile}"`);
    this.principal = principal;
    this.#profile = profile;
    this.#parts = parts;
    this.place = parts.access.placeOf(profile === undefined ? "" : endpointFor("p", profile), principal);
    this.policy = createPolicy(
      policy,
      servers.map(({ id }) => id),
    );
  }

  /** What limits the principal here, at the beginning of a sentence. */
  get #whose(): string {
    return this.#profile === undefined ? "the profiles of the principal do" : `the profile "${this.#profile}" does`;
  }

  /** Why the endpoint does not exist for the principal. */
  get absence(): string {
    return `the endpoint does not exist for this principal: ${this.#whose} not allow it`;
  }

  see(entry: FoundEntry, { isVisible, decidedBy }: Ruling): SeenEntry {
    if (!isVisible)
      return hidden(
        decidedBy ? `the rule ${decidedBy.name} hides it` : "policy.default is deny, and no rule allows it",
      );
    if (!this.place) return hidden(this.absence);
    const { visibility } = this.place;
    if (visibility && !isShown(entry, visibility)) return hidden(`${this.#whose} not show it`);
    if (entry.kind !== "tool" || this.#listedTools(visibility).has(keyOf(entry.serverId, entry.originalName)))
      return { isVisible: true, isListed: true, why: "nothing hides it" };
    return { isVisible: true, isListed: false, why: `clients find it by search: ${this.#exposedBy(entry)}` };
  }

  #listedTools(visibility: Visibility | undefined): ReadonlySet<string> {
    if (this.#listed) return this.#listed;
    const view = this.#parts.catalog.view({ key: "", principal: this.principal.id, visibility });
    const listed = view.tools.entries.filter((entry) => view.exposure.isListed(entry));
    this.#listed = new Set(listed.map(({ serverId, name }) => keyOf(serverId, name)));
    return this.#listed;
  }

  #exposedBy({ serverId }: FoundEntry): string {
    const { config, servers } = this.#parts;
    if (servers.config(serverId)?.expose !== undefined) return `mcpServers.${serverId}.expose`;
    if (this.place?.visibility?.expose !== undefined) return `the profile's "expose"`;
    return `tools.expose is "${config.current.tools.expose}"`;
  }
}

/** An entry as the rules know it. */
export function itemOf({ kind, serverId, originalName, annotations }: FoundEntry): Item {
  return { kind: kind === "template" ? "resource" : kind, serverId, name: originalName, annotations };
}

function hidden(why: string): SeenEntry {
  return { isVisible: false, isListed: false, why };
}

function keyOf(serverId: string, name: string): string {
  return `${serverId}\n${name}`;
}

function isShown({ kind, serverId, originalName, annotations }: FoundEntry, visibility: Visibility): boolean {
  const definition = { annotations };
  return visibility.showsServer(serverId) && visibility.shows({ kind, serverId, name: originalName, definition });
}
