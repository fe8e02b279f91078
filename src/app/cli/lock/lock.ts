/**
 * `goblin lock`, `verify`, `diff` and `approve`: the approved offers of servers, and today's.
 *
 * Exit code 0: everything is as approved. 1: something is not. 2: something is not known: a server
 * that does not answer, or a lock file that cannot be read.
 */
import type { LockedServerRow, LockState } from "../../../admin/api/lock/schema.ts";
import { sourceText } from "../../../admin/api/lock/source-text.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import { clean } from "../../../lib/text/clean.ts";
import { type Target, type TargetOptions, withTarget } from "../gateway/target.ts";
import { requireServer } from "../suggest.ts";
import { type Colour, painter } from "../terminal/paint.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { sarifOf } from "./sarif.ts";
import { driftLines } from "./show.ts";

export interface LockOptions extends TargetOptions {
  readonly json?: boolean | undefined;
  readonly sarif?: boolean | undefined;
  readonly expect?: string | undefined;
}

const colours: Readonly<Record<LockedServerRow["state"], Colour>> = {
  approved: "green",
  new: "yellow",
  drift: "red",
  gone: "yellow",
  unknown: "red",
};

const columns: Column<LockedServerRow>[] = [
  { title: "SERVER", text: ({ id }) => id },
  { title: "STATE", text: ({ state }) => state, colour: ({ state }) => colours[state] },
  { title: "DIFFERENCES", text: ({ drifts, state }) => (state === "new" ? "all" : String(drifts.length)) },
  { title: "SURFACE", text: ({ current, approved }) => (current ?? approved ?? "–").slice(0, 19) },
  { title: "SOURCE", text: ({ source }) => sourceText(source) },
  { title: "UPGRADE", text: ({ upgrade }) => upgrade?.state ?? "–" },
];

/** Approves servers that are new, unless the scanner found an attack. */
export function lock(options: LockOptions): Promise<number> {
  return withTarget({ ...options, quiet: true }, async (target) => {
    const before = await stateOf(target);
    for (const server of before.servers) {
      const isAttack = server.drifts.some((drift) => drift.class === "suspicious");
      if (server.state === "new" && server.current && !isAttack) await approveAt(target, server.id, server.current);
    }
    const after = await stateOf(target);
    if (options.json) printJson(briefly(after));
    else {
      printState(after);
      for (const { id, state, drifts } of after.servers) {
        if (state === "drift") console.error(`${clean(id)} is not as it was approved: goblin lock diff ${clean(id)}`);
        if (state === "new" && drifts.some((drift) => drift.class === "suspicious")) {
          console.error(`${clean(id)} was not added, the scanner found something: goblin lock diff ${clean(id)}`);
        }
      }
    }
    return codeOf(after);
  });
}

export function verify(only: string | undefined, options: LockOptions): Promise<number> {
  return compared(only, options, (state) => {
    if (options.sarif) printJson(sarifOf(state));
    else if (options.json) printJson(state);
    else printState(state);
  });
}

export function diff(only: string | undefined, options: LockOptions): Promise<number> {
  return compared(only, options, (state) => {
    if (options.json) return printJson(state);
    const paint = painter(process.stdout);
    const width = process.stdout.isTTY ? process.stdout.columns : 160;
    const changed = state.servers.filter(({ drifts }) => drifts.length > 0);
    const upgrades = state.servers.flatMap(({ id, upgrade }) => (upgrade ? [{ id, upgrade }] : []));
    for (const { id, upgrade } of upgrades) {
      console.log(clean(`A new version of ${id}, ${sourceText(upgrade.source) || "not known yet"}: ${upgrade.reason}`));
      for (const line of driftLines({ id, drifts: upgrade.drifts }, { paint, width })) console.log(line);
      if (upgrade.digest === null) continue;
      console.log(`To approve it: goblin lock approve ${clean(id)} --expect ${upgrade.digest}`);
      console.log(`To take it without an approval: goblin lock switch ${clean(id)} --expect ${upgrade.digest}\n`);
    }
    for (const server of changed) {
      for (const line of driftLines(server, { paint, width })) console.log(line);
      const command = `goblin lock approve ${clean(server.id)} --expect ${server.current}`;
      console.log(`To approve all of it: ${command}\n`);
    }
    if (changed.length + upgrades.length === 0) printState(state);
    else printProblems(state);
  });
}

