/**
 * `goblin install` and `goblin uninstall`: add the gateway to clients' settings, and remove it.
 * What will change is shown first; `goblin undo` takes it back.
 */
import type { Client, Scope } from "../../clients/client.ts";
import { readState, textOf } from "../../clients/files.ts";
import { Journal } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { apply, fileOf, type Outcome, type Planned, planLink, planUnlink } from "../../clients/linking.ts";
import { clean } from "../../text/clean.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { type LinkTarget, linkTo, namedClients, thisMachine } from "./machine.ts";

export interface InstallOptions extends LinkTarget {
  readonly all?: boolean | undefined;
  readonly project?: boolean | undefined;
  readonly mode?: "http" | "stdio" | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const ANSWER_MS = 2000;

export async function install(ids: readonly string[], options: InstallOptions): Promise<number> {
  const chosen = await chosenClients(ids, options);
  const link = await linkTo(options);
  const outcomes: Outcome[] = [];
  const scope = scopeOf(options);
  for (const client of chosen) {
    const outcome = await planLink(client, thisMachine(), { scope, link, mode: options.mode });
    if (outcome) outcomes.push(outcome);
    else outcomes.push({ client, file: "", state: "refused", reason: "it has no file for a project" });
  }
  const code = await carryOut(`install ${chosen.map(({ id }) => id).join(" ")}`, outcomes, options);
  const isRemote = outcomes.some(
    ({ client, state }) => state === "planned" && client.remote && options.mode !== "stdio",
  );
  if (!options.json && !options.dryRun && isRemote) await tellIfSilent(link.gateway.url);
  if (!options.json && link.gateway.tokenVariable !== undefined && outcomes.some(({ state }) => state === "planned")) {
    const name = link.gateway.tokenVariable;
    console.error(`The gateway wants a token: set ${name} where the clients run (goblin token new makes one).`);
  }
  return code;
}

export async function uninstall(ids: readonly string[], options: InstallOptions): Promise<number> {
  const chosen = ids.length === 0 || options.all ? namedClients([]) : namedClients(ids);
  const outcomes: Outcome[] = [];
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

/** The clients will find nobody until the gateway runs. */
async function tellIfSilent(url: string): Promise<void> {
  try {
    // Any answer will do.
    await fetch(url, { method: "OPTIONS", signal: AbortSignal.timeout(ANSWER_MS) });
  } catch {
    console.error(clean(`Nothing answers at ${url} yet: start the gateway with goblin serve.`));
  }
}

/** With --all, those that are on this machine. */
async function chosenClients(ids: readonly string[], options: InstallOptions): Promise<readonly Client[]> {
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

function scopeOf({ project }: InstallOptions): Scope {
  return project ? "project" : "user";
}

async function carryOut(command: string, outcomes: readonly Outcome[], options: InstallOptions): Promise<number> {
  const plans = outcomes.flatMap((outcome) => (outcome.state === "planned" ? outcome.plan : []));
  if (!options.json) for (const plan of plans) show(plan);
  const journal = new Journal(process.env);
  const { id, failures } = options.dryRun ? { id: undefined, failures: [] } : await apply(command, plans, journal);
  const results = outcomes.map((outcome) => {
    const failed = failures.find(({ plan }) => outcome.state === "planned" && plan === outcome.plan);
    const reason = failed?.reason ?? (outcome.state === "refused" ? outcome.reason : undefined);
    const done = options.dryRun ? "planned" : "written";
    const state = reason !== undefined ? "refused" : outcome.state === "planned" ? done : outcome.state;
    return { client: outcome.client.id, file: outcome.file, state, ...(reason !== undefined && { reason }) };
  });
  if (options.json) printJson({ undo: id ?? null, results });
  else {
    for (const { client, file, state, reason } of results) {
      const line = `${client}: ${state}${reason === undefined ? "" : `: ${reason}`}${file === "" ? "" : ` (${file})`}`;
      if (reason === undefined) console.log(clean(line));
      else console.error(clean(line));
    }
    if (id !== undefined) console.log(`To take it back: goblin undo ${id}`);
  }
  return results.some(({ state }) => state === "refused") ? 1 : 0;
}

function show({ client, file, before, after }: Planned): void {
  console.log(clean(`${client.title}: ${file}`));
  for (const line of lineDiff(before ? textOf(before) : "", after.toString("utf8"))) console.log(clean(`  ${line}`));
}
