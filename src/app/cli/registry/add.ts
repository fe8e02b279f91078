/**
 * `goblin add`: puts a server into the config. What will run is shown first, its version is pinned,
 * and it is started once afterwards; `goblin undo` takes it back.
 */
import { createInterface } from "node:readline/promises";
import { adminRoutes } from "../../../admin/api/routes.ts";
import { withValue } from "../../../config/editing/edit.ts";
import { loadConfig } from "../../../config/reading/load.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { clean } from "../../../lib/text/clean.ts";
import type { ServerEntry } from "../../../upstream/registry/launch.ts";
import { startTarget } from "../gateway/target.ts";
import { hasTerminal } from "../secrets/hidden-prompt.ts";
import { counted } from "../terminal/counted.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { askAll, newNames, storeSecrets } from "./ask.ts";
import { openPlace, rewrite, serverPlaces } from "./config-place.ts";
import { launchFor } from "./launch-for.ts";

export interface AddOptions {
  readonly config?: string | undefined;
  readonly name?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly remote?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function add(typed: string, args: readonly string[], options: AddOptions): Promise<number> {
  const place = await openPlace(options.config);
  const note = (text: string): void => console.error(clean(text));
  const line = createStatusLine();
  line.spin(() => `looking for ${typed}`);
  const launch = await launchFor(typed, {
    registries: place.registries,
    isRemote: options.remote,
    note: (text) => line.above(clean(text)),
  }).finally(() => line.clear());
  const id = freeId(options.name, launch.name, [...serverPlaces(place.text).keys()]);
  const { answers, secrets } = await askAll(launch.questions, { id, set: options.set ?? [] });
  const entry = withArguments(launch.entry(answers), args);
  const shown = commandLine(entry);
  if (!options.json) console.log(clean(`"${id}" will ${entry["url"] === undefined ? "run" : "use"}: ${shown}`));
  if (!options.yes && hasTerminal() && !(await confirmed(`Add it to ${place.file}? [Y/n] `))) {
    note("Nothing was changed.");
    return 1;
  }
  const undo = await rewrite(place, {
    command: `add ${typed}`,
    text: withValue(place.text, ["mcpServers", id], entry),
    secrets: await newNames(secrets),
    first: () => storeSecrets(secrets),
  });
  const { state, reason, tools } = await connectOnce(place.file, id);
  const works = state === "ready" || state === "degraded" || state === "needs-login";
  if (options.json) {
    printJson({
      server: id,
      config: place.file,
      runs: shown,
      undo: undo ?? null,
      state,
      reason: reason ?? null,
      tools,
    });
  } else {
    console.log(clean(`Added to ${place.file}; to take it back: goblin undo ${undo}`));
    if (state === "needs-login") console.log(clean(`It needs a login: goblin login ${id}`));
    else if (works) console.log(`It works, with ${counted(tools, "tool")}.`);
    else note(`It does not work yet: ${reason ?? state}`);
  }
  return works ? 0 : 1;
}

function freeId(wanted: string | undefined, usual: string, known: readonly string[]): string {
  const isTaken = (id: string): boolean => known.some((one) => one.toLowerCase() === id.toLowerCase());
  if (wanted !== undefined) {
    if (isTaken(wanted)) throw new UsageError(`the config has a server "${wanted}" already: choose another --name`);
    return wanted;
  }
  if (isTaken(usual)) throw new UsageError(`the config has a server "${usual}" already: name this one with --name`);
  return usual;
}

function withArguments(entry: ServerEntry, args: readonly string[]): ServerEntry {
  if (args.length === 0) return entry;
  if (entry["command"] === undefined) throw new UsageError("a server with an address takes no arguments");
  return { ...entry, args: [...(Array.isArray(entry["args"]) ? entry["args"] : []), ...args] };
}

/** Secrets are references in it. */
function commandLine(entry: ServerEntry): string {
  const { url, command, args } = entry;
  const named = (key: string): string[] =>
    Object.entries(recordOf(entry[key])).map(([name, value]) => `${name}=${quoted(String(value))}`);
  if (url !== undefined) return [String(url), ...named("headers")].join(" ");
  const words = [command, ...(Array.isArray(args) ? args : [])].map((word) => quoted(String(word)));
  return [...named("env"), ...words].join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./~{}$-]+$/.test(word) ? word : JSON.stringify(word);
}

async function confirmed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("n")));
  try {
    return /^(y(es)?)?$/i.test((await Promise.race([lines.question(clean(question)), ended])).trim());
  } finally {
    lines.close();
  }
}

interface Connected {
  readonly state: string;
  readonly reason: string | undefined;
  readonly tools: number;
}

/** Starts only this server, and stops it again. */
async function connectOnce(file: string, id: string): Promise<Connected> {
  const { config } = await loadConfig(file);
  const servers = config.servers.filter((server) => server.id === id);
  const target = await startTarget({ config: { ...config, servers }, configPath: file, quiet: true });
  try {
    const { items } = await target.request(adminRoutes.listServers);
    const row = items.find((one) => one.id === id);
    return { state: row?.state ?? "invalid", reason: row?.reason ?? undefined, tools: row?.counts.tools ?? 0 };
  } finally {
    await target.close();
  }
}
