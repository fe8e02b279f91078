/**
 * The config that the commands about servers change: the named one, the one that was found, or the
 * user's own, which may not exist yet.
 *
 * Invariant: a change keeps comments and order, is in the journal, and is written only if the
 * result is a config. It takes no trust away, because it is the user's own.
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { valueIn } from "../../../config/editing/edit.ts";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { readConfigText } from "../../../config/reading/load.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { FileError, type FileState, readState, textOf } from "../../clients/files.ts";
import { Journal } from "../../clients/journal.ts";
import { apply } from "../../clients/linking.ts";
import { OWN_FILE } from "../clients/import.ts";
import { ownConfig } from "../clients/machine.ts";
import { chooseConfig } from "../config.ts";
import { namedConfig } from "../environment.ts";
import { TrustStore } from "../trust/trust-store.ts";

export interface ConfigPlace {
  readonly file: string;
  readonly before: FileState | undefined;
  readonly text: string;
  /** The registries to ask. */
  readonly registries: readonly string[];
  /** It lies in the current folder. */
  readonly found: boolean;
}

/** The keys under which a config has its servers. */
const SECTIONS = ["mcpServers", "servers"] as const;

/** @throws ConfigError if it was found in this folder and is not trusted */
export async function openPlace(option: string | undefined): Promise<ConfigPlace> {
  const named = namedConfig(option, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  const found = named === undefined && path !== undefined && isFound(path, process.cwd(), process.env);
  const file = realPath(path ?? ownConfig(undefined));
  const before = await readState(file);
  const { config } = await chooseConfig({ config: before ? option : undefined });
  return { file, before, found, text: before ? textOf(before) : "{}\n", registries: config.registry.urls };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns the servers' names and where they stand. */
export function serverPlaces(text: string): Map<string, readonly [string, string]> {
  return new Map(
    SECTIONS.flatMap((section) =>
      Object.keys(recordOf(valueIn(text, [section]))).map((id) => [id, [section, id] as const] as const),
    ),
  );
}

export interface Rewrite {
  /** For the journal. */
  readonly command: string;
  readonly text: string;
  readonly secrets?: readonly string[];
  /** Runs after the journal is written, before the file is. */
  readonly first?: () => Promise<void>;
}

/** Writes the config. Returns the id that undoes it. @throws ConfigError, FileError */
export async function rewrite(place: ConfigPlace, { text, ...made }: Rewrite): Promise<string | undefined> {
  const { file, before, found } = place;
  const trust = new TrustStore();
  const wasTrusted = found && trust.isTrusted(file, (await readConfigText(file)).digest);
  parseConfig(text, { file, env: process.env, found });
  const plan = { client: OWN_FILE, file, before, after: Buffer.from(text) };
  const { id, failures } = await apply(made, [plan], new Journal(process.env));
  if (failures[0]) throw new FileError(`${file}: ${failures[0].reason}`);
  if (wasTrusted) trust.trust(file, (await readConfigText(file)).digest);
  return id;
}
