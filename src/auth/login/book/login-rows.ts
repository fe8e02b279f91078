/** The logins at servers as people see them. No token and no secret is among it. */
import type { ServerConfig } from "../../../config/schema/server.ts";
import { canonicalUrl } from "../discovery.ts";
import { isUnattended } from "../grants/unattended.ts";
import { LOCAL, type Login, type LoginBook, wantedKey } from "../store.ts";

export interface LoginSummary {
  readonly server: string;
  /** The principal whose login it is; null: the gateway's, for all clients. */
  readonly principal: string | null;
  readonly state: "logged-in" | "expired" | "more-scopes" | "no-login";
  readonly issuer: string | null;
  /** When the token ends that is in use, in milliseconds since 1970; null: unknown. */
  readonly expiresAt: number | null;
  /** Whether the token is renewed before its end. */
  readonly isRenewed: boolean;
  readonly loggedInAt: number | null;
  readonly scopes: readonly string[];
  /** Scopes that the server asked for since. */
  readonly wanted: readonly string[];
  /** Whether each caller has a login of its own. */
  readonly isPersonal: boolean;
  /** Whether the gateway gets its tokens without a person. */
  readonly isUnattended: boolean;
}

/** A server that may have a login. */
interface Target {
  readonly id: string;
  readonly url: string;
  readonly auth: NonNullable<ServerConfig["auth"]>;
}

/** One row for each login; for a server without any, one that says so. */
export function loginRows(targets: readonly Target[], { logins, wanted }: LoginBook): LoginSummary[] {
  return targets.flatMap(({ id, url, auth }): LoginSummary[] => {
    const own = canonicalUrl(url);
    const isPersonal = auth.as === "caller";
    const kind = { server: id, isPersonal, isUnattended: isUnattended(auth) };
    const found = logins.filter((one) => one.url === own && (one.principal !== "") === isPersonal);
    if (found.length === 0) {
      const none = { issuer: null, expiresAt: null, isRenewed: false, loggedInAt: null, scopes: [] };
      const wants = wanted[wantedKey(own, "")] ?? [];
      return [{ ...kind, ...none, principal: null, state: "no-login", wanted: wants }];
    }
    return found.map((login) => ({ ...kind, ...rowOf(login, wanted[wantedKey(own, login.principal)]) }));
  });
}

/** The subject of an issuer, or the name of a token. */
export function shownOwner(principal: string): string {
  if (principal === LOCAL) return "user of this machine";
  return principal.slice(principal.lastIndexOf("\u001f") + 1).replace(/^client:/, "");
}

function rowOf(
  login: Login,
  wanted: readonly string[] | undefined,
): Omit<LoginSummary, "server" | "isPersonal" | "isUnattended"> {
  const { issuer, principal, expiresAt, scopes, refreshToken, loggedInAt } = login;
  const isRenewed = refreshToken !== undefined;
  const isOver = !isRenewed && expiresAt !== undefined && expiresAt < Date.now();
  return {
    principal: principal === "" ? null : principal,
    state: isOver ? "expired" : wanted ? "more-scopes" : "logged-in",
    issuer,
    expiresAt: expiresAt ?? null,
    isRenewed,
    loggedInAt,
    scopes,
    wanted: wanted ?? [],
  };
}
