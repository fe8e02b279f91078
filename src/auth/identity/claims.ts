/** Reads a principal from an access token's claims, in the spellings of common providers. */
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { IssuerConfig } from "./resource-server.ts";

/** Claims of a verified token, or of an introspection answer. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly exp?: number;
  readonly sub?: string;
  /** Only of the gateway's own tokens. */
  readonly profile?: unknown;
  readonly server?: unknown;
  readonly cnf?: Readonly<Record<string, unknown>>;
};

/** Where providers put groups, if the config does not say. */
const GROUP_CLAIMS = ["groups", "roles", "realm_access.roles"];
const CLIENT_CLAIMS = ["azp", "client_id", "cid", "appid"];
const NAME_CLAIMS = ["preferred_username", "email", "username", "upn"];
const MAX_NAME = 100;
/** Begins the subject of a token that names a client only. No person's subject may begin so. */
const CLIENT_SUBJECT = "client ";

export function principalOf(
  claims: Claims,
  { config, adminScope, expiresAt }: { config: IssuerConfig; adminScope: string | undefined; expiresAt: number },
): Principal {
  const client = firstText(claims, CLIENT_CLAIMS);
  const subject = claims.sub ?? (client === undefined ? undefined : `${CLIENT_SUBJECT}${client}`);
  if (typeof claims.sub === "string" && claims.sub.startsWith(CLIENT_SUBJECT)) {
    throw new Error(
      `a token of ${config.issuer} has a subject that stands for a client: ${JSON.stringify(claims.sub)}`,
    );
  }
  if (typeof subject !== "string" || subject === "") {
    throw new Error(`a token of ${config.issuer} names neither a subject nor a client`);
  }
  const scopes = new Set(wordsIn(claims["scope"] ?? claims["scp"]));
  const paths = config.groups === undefined ? GROUP_CLAIMS : [config.groups];
  return {
    id: `${config.issuer}\u001f${subject}`,
    name: (firstText(claims, NAME_CLAIMS) ?? subject).slice(0, MAX_NAME),
    client,
    groups: paths.flatMap((path) => groupsIn(valueAt(claims, path))),
    scopes,
    isAdmin: adminScope !== undefined && scopes.has(adminScope),
    expiresAt,
  };
}

/** Keycloak nests claims. Auth0's are URLs, so the whole path is tried as one name first. */
function valueAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** A list of strings, or one string with spaces. */
function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter(Boolean);
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : [];
}

/** A list of groups, or one group, whose name may have spaces. */
function groupsIn(value: unknown): string[] {
  return typeof value === "string" && value !== "" ? [value] : wordsIn(Array.isArray(value) ? value : undefined);
}

function firstText(claims: Claims, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = claims[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
