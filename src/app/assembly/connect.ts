/** Connects logins with the config, the guard and the address: their page, and callers' tokens. */

import { isOnBehalf } from "../../auth/login/grants/on-behalf.ts";
import type { Logins } from "../../auth/login/logins.ts";
import { Connect } from "../../auth/login-page/connect.ts";
import type { Proof } from "../../auth/login-page/proofs.ts";
import type { Pairing } from "../../auth/pairing/pairing.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import { isLocalOnly } from "../../config/local-only.ts";
import type { FrontContext } from "../../front/context.ts";
import type { LiveGuards } from "../../front/http/guard.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";

export interface ConnectParts {
  readonly access: Pick<FrontContext["access"], "serversOf">;
  readonly config: LiveConfig;
  readonly guards: LiveGuards;
  readonly pairing: Pairing | undefined;
  /** Where the gateway listens; empty: nowhere. */
  readonly address: { readonly url: string };
}

/** The principal of a link. */
interface Asker {
  readonly principal: string;
  readonly isAdmin: boolean;
}

/** A browser cannot open an address for all interfaces. */
function localUrl(url: string): string {
  const { protocol, hostname, port, origin } = new URL(url);
  return hostname === "0.0.0.0" || hostname === "[::]" ? `${protocol}//127.0.0.1:${port}` : origin;
}

/** Notes callers' own tokens, but only while a server is used on their behalf. */
export function noteTokens({ subjects }: Logins, config: LiveConfig): (principal: Principal, token: string) => void {
  let isUsed = false;
  const follow = (): void => {
    isUsed = config.current.servers.some(({ auth }) => auth && isOnBehalf(auth));
  };
  config.on("changed", follow);
  follow();
  return (principal, token) => {
    if (isUsed) subjects.note(principal, token);
  };
}

/** How the person behind a link shows that it is theirs. */
function proofOf({ principal, isAdmin }: Asker, base: URL, { config, pairing }: ConnectParts): Proof {
  const { oauth } = config.current.gateway.auth;
  const [issuer = "", subject] = principal.split("\u001f");
  if (subject === undefined) return { kind: "token", isIssued: false };
  if (pairing?.issuer === issuer) {
    return {
      kind: "code",
      isKnown: (cookies) => pairing.letIn(subject, cookies),
      tryCode: (typed) => pairing.tryCode(subject, typed),
    };
  }
  const known = oauth?.issuers.find((one) => one.issuer === issuer);
  if (!known?.login) return { kind: "token", isIssued: true };
  const { clientId, clientSecret, resource, scopes = known.requiredScopes } = known.login;
  const more = isAdmin && oauth?.adminScope !== undefined ? [oauth.adminScope] : [];
  const own = `${base.href.replace(/\/$/, "")}/mcp`;
  return {
    kind: "login",
    at: {
      issuer,
      clientId,
      clientSecret,
      scopes: [...new Set([...scopes, ...more])],
      resource: resource === "auto" ? own : resource === false ? undefined : resource,
    },
  };
}

export function createConnect(logins: Logins, parts: ConnectParts): Connect {
  const { config, guards, address, access } = parts;
  const publicUrl = (): string | undefined => config.current.gateway.publicUrl;
  const connect = new Connect(
    {
      logins,
      metadataUrl: () => config.current.oauth.clientMetadataUrl,
      admits: (principal) => guards.main.admits(principal, "client"),
      administers: (principal) => guards.main.admits(principal, "admin"),
      visibleServers(principal) {
        if (guards.main.admits(principal, "admin")) return undefined;
        const shows = access.serversOf(principal);
        const hidden = config.current.servers.filter(({ id }) => !shows(id));
        if (hidden.length === 0) return undefined;
        return config.current.servers.flatMap(({ id, auth }) => (auth && shows(id) ? [id] : []));
      },
      proofOf: (link, base) => proofOf(link, base, parts),
      identify: async (token, host) => {
        const headers: Record<string, string | undefined> = { host, authorization: `Bearer ${token}` };
        const verdict = await guards.main.client({ method: "GET", path: "/mcp", header: (name) => headers[name] });
        return verdict.ok ? verdict.principal : undefined;
      },
    },
    {
      url: () => publicUrl() ?? (address.url === "" ? undefined : localUrl(address.url)),
      isPublic: () => publicUrl() !== undefined,
    },
  );
  logins.isLocal = () => connect.isAlone || (address.url !== "" && isLocalOnly(config.current.gateway));
  return connect;
}
