/**
 * What a service runs: the gateway of one config, in the config's folder.
 *
 * Invariant: a definition holds paths and settings that are no secrets. A service gets its secrets
 * from the store (`goblin secret`), never from its definition.
 */
import { existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Program } from "../../clients/client.ts";
import { UsageError } from "../usage-error.ts";

export interface Definition {
  /** How Goblin is run; first an absolute path. */
  readonly program: readonly string[];
  /** The config's absolute path. */
  readonly config: string;
  /** The folder that it runs in. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The first line of each definition, by which it is known as Goblin's. */
export const MARK = "Written by goblin service install. To remove it: goblin service uninstall";
export const TITLE = "Goblin, the MCP gateway";

/** Where programs and files are. A service does not get them from the user's shell. */
const KEPT_NAMES = [
  "PATH",
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  "XDG_DATA_HOME",
  "XDG_CACHE_HOME",
  "GOBLIN_KEYCHAIN",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];
const HOMEBREW = /\/Cellar\/([^/]+)\/[^/]+\//;

export interface DefinitionSource {
  /** How a client would start Goblin. */
  readonly program: Program;
  /** The config's absolute path. */
  readonly config: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @throws UsageError if a path cannot be in a definition, or the program is not there */
export function definitionOf({ program, config, env }: DefinitionSource): Definition {
  const environment: Record<string, string> = {};
  for (const name of KEPT_NAMES) if (env[name]) environment[name] = env[name];
  const definition = {
    program: [stable(program.command.includes("/") ? program.command : found(program.command, env)), ...program.args],
    config,
    folder: dirname(config),
    environment,
  };
  const written = [...definition.program, config, ...Object.values(environment)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  const bad = written.find((text) => /[\u0000-\u001f\u007f]/.test(text));
  if (bad === undefined) return definition;
  throw new UsageError(`${JSON.stringify(bad)} has a control character: no service can name that`);
}

/** Homebrew removes a version's folder at each update; it keeps a link to the newest one. */
function stable(command: string): string {
  const linked = command.replace(HOMEBREW, "/opt/$1/");
  return linked !== command && existsSync(linked) ? linked : command;
}

function found(command: string, { PATH = "" }: DefinitionSource["env"]): string {
  if (/^[A-Za-z]:\\/.test(command)) return command;
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  const names = process.platform === "win32" ? [`${command}.cmd`, `${command}.exe`] : [command];
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const path = paths.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
  if (path !== undefined) return path;
  throw new UsageError(`there is no ${command} on the PATH: install Goblin with npm install -g goblin-mcp`);
}
