/**
 * `goblin import`: takes the servers of MCP clients over into goblin.json. The clients' files stay
 * as they are.
 */

import { valueIn, withValue } from "../../../config/editing/edit.ts";
import { ConfigError } from "../../../config/problems/problem.ts";
import { parseSyntax } from "../../../config/reading/document.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { clean } from "../../../lib/text/clean.ts";
import type { KnownClient, SettingsEntry } from "../../clients/client.ts";
import { FileError, readState, textOf } from "../../clients/files.ts";
import { chooseServers, findServers, type Import, type Problem } from "../../clients/importing.ts";
import { Journal } from "../../clients/journal.ts";
import { apply } from "../../clients/linking.ts";
import { plainSecrets } from "../../clients/plain-secrets.ts";
import { CONFIG_TITLE } from "../../clients/undoing.ts";
import { counted } from "../terminal/counted.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { namedClients, ownConfig, thisMachine } from "./machine.ts";
import { planSecrets } from "./move-secrets.ts";

export interface ImportOptions {
  readonly config?: string | undefined;
  /** Takes the servers of the project in this folder, not the user's. */
  readonly project?: boolean | undefined;
  /** Moves plain secrets into the store. */
  readonly secrets?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const columns: Column<Import>[] = [
  { title: "SERVER", text: ({ name }) => name },
  { title: "FROM", text: ({ client }) => client.id },
  {
    title: "STATE",
    text: ({ state, same }) =>
      same === undefined ? state : `${state === "known" ? "in the config" : "same"} as ${same}`,
    colour: ({ state }) => (state === "new" ? "green" : "dim"),
  },
  { title: "RUNS", text: ({ entry }) => reachOf(entry) },
];

export async function importServers(ids: readonly string[], options: ImportOptions): Promise<number> {
  const file = ownConfig(options.config);
  const before = await readState(file);
  const text = before ? textOf(before) : "{}\n";
  const { servers, problems } = await findServers(
    namedClients(ids),
    thisMachine(),
    options.project ? "project" : "user",
  );
  const imports = chooseServers(servers, serversOf(text, file));
  const fresh = imports.filter(({ state }) => state === "new").filter((server) => isPossible(server, problems));
  const plain = fresh.flatMap(({ name, entry }) => plainSecrets(name, entry)).length;
  const moved = options.secrets && !options.dryRun && plain > 0 ? await planSecrets(fresh) : undefined;
  const added = moved?.servers ?? fresh;
  const next = added.reduce((body, { name, entry }) => withValue(body, ["mcpServers", name], entry), text);
  if (fresh.length > 0) checkConfig(next, file);
  let id: string | undefined;
  if (fresh.length > 0 && !options.dryRun) {
    const plan = { client: OWN_FILE, file, before, after: Buffer.from(next) };
    const made = {
      command: `import ${ids.join(" ")}`.trim(),
      secrets: moved?.added ?? [],
      first: async () => moved?.keep(),
    };
    const applied = await apply(made, [plan], new Journal(process.env));
    if (applied.failures[0]) throw new FileError(`${file}: ${applied.failures[0].reason}`);
    id = applied.id;
  }
  if (options.json) {
    printJson({
      config: file,
      undo: id ?? null,
      servers: imports.map(({ client, name, file: from, state, same }) => ({
        name,
        client: client.id,
        file: from,
        state,
        same,
      })),
      plainSecrets: moved ? 0 : plain,
      movedSecrets: moved?.count ?? 0,
      problems: problems.map(({ client, ...problem }) => ({ client: client.id, ...problem })),
    });
  } else tell(imports, { file, id, dryRun: options.dryRun === true });
  if (!options.json) {
    if (moved) console.log(clean(`${counted(moved.count, "secret")} moved into ${moved.place}`));
    else if (plain > 0) {
      console.log(
        `${counted(plain, "secret")} in plain text; goblin import --secrets keeps secrets in your store instead`,
      );
    }
    for (const { client, file: from, reason } of problems)
      console.error(clean(`${client.id}: left out: ${reason} (${from})`));
  }
  return problems.length > 0 ? 1 : 0;
}

/** The config as a file in the journal. */
export const OWN_FILE = { id: "goblin", title: CONFIG_TITLE } as KnownClient;

function tell(
  imports: readonly Import[],
  { file, id, dryRun }: { file: string; id: string | undefined; dryRun: boolean },
): void {
  const count = imports.filter(({ state }) => state === "new").length;
  if (imports.length > 0) printTable(imports, columns);
  const what = counted(count, "server");
  if (imports.length === 0) console.log("No client has a server.");
  else if (dryRun) console.log(clean(`${what} would be added to ${file}`));
  else if (count === 0) console.log(clean(`${file} has all of them already`));
  else console.log(clean(`${what} added to ${file}; to take it back: goblin undo ${id}`));
}

function serversOf(text: string, file: string): Map<string, SettingsEntry> {
  const { root, error } = parseSyntax(text.replace(/^\ufeff/, ""));
  if (error || root?.type !== "object") throw new FileError(`${file} is not valid: run goblin check`);
  const all = { ...recordOf(valueIn(text, ["servers"])), ...recordOf(valueIn(text, ["mcpServers"])) };
  return new Map(Object.entries(all).map(([name, entry]) => [name, recordOf(entry)]));
}

/** A name that no server of a config can have is a problem of its own. */
export function isPossible({ name, entry, client, file }: Import, problems: Problem[]): boolean {
  try {
    parseConfig(JSON.stringify({ mcpServers: { [name]: entry } }), { file: "goblin.json", env: process.env });
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push({ client, file, reason: `${JSON.stringify(name)}: ${error.problems[0]!.message}` });
    return false;
  }
}

/** Nothing is written if the result would not be a config. Bad entries concern only themselves. */
function checkConfig(text: string, file: string): void {
  parseConfig(text, { file, env: process.env });
}

/** Without arguments, which may hold keys. */
function reachOf({ command, url }: SettingsEntry): string {
  const text = String(url ?? command ?? "");
  return url === undefined || !URL.canParse(text) ? text : new URL(text).origin;
}
