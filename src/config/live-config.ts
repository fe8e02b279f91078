/**
 * Holds the current config.
 *
 * It is replaced as a whole, never changed in place. Parts read `current` when they need a value,
 * so a reload takes effect with the next request. Parts that must act on a change listen for
 * `changed`, which fires after `current` is replaced. A server that was switched on or off by hand
 * stays so until its entry's `enabled` changes in the file.
 */
import { EventEmitter } from "node:events";
import { type ConfigDiff, diffConfig, keepAddresses } from "./diff.ts";
import type { Config } from "./schema/config.ts";

export interface LiveConfigEvents {
  changed: [diff: ConfigDiff];
}

interface Switch {
  readonly enabled: boolean;
  /** The file's value of `enabled` when the server was switched. */
  readonly inFile: boolean;
}

/** Each part of a gateway listens at most once. More listeners are a leak. */
const MAX_LISTENERS = 30;

export class LiveConfig extends EventEmitter<LiveConfigEvents> {
  #current: Config;
  /** The config from the file, without manual switches. */
  #file: Config;
  readonly #switches = new Map<string, Switch>();

  constructor(config: Config) {
    super();
    this.setMaxListeners(MAX_LISTENERS);
    this.#current = config;
    this.#file = config;
  }

  get current(): Config {
    return this.#current;
  }

  replace(next: Config): ConfigDiff {
    const restartNeeded = diffConfig(this.#file, next).restartNeeded;
    this.#file = keepAddresses(this.#current, next);
    for (const [id, { inFile }] of this.#switches) {
      if (next.servers.find((server) => server.id === id)?.enabled !== inFile) this.#switches.delete(id);
    }
    return { ...this.#apply(), restartNeeded };
  }

  setEnabled(serverId: string, enabled: boolean): ConfigDiff {
    const inFile = this.#file.servers.find(({ id }) => id === serverId)?.enabled;
    if (inFile === enabled || inFile === undefined) this.#switches.delete(serverId);
    else this.#switches.set(serverId, { enabled, inFile });
    return this.#apply();
  }

  #apply(): ConfigDiff {
    const servers = this.#file.servers.map((server) => {
      const enabled = this.#switches.get(server.id)?.enabled ?? server.enabled;
      return enabled === server.enabled ? server : { ...server, enabled };
    });
    const before = this.#current;
    this.#current = { ...this.#file, servers };
    const diff = diffConfig(before, this.#current);
    this.emit("changed", diff);
    return diff;
  }
}
