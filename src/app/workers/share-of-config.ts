/**
 * A worker's share of the config: limits for the whole gateway are divided by the number of
 * workers, so that all together keep them. Limits for one client or one message stay: each client
 * with a session is at one worker.
 *
 * Every worker gets at least 1 of what is not 0.
 */
import type { Config } from "../../config/schema/config.ts";

const DIVIDED = [
  "sessions",
  "inFlightPerServer",
  "queuePerServer",
  "connectionsPerServer",
  "callsAwaitingInput",
  "handOvers",
  "heldCalls",
  "heldBytes",
] as const;

const wholes = new WeakMap<Config, Config>();

/** Returns the config that this one is a share of, or itself. */
export function wholeOf(config: Config): Config {
  return wholes.get(config) ?? config;
}

export function shareOfConfig(config: Config, workers: number): Config {
  const divided = (value: number): number => Math.ceil(value / workers);
  const limits: Record<string, number> = { ...config.limits };
  for (const key of DIVIDED) limits[key] = divided(limits[key]!);
  const { memoryBytes, keptBytes } = config.results;
  const results = { ...config.results, memoryBytes: divided(memoryBytes), keptBytes: divided(keptBytes) };
  // Only values of known keys were replaced, by numbers like them.
  const share = { ...config, limits: limits as unknown as Config["limits"], results };
  wholes.set(share, config);
  return share;
}
