/** Makes the part that shapes and keeps results: connects it with the config and the meters. */
import { join } from "node:path";
import type { LiveConfig } from "../../config/live-config.ts";
import { stateFolder } from "../../config/state-folder.ts";
import { KeptResults } from "../../core/results/kept-results.ts";
import { Results } from "../../core/results/results.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Meters } from "../../observe/telemetry/meters.ts";

export interface ResultsSettings {
  readonly config: LiveConfig;
  readonly log: Logger;
  readonly meters: Meters;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
}

export function createResults({ config, log, meters, env = process.env }: ResultsSettings): Results {
  const folder = (): string => join(stateFolder(env), "results");
  const kept = new KeptResults({ limits: () => config.current.results, folder, log });
  // A gateway that never kept anything has no such folder.
  void kept.clean();
  return new Results({ kept, count: (serverId, fate) => meters.countResult(serverId, fate) });
}
