// @ts-check
// The config of a gateway, as a file that is edited while the gateway runs: always replaced as a
// whole, at times by something that is no config.

import { renameSync, writeFileSync } from "node:fs";

/**
 * @typedef {{ generations: Record<string, number>, order: "sorted" | "server", callMs: number }}
 *   Settings
 */
/** @typedef {ReturnType<typeof createConfigFile>} ConfigFile */

/**
 * @param {{ path: string, servers: readonly import("./servers.js").Server[], port: number, tokens:
 *   readonly string[], cluster?: object | undefined }} options
 */
export function createConfigFile({ path, servers, port, tokens, cluster }) {
  /** @type {Settings} */
  const settings = { generations: {}, order: "sorted", callMs: 2500 };

  /** @param {string} text */
  function put(text) {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  const file = {
    path,
    /** A gateway that is just starting gets no second chance to read it. */
    mayBreak: true,
    write() {
      const entries = servers.map((server) => [server.name, server.entry(settings.generations[server.name] ?? 0)]);
      const config = {
        mcpServers: Object.fromEntries(entries),
        gateway: { port, auth: { tokens } },
        lists: { order: settings.order },
        timeouts: { callMs: settings.callMs, connectMs: 5000, drainMs: 5000 },
        // Half of the clients vanish, and their sessions hold connections until they have ended.
        limits: { sessionIdleMs: 60_000 },
        log: { level: "warn", format: "json" },
        ...(cluster && { cluster }),
      };
      put(JSON.stringify(config));
    },
    /** @param {(settings: Settings) => void} change */
    edit(change) {
      change(settings);
      file.write();
    },
    break() {
      if (file.mayBreak) put(`{ "mcpServers": {`);
    },
  };
  file.write();
  return file;
}
