/**
 * Decides what a principal sees at an endpoint. `Access` is the only place that knows profiles and
 * the policy; everything else reads the visibility of a call's client.
 *
 * A principal that is tied to profiles sees the union of them at `/mcp`, and of the other endpoints
 * only those of its profiles and servers. For everybody else, `/mcp` shows everything. Of both, the
 * rules of the policy leave a part. An endpoint that a principal may not use does not exist for it.
 *
 * Invariant: equal visibilities are one object until the config changes. A place is decided when a
 * session begins, whenever its principal shows another credential, and after each reload.
 */
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../../config/live-config.ts";
import type { Config } from "../../config/schema/config.ts";
import type { ProfileConfig } from "../../config/schema/profiles.ts";
import { EVERYWHERE, type Place, type Principal, type Visibility, visibilityAt } from "../../mcp/protocol/principal.ts";
import { createPolicy, type Policy } from "../../policy/policy.ts";
import type { Scope } from "../../policy/scope.ts";
import { listingFor } from "./client-listing.ts";
import { type Condition, inProfiles, visibilityOf } from "./conditions.ts";
import { namedBy } from "./endpoints.ts";
import { argumentRules, underRules } from "./rules.ts";

export interface AccessEvents {
  /** Followers may have another visibility than before. */
  changed: [];
}

/** A client that stays connected, whose place may change with the config. */
export interface Follower {
  readonly endpoint: string;
  readonly who: Principal;
  /** What it says about itself. */
  readonly info: Readonly<Record<string, unknown>>;
  visibility: Visibility | undefined;
  /** Its endpoint does not exist for it any more. */
  close(): void;
}

type OAuth = NonNullable<Config["gateway"]["auth"]["oauth"]>;
type TiedProfiles = OAuth["profiles"];

/** Separates the issuer from the subject in the id of an access token's principal. */
const SUBJECT = "\u001f";
/** The most places that are remembered. */
const MAX_PLACES = 1000;

export class Access extends EventEmitter<AccessEvents> {
  readonly #config: Pick<LiveConfig, "current">;
  readonly #followers = new Set<Follower>();
  /** By endpoint, profiles and rules. */
  readonly #places = new Map<string, Place | undefined>();
  /** Most principals use one endpoint only. */
  #last = new WeakMap<Principal, { readonly endpoint: string; readonly place: Place | undefined }>();
  #policy: Policy | undefined;

  constructor(config: Pick<LiveConfig, "current" | "on">) {
    super();
    this.#config = config;
    this.#policy = policyOf(config.current);
    config.on("changed", ({ settings, added, removed }) => {
      this.#places.clear();
      this.#last = new WeakMap();
      const isSame = added.length + removed.length === 0 && !settings.some((key) => /^policy\b/.test(key));
      if (!isSame) this.#policy = policyOf(config.current);
      for (const follower of this.#followers) {
        const place = this.placeOf(follower.endpoint, follower.who);
        if (place) follower.visibility = visibilityAt(place, follower.info);
        else follower.close();
      }
      this.emit("changed");
    });
  }

  /** Returns undefined if the endpoint does not exist for this principal. */
  placeOf(endpoint: string, principal: Principal): Place | undefined {
    const last = this.#last.get(principal);
    if (last?.endpoint === endpoint) return last.place;
    const place = this.#find(endpoint, principal);
    this.#last.set(principal, { endpoint, place });
    return place;
  }

