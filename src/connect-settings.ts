/** Builds the page for logins from the gateway's config, guard and address. */
import type { LiveConfig } from "./config/live-config.ts";
import { Connect } from "./connect/connect.ts";
import type { LiveGuards } from "./front/http/guard.ts";
import type { Logins } from "./login/logins.ts";

export interface ConnectParts {
  readonly config: LiveConfig;
  readonly guards: LiveGuards;
  /** Where the gateway listens; empty: nowhere. */
  readonly address: { readonly url: string };
}

/** A browser cannot open an address for all interfaces. */
function localUrl(url: string): string {
  const { protocol, hostname, port, origin } = new URL(url);
  return hostname === "0.0.0.0" || hostname === "[::]" ? `${protocol}//127.0.0.1:${port}` : origin;
}

export function createConnect(logins: Logins, { config, guards, address }: ConnectParts): Connect {
  const publicUrl = (): string | undefined => config.current.gateway.publicUrl;
  return new Connect(
    {
      logins,
      metadataUrl: () => config.current.oauth.clientMetadataUrl,
      admits: (principal) => guards.main.admits(principal, "client"),
      administers: (principal) => guards.main.admits(principal, "admin"),
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
}
