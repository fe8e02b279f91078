/**
 * What the config says about the lists that clients get, as a snapshot takes it: names, pages,
 * exposure, and the gateway's own tools.
 */
import type { SnapshotSettings } from "./catalog/snapshot.ts";
import type { Config } from "./config/schema/config.ts";
import { metaDefinitions } from "./meta/registry.ts";

export function snapshotSettings({ names, resources, lists, tools, metaTools }: Config): SnapshotSettings {
  return {
    maxNameLength: names.maxLength,
    uris: resources.uris,
    pageSize: lists.pageSize,
    local: metaDefinitions(metaTools.enabled),
    exposure: { mode: tools.expose, budgetTokens: tools.budgetTokens },
  };
}
