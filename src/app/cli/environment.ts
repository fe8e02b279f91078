/**
 * What environment variables say where the command line says nothing: `GOBLIN_CONFIG`,
 * `GOBLIN_HOST` and `GOBLIN_PORT`.
 *
 * Invariant: an option wins over its variable, and a variable over the config. An empty variable
 * counts as unset. A file named by a variable is as trusted as one named by an option.
 */
import { InvalidArgumentError } from "commander";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Address {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** Returns the file that the user named; undefined if the config must be found. */
export function namedConfig(option: string | undefined, env: Environment): string | undefined {
  return option ?? (env["GOBLIN_CONFIG"] || undefined);
}

/** @throws UsageError if a variable is not valid */
export function namedAddress({ host, port }: Address, env: Environment): Address {
  const written = env["GOBLIN_PORT"] || undefined;
  return {
    host: host ?? (env["GOBLIN_HOST"] || undefined),
    port: port ?? (written === undefined ? undefined : portOf(written)),
  };
}

function portOf(text: string): number {
  try {
    return portNumber(text);
  } catch (error) {
    throw new UsageError(`GOBLIN_PORT: ${(error as Error).message}`);
  }
}

/** Reads a port from an option. @throws InvalidArgumentError */
export function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("expected a number from 0 to 65535");
  return port;
}

/** Reads minutes from an option. @throws InvalidArgumentError */
export function minutes(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= 1440)) {
    throw new InvalidArgumentError("expected minutes, more than 0 and at most 1440");
  }
  return value;
}