  #find(endpoint: string, principal: Principal): Place | undefined {
    const { current } = this.#config;
    const held = profilesOf(principal, current);
    const scope = this.#policy?.scopeOf(principal);
    const rules = scope?.isOpen ? undefined : scope;
    const isByClient = current.tools.expose === "auto" || Object.keys(current.clients).length > 0;
    const isEverywhere = endpoint === "" && held === undefined && !rules;
    if (isEverywhere && !isByClient) return EVERYWHERE;
    const key = JSON.stringify([endpoint, held, rules?.key]);
    if (this.#places.has(key)) return this.#places.get(key);
    const decided = isEverywhere ? EVERYWHERE : this.#decide(endpoint, { held, rules }, current.profiles);
    const place = decided && { ...decided, forClient: listingFor(decided.visibility, current) };
    if (this.#places.size >= MAX_PLACES) this.#places.clear();
    this.#places.set(key, place);
    return place;
  }

  /**
   * Returns the scopes of which an access token needs one to see anything at an endpoint. Empty if
   * no scope would help: then the endpoint does not exist for it.
   */
  scopesFor(endpoint: string, { id }: Principal): readonly string[] {
    const tied = this.#config.current.gateway.auth.oauth?.profiles ?? {};
    if (!isOfIssuer({ id }, this.#config.current.gateway.auth.oauth)) return [];
    if (endpoint === "") return [...new Set(Object.values(tied).flatMap(({ scopes }) => scopes))];
    const named = namedBy(endpoint);
    return named?.kind === "p" && Object.hasOwn(tied, named.name) ? tied[named.name]!.scopes : [];
  }

  /** Returns which servers exist for a principal, at whatever endpoint it connects. */
  serversOf(principal: Principal): (serverId: string) => boolean {
    const place = this.placeOf("", principal);
    return (serverId) => place !== undefined && place.visibility?.showsServer(serverId) !== false;
  }

  /** Keeps the visibility of a client up to date, until `unfollow`. */
  follow(follower: Follower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower);
  }

  #decide(endpoint: string, { held, rules }: Limits, all: Config["profiles"]): Place | undefined {
    const named = namedBy(endpoint);
    const profile = named?.kind === "p" ? named.name : undefined;
    const server = named?.kind === "s" ? named.name : undefined;
    if (server !== undefined && !this.#config.current.servers.some(({ id }) => id === server)) return undefined;
    if (profile !== undefined && held?.includes(profile) === false) return undefined;
    const names = profile === undefined ? held : [profile];
    const profiles = names?.flatMap((name) => (Object.hasOwn(all, name) ? [all[name]!] : []));
    if (profiles?.length === 0) return undefined;
    const conditions: Condition[] = profiles ? [inProfiles(profiles)] : [];
    if (rules) conditions.push(underRules(rules));
    const shown = { profile: names?.join(","), server, expose: exposeOf(profiles) };
    const visibility = visibilityOf({ conditions, ...shown, ...argumentRules(rules) });
    return server === undefined || visibility.showsServer(server) ? { endpoint, visibility } : undefined;
  }
}

/** What limits a principal, wherever it connects. */
interface Limits {
  readonly held: readonly string[] | undefined;
  readonly rules: Scope | undefined;
}

function policyOf({ policy, servers }: Config): Policy | undefined {
  return createPolicy(
    policy,
    servers.map(({ id }) => id),
  );
}

/** Returns the profiles that a principal is limited to; undefined if it is not limited. */
function profilesOf(principal: Principal, { gateway: { auth } }: Config): readonly string[] | undefined {
  const { id, profiles } = principal;
  if (profiles !== undefined || id === "") return profiles;
  if (isOfIssuer(principal, auth.oauth)) return tokenProfiles(principal, auth.oauth?.profiles);
  const client = id.startsWith("client:") ? id.slice("client:".length) : undefined;
  const profile = client !== undefined && Object.hasOwn(auth.clients, client) && auth.clients[client]!.profile;
  return typeof profile === "string" ? [profile] : profile || undefined;
}

/** Whether a principal has an access token of a configured issuer. */
function isOfIssuer({ id }: Pick<Principal, "id">, oauth: OAuth | undefined): boolean {
  return oauth?.issuers.some(({ issuer }) => id.startsWith(issuer + SUBJECT)) ?? false;
}

/** An access token has the profiles of its scopes and groups. */
function tokenProfiles({ scopes, groups }: Principal, tied: TiedProfiles | undefined): readonly string[] | undefined {
  if (!tied || Object.keys(tied).length === 0) return undefined;
  const has = ({ scopes: some, groups: others }: TiedProfiles[string]): boolean =>
    some.some((scope) => scopes?.has(scope)) || others.some((group) => groups.includes(group));
  return Object.keys(tied).filter((name) => has(tied[name]!));
}

/** Profiles that disagree leave the choice to the config as a whole. */
function exposeOf(profiles: readonly ProfileConfig[] | undefined): Visibility["expose"] {
  const wanted = new Set(profiles?.map(({ expose }) => expose));
  return wanted.size === 1 ? [...wanted][0] : undefined;
}