export async function approve(id: string, options: LockOptions): Promise<number> {
  return withTarget({ ...options, only: undefined, quiet: true }, async (target) => {
    const { servers } = await stateOf(target);
    requireServer(
      id,
      servers.map((server) => server.id),
    );
    const server = servers.find((one) => one.id === id)!;
    if (server.state === "gone") {
      await target.request({ ...adminRoutes.removeLockedServer, path: pathOf(id) });
      if (!options.json) console.log(`removed ${clean(id)} from the lock file`);
      return 0;
    }
    if (server.current === null) throw new Error(`server "${id}" has not been listed: goblin status says why`);
    if (options.expect === undefined) {
      const fix = `look at it with goblin lock diff ${id}, then give --expect ${server.current}`;
      throw new UsageError(`approve ${id}: --expect is missing; ${fix}`);
    }
    const approved = await approveAt(target, id, options.expect);
    if (options.json) printJson({ id, surface: approved.current });
    else console.log(`approved ${clean(id)}, ${approved.current}`);
    return 0;
  });
}

/** Lets a new version take over that waits. */
export async function switchTo(id: string, options: LockOptions): Promise<number> {
  const { expect } = options;
  if (expect === undefined) throw new UsageError(`switch ${id}: --expect is missing; goblin lock diff ${id} shows it`);
  return withTarget({ ...options, only: undefined, quiet: true }, async (target) => {
    const { servers } = await stateOf(target);
    requireServer(
      id,
      servers.map((server) => server.id),
    );
    await target.request({ ...adminRoutes.switchServer, path: `${pathOf(id)}/switch` }, { expect });
    if (!options.json) console.log(`switched ${clean(id)} to the new version`);
    return 0;
  });
}

function compared(only: string | undefined, options: LockOptions, show: (state: LockState) => void): Promise<number> {
  return withTarget({ ...options, only, quiet: true }, async (target) => {
    const all = await stateOf(target);
    if (only !== undefined) {
      requireServer(
        only,
        all.servers.map(({ id }) => id),
      );
    }
    const state = { ...all, servers: all.servers.filter(({ id }) => only === undefined || id === only) };
    show(state);
    return codeOf(state);
  });
}

function stateOf(target: Target): Promise<LockState> {
  return target.request(adminRoutes.getLock);
}

function approveAt(target: Target, id: string, expect: string): Promise<LockedServerRow> {
  return target.request({ ...adminRoutes.approveServer, path: pathOf(id) }, { expect });
}

function pathOf(id: string): string {
  return `/api/lock/${encodeURIComponent(id)}`;
}

function codeOf({ servers, problems }: LockState): number {
  if (problems.length > 0 || servers.some(({ state }) => state === "unknown")) return 2;
  return servers.every(({ state, upgrade }) => state === "approved" && !upgrade) ? 0 : 1;
}

function printState(state: LockState): void {
  if (state.servers.length === 0) console.log("there are no servers");
  else printTable(state.servers, columns);
  printProblems(state);
}

function printProblems({ file, problems, servers }: LockState): void {
  for (const { line, message } of problems) console.error(clean(`${file}:${line} ${message}`));
  for (const { id, line, state } of servers) {
    if (state !== "gone") continue;
    console.error(clean(`${file}:${line} server "${id}" is not in the config; remove it: goblin lock approve ${id}`));
  }
}

/** Without the texts, which are in the file. */
function briefly({ servers, ...state }: LockState) {
  return { ...state, servers: servers.map(({ drifts, ...server }) => ({ ...server, differences: drifts.length })) };
}
