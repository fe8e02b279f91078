/**
 * Reloads the config file of a running gateway when it changes or on request, and applies the
 * changes.
 *
 * Reloads run one at a time, in order. An invalid file changes nothing: it is reported to the log
 * and to the gateway, which shows the problem until a reload succeeds. The same holds for a file in
 * the current folder that is not trusted yet; trusting it triggers another reload.
 */
import type { ConfigChanges, ReloadResult } from "../../admin/api/schema.ts";
import { type ConfigDiff, diffConfig } from "../../config/diff.ts";
import { ConfigError, formatProblem, formatWarning } from "../../config/problems/problem.ts";
import { type LoadedConfig, loadConfig } from "../../config/reading/load.ts";
import type { Config } from "../../config/schema/config.ts";
import { type ConfigWatch, watchConfig } from "../../config/watch.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Gateway } from "../gateway.ts";
import { requireTrust } from "./trust/consent.ts";
import { TrustStore } from "./trust/trust-store.ts";

export interface FollowOptions {
  readonly file: LoadedConfig;
  /** The file lies in the current folder, so every new version needs trust. */
  readonly found: boolean;
  /** Applies the command line's options to the file's config. */
  readonly override: (config: Config) => Config;
  readonly gateway: () => Pick<Gateway, "reload" | "reloadFailed">;
  readonly log: Logger;
}

export class ConfigFollower {
  readonly #options: FollowOptions;
  #last: Promise<unknown> = Promise.resolve();
  #watches: ConfigWatch[] = [];
  #refused = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  async watch(): Promise<void> {
    const { path, digest } = this.#options.file;
    this.#watches.push(await watchConfig(path, () => this.reloadQuietly(), { since: digest }));
    if (!this.#options.found) return;
    const trusted = new TrustStore().file;
    this.#watches.push(await watchConfig(trusted, () => this.#refused && this.reloadQuietly()));
  }

  /** Reads the file again and applies it. @throws ConfigError */
  reload(): Promise<ReloadResult> {
    const next = this.#last.then(() => this.#read());
    this.#last = next.catch(() => {});
    return next;
  }

  /** Reads the file, and returns what a reload would change. @throws ConfigError */
  async preview(current: Config): Promise<ConfigChanges> {
    const { config } = await this.#load();
    const diff = diffConfig(current, this.#options.override(config));
    return { ...resultOf(diff), settings: [...diff.settings], restartNeeded: [...diff.restartNeeded] };
  }

  /** Reloads for callers that ignore the outcome; the log has it. */
  reloadQuietly(): void {
    this.reload().catch(() => {});
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  #load(): Promise<LoadedConfig> {
    const { file, found } = this.#options;
    return loadConfig(file.path, process.env, found ? { found, permit: requireTrust } : {});
  }

  async #read(): Promise<ReloadResult> {
    const { override, gateway, log } = this.#options;
    try {
      const { config, warnings } = await this.#load();
      for (const warning of warnings) log.warn(formatWarning(warning));
      this.#refused = false;
      const { diff, recovered } = gateway().reload(override(config));
      const result = resultOf(diff);
      if (!diff.same || recovered) log.info({ ...result, settings: diff.settings }, "The config was reloaded");
      return result;
    } catch (error) {
      const problems = error instanceof ConfigError ? error.problems.map(formatProblem) : [String(error)];
      this.#refused = true;
      log.error({ problems }, "The config is not valid or not trusted; the previous one stays in use");
      gateway().reloadFailed(error);
      throw error;
    }
  }
}

function resultOf(diff: ConfigDiff): ReloadResult {
  const ids = (servers: readonly { readonly id: string }[]): string[] => servers.map(({ id }) => id);
  return {
    added: ids(diff.added),
    removed: [...diff.removed],
    changed: [...ids(diff.changed), ...ids(diff.adjusted)],
  };
}
