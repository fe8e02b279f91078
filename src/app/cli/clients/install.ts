/**
 * `goblin install` and `goblin uninstall`: add the gateway to clients' settings, and remove it.
 * What will change is shown first, and tried afterwards; `goblin undo` takes it back.
 */

import { clean } from "../../../lib/text/clean.ts";
import type { KnownClient, SettingsScope } from "../../clients/client.ts";
import { readState, textOf } from "../../clients/files.ts";
import { Journal } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { apply, fileOf, type LinkResult, OWN_NAME, type Planned, planLink, planUnlink } from "../../clients/linking.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { type Handshake, tryEntries } from "./handshake.ts";
import { type LinkTarget, linkTo, namedClients, thisMachine } from "./machine.ts";

export interface InstallOptions extends LinkTarget {
  readonly all?: boolean | undefined;
  readonly project?: boolean | undefined;
  readonly mode?: "http" | "stdio" | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function install(ids: readonly string[], options: InstallOptions): Promise<number> {
  const chosen = await chosenClients(ids, options);
  const { chosen: links, all } = await linkTo(options);
  if (links.length === 0) throw new UsageError("the config has no server: nothing to write an entry for");
  const outcomes: LinkResult[] = [];
  const scope = scopeOf(options);
  for (const client of chosen) {
    const outcome = await planLink(client, thisMachine(), { scope, links, mode: options.mode });
    if (outcome) outcomes.push(outcome);
    else outcomes.push({ client, file: "", state: "refused", reason: "it has no file for a project" });
  }
  const code = await carryOut(`install ${chosen.map(({ id }) => id).join(" ")}`, outcomes, {
    ...options,
    isTried: true,
    expectsTools: all.some(({ name }) => name !== OWN_NAME),
  });
  const name = links[0]?.gateway.tokenVariable;
  if (!options.json && name !== undefined && outcomes.some(({ state }) => state === "planned"))
    console.error(`The gateway wants a token: set ${name} where the clients run (goblin token new makes one).`);
  return code;
}

export async function uninstall(ids: readonly string[], options: InstallOptions): Promise<number> {
  const chosen = ids.length === 0 || options.all ? namedClients([]) : namedClients(ids);
  const outcomes: LinkResult[] = [];
  for (const client of chosen) {
    for (const scope of ["user", "project"] as const) {
      const outcome = await planUnlink(client, thisMachine(), scope);
      if (outcome && !outcomes.some(({ file }) => file === outcome.file)) outcomes.push(outcome);
    }
  }
  if (outcomes.length === 0 && !options.json) {
    console.log("No client has an entry of the gateway.");
    return 0;
  }
  return carryOut(`uninstall ${ids.join(" ")}`.trim(), outcomes, options);
}

/** With --all, those that are on this machine. */
async function chosenClients(ids: readonly string[], options: InstallOptions): Promise<readonly KnownClient[]> {
  if (ids.length > 0 && options.all) throw new UsageError("--all takes no names");
  if (ids.length > 0) return namedClients(ids);
  if (!options.all)
    throw new UsageError("name the clients, or use --all for all that are on this machine; goblin clients lists them");
  const there = await Promise.all(
    namedClients([]).map(async (client) => {
      const file = await fileOf(client, thisMachine(), scopeOf(options));
      return file !== undefined && (await readState(file).catch(() => true)) ? client : undefined;
    }),
  );
  return there.filter((client) => client !== undefined);
}

function scopeOf({ project }: InstallOptions): SettingsScope {
  return project ? "project" : "user";
}

interface CarryOut extends InstallOptions {
  /** Every written entry is tried. */
  readonly isTried?: boolean;
  /** The config has servers. */
  readonly expectsTools?: boolean;
}

async function carryOut(command: string, outcomes: readonly LinkResult[], options: CarryOut): Promise<number> {
  const plans = outcomes.flatMap((outcome) => (outcome.state === "planned" ? outcome.plan : []));
  if (!options.json) for (const plan of plans) show(plan);
  const journal = new Journal(process.env);
  const { id, failures } = options.dryRun ? { id: undefined, failures: [] } : await apply({ command }, plans, journal);
  const plain = outcomes.map((outcome) => {
    const failed = failures.find(({ plan }) => outcome.state === "planned" && plan === outcome.plan);
    const reason = failed?.reason ?? (outcome.state === "refused" ? outcome.reason : undefined);
    const done = options.dryRun ? "planned" : "written";
    const state = reason !== undefined ? "refused" : outcome.state === "planned" ? done : outcome.state;
    return { client: outcome.client, file: outcome.file, state, ...(reason !== undefined && { reason }) };
  });
  const handshakes =
    options.isTried && !options.dryRun
      ? await tryAll(plain, options.expectsTools === true)
      : new Map<string, Handshake[]>();
  const results = plain.map(({ client, file, ...result }) => ({
    client: client.id,
    file,
    ...result,
    ...(handshakes.has(file) && { handshakes: handshakes.get(file)! }),
  }));
  if (options.json) printJson({ undo: id ?? null, results });
  else {
    for (const { client, file, state, reason } of results) {
      const line = `${client}: ${state}${reason === undefined ? "" : `: ${reason}`}${file === "" ? "" : ` (${file})`}`;
      if (reason === undefined) console.log(clean(line));
      else console.error(clean(line));
    }
    tellHandshakes(results);
    if (id !== undefined) console.log(`To take it back: goblin undo ${id}`);
  }
  const failed = [...handshakes.values()].flat().some(({ tools, isOpen }) => tools === undefined && !isOpen);
  return failed || results.some(({ state }) => state === "refused") ? 1 : 0;
}

interface Result {
  readonly client: KnownClient;
  readonly file: string;
  readonly state: string;
}

/** Returns the handshakes by file. */
async function tryAll(results: readonly Result[], expectsTools: boolean): Promise<Map<string, Handshake[]>> {
  const tried = new Map<string, Handshake[]>();
  const line = createStatusLine();
  for (const { client, file, state } of results) {
    if (state !== "written" && state !== "unchanged") continue;
    line.spin(() => `trying what ${client.title} has now`);
    tried.set(file, await tryEntries(client, file, { expectsTools }).finally(() => line.clear()));
  }
  return tried;
}

/** The same reason for several clients is said once. */
function tellHandshakes(
  results: readonly { readonly client: string; readonly handshakes?: readonly Handshake[] }[],
): void {
  const said = new Set<string>();
  for (const { client, handshakes = [] } of results) {
    for (const { entry, tools, reason } of handshakes) {
      if (tools !== undefined) console.log(clean(`${client}: "${entry}" answers, with ${tools} tools`));
      else if (!said.has(reason!)) console.error(clean(`${client}: "${entry}" does not work yet: ${reason}`));
      said.add(reason ?? "");
    }
  }
}

function show({ client, file, before, after }: Planned): void {
  console.log(clean(`${client.title}: ${file}`));
  for (const line of lineDiff(before ? textOf(before) : "", after.toString("utf8"))) console.log(clean(`  ${line}`));
}
