/**
 * Derives the catalog's settings from the config: names, pages, exposure and the gateway's own
 * tools.
 */

import type { LiveConfig } from "../../config/live-config.ts";
import type { Config } from "../../config/schema/config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import { metaDefinitions, READER, SEARCH_TOOLS } from "../../core/meta/registry.ts";
import { Catalog } from "../../upstream/catalog/catalog.ts";
import type { SnapshotSettings } from "../../upstream/catalog/snapshot.ts";

/** Makes the catalog. It follows the config. */
export function createCatalog(config: LiveConfig): Catalog {
  const catalog = new Catalog(settingsOf(config.current));
  config.on("changed", () => catalog.configure(settingsOf(config.current)));
  return catalog;
}

function settingsOf({
  names,
  resources,
  lists,
  tools,
  metaTools,
  profiles,
  policy,
  clients,
  servers,
}: Config): SnapshotSettings {
  const reader = servers.some(keepsResults) ? [READER] : [];
  return {
    maxNameLength: names.maxLength,
    repeatPrefix: names.repeatPrefix,
    uris: resources.uris,
    pageSize: lists.pageSize,
    order: lists.order,
    local: metaDefinitions(metaTools.enabled ?? [...SEARCH_TOOLS, ...reader]),
    localInAll: metaDefinitions(metaTools.enabled ?? reader),
    reader: metaDefinitions([READER])[0],
    viewsDiffer:
      tools.expose === "auto" ||
      Object.keys({ ...profiles, ...clients }).length > 0 ||
      policy.default === "deny" ||
      policy.rules.length > 0 ||
      servers.some(({ auth }) => auth?.as === "caller"),
    exposure: { mode: tools.expose, budgetTokens: tools.budgetTokens },
  };
}

function keepsResults({ tools: { results, overrides } }: ServerConfig): boolean {
  const all = [results, ...Object.values(overrides).map((override) => override.results)];
  return all.some((rules) => rules?.over === "spill");
}
