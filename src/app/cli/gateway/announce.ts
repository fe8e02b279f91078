/**
 * Says that a gateway listens: to the person at the terminal, to the clients of this user, and, if
 * it was asked for, on the dashboard.
 */
import type { Config } from "../../../config/schema/config.ts";
import { isInvalid } from "../../../config/schema/server.ts";
import { openBrowser } from "../logins/browser.ts";
import { addressOf, ownToken } from "./find-gateway.ts";
import { writeRecord } from "./gateway-record.ts";

export interface ListeningGateway {
  readonly url: string;
  readonly adminUrl: string | undefined;
  readonly config: Config;
  /** Undefined for the demo. */
  readonly configPath: string | undefined;
}

/** For the log while the dashboard shows it. */
export const NOWHERE = { write: (): void => {} };

export function announce({ url, adminUrl, config, configPath }: ListeningGateway): void {
  const invalid = config.servers.filter(isInvalid).length;
  const count = config.servers.filter((server) => server.enabled).length - invalid;
  const bad = invalid === 0 ? "" : `, ${invalid} invalid`;
  const source = configPath ?? "no config found: demo servers";
  console.log(`Goblin is listening on ${url} (${count} ${count === 1 ? "server" : "servers"}${bad}; ${source})`);
  console.log(`Look at it in your browser: ${new URL("/ui", adminUrl ?? url).href} (with tokens: goblin ui)`);
}

/**
 * Writes where this process's gateway listens; returns a function that removes it. Without a state
 * folder, clients look at the config's address only.
 */
export function recordGateway(
  gateway: ListeningGateway & { readonly port: number; readonly isBackground: boolean },
): () => void {
  const { port, adminUrl, config, configPath, isBackground } = gateway;
  const { host, tls } = config.gateway;
  const url = `${tls ? "https" : "http"}://${addressOf({ host, port })}`;
  const admins = adminUrl === undefined ? url : new URL(adminUrl).origin;
  try {
    return writeRecord(configPath, { pid: process.pid, url, adminUrl: admins, isBackground }, process.env);
  } catch {
    return () => {};
  }
}

export async function showDashboard(url: string, { gateway: { auth, admin } }: Config): Promise<number> {
  // Loads Ink and React on demand.
  const { runTui } = await import("../../../admin/tui/index.ts");
  return runTui({ url, token: ownToken({ auth, admin }), openUrl: openBrowser });
}
