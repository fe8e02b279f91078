/**
 * `goblin service install`, `uninstall` and `status`: the gateway runs when its user logs in.
 *
 * Invariant: the file is shown before it is written, it is written as a whole, and a file that
 * Goblin did not write is left alone. If the service manager refuses it, it is as before.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { formatProblem } from "../../../config/problems/problem.ts";
import { loadConfig } from "../../../config/reading/load.ts";
import { isInvalid } from "../../../config/schema/server.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { clean } from "../../../lib/text/clean.ts";
import { FileError, type FileState, readState, replaceFile } from "../../clients/files.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { ownConfig, ownProgram, thisMachine } from "../clients/machine.ts";
import { readRecord } from "../gateway/gateway-record.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { type Definition, definitionOf, MARK } from "./definition.ts";
import { missingIn, readInstalled, removeInstalled, writeInstalled } from "./installed.ts";
import { runTool } from "./run-tool.ts";
import { ServiceError } from "./service-error.ts";
import { type Manager, managerOf } from "./service-system.ts";

export interface ServiceOptions {
  readonly config?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const READY_MS = 60_000;
const LOOK_MS = 250;

export async function installService(options: ServiceOptions): Promise<number> {
  const config = ownConfig(options.config);
  if (!existsSync(config))
    throw new UsageError(`there is no config ${config}: name one with --config, or make one with goblin import`);
  const manager = thisManager();
  const given = await manager.environment();
  const definition = definitionOf({ program: ownProgram(), config, env: process.env });
  await warnOfProblems(definition, given);
  const text = manager.textFor(definition);
  const before = await ownFile(manager);
  const after = manager.bytesOf(text);
  const isNew = !before?.bytes.equals(after);
  if (!options.json) preview(manager, before, text);
  if (options.dryRun) return told({ state: "planned", file: manager.file, text }, options, []);
  if (!before || (await manager.state()) !== "running") refuseRunning(config);
  const old = readRecord(config, process.env)?.pid;
  if (isNew) await write(manager, { before, after });
  await writeInstalled(installedFile(), definition);
  try {
    await manager.start();
  } catch (error) {
    if (isNew) await replaceFile(manager.file, { before: await readState(manager.file), after: before?.bytes });
    await manager.forget();
    throw error;
  }
  const url = await waitFor(manager, config, old);
  const facts = { state: url === undefined ? await manager.state() : "running", file: manager.file, url: url ?? null };
  if (url !== undefined) return told(facts, options, [`The gateway runs: ${url}/mcp`, ...endOf(manager)]);
  throw new ServiceError(
    `the service is installed, but its gateway does not run. Its log: ${manager.logs}\nTo remove it: goblin service uninstall`,
  );
}

export async function uninstallService(options: ServiceOptions): Promise<number> {
  const manager = thisManager();
  const before = await ownFile(manager);
  if (!before) return told({ state: "absent", file: manager.file }, options, ["No service is installed."]);
  if (options.dryRun)
    return told({ state: "planned", file: manager.file }, options, [`${manager.file} would be removed`]);
  // A file that no service manager knows does no harm, but nobody wants it either.
  const problem = await manager.stop().then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  await write(manager, { before, after: undefined });
  await removeInstalled(installedFile());
  await manager.forget();
  if (problem) console.error(clean(`goblin: it may still run: ${problem.message}`));
  return told({ state: "removed", file: manager.file }, options, [
    `The service is stopped and removed (${manager.file})`,
  ]);
}

/** Exit code 0 only if it runs. */
export async function serviceStatus(options: ServiceOptions): Promise<number> {
  const manager = thisManager();
  const found = await ownFile(manager);
  if (!found) {
    told({ state: "absent", file: manager.file }, options, ["No service is installed (goblin service install)."]);
    return 1;
  }
  await manager.environment();
  const installed = await readInstalled(installedFile());
  const state = await manager.state();
  const running = installed && readRecord(installed.config, process.env);
  const missing = installed ? missingIn(installed) : [];
  const config = installed?.config ?? null;
  const facts = { state, file: manager.file, config, url: running?.url ?? null, pid: running?.pid ?? null, missing };
  const lines = [
    `service  ${state}${running ? `, ${running.url}/mcp (process ${running.pid})` : ""}`,
    ...(config === null ? [] : [`config   ${config}`]),
    `file     ${manager.file}`,
    `log      ${manager.logs}`,
    ...missing.map((path) => `missing  ${path}: run goblin service install again`),
  ];
  told(facts, options, lines);
  return state === "running" ? 0 : 1;
}

function thisManager(): Manager {
  return managerOf({
    machine: thisMachine(),
    run: runTool,
    stateFolder: stateFolder(process.env),
    isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv") || Boolean(process.env["container"]),
    userId: process.getuid?.() ?? 0,
  });
}

function installedFile(): string {
  return join(stateFolder(process.env), "service.json");
}

/** @throws ServiceError if the file is not Goblin's */
async function ownFile({ file }: Manager): Promise<FileState | undefined> {
  const found = await readState(file).catch(named(file));
  const isOwn =
    found && ["utf8", "utf16le"].some((code) => found.bytes.toString(code as BufferEncoding).includes(MARK));
  if (!found || isOwn) return found;
  throw new ServiceError(`${file} was not written by goblin service install: rename or remove it first`);
}

async function write({ file }: Manager, change: { before: FileState | undefined; after: Buffer | undefined }) {
  await replaceFile(file, { ...change, mode: 0o644 }).catch(named(file));
}

function named(file: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof FileError ? new ServiceError(`${file}: ${error.message}`) : error;
  };
}

/** The service gets other variables than the user's shell, so servers may miss theirs. */
async function warnOfProblems(definition: Definition, given: Readonly<Record<string, string>> | undefined) {
  const env = given === undefined ? process.env : { HOME: thisMachine().home, ...given, ...definition.environment };
  const { config } = await loadConfig(definition.config, env);
  const problems = config.servers.filter(isInvalid).flatMap((server) => server.problems);
  for (const problem of problems) console.error(clean(formatProblem(problem)));
  if (problems.length > 0)
    console.error(
      "A service does not get the variables of your shell: keep secrets with goblin secret set NAME, " +
        "and write ${keychain:NAME} in the config.",
    );
}

/** Two gateways cannot have one port. One in the background makes way by itself. */
function refuseRunning(config: string): void {
  const running = readRecord(config, process.env);
  if (!running || running.isBackground) return;
  throw new UsageError(
    `a gateway of this config runs already, at ${running.url} (process ${running.pid}): end it first`,
  );
}

/** Returns the gateway's URL when it listens; undefined if the service failed. */
async function waitFor(manager: Manager, config: string, old: number | undefined): Promise<string | undefined> {
  const line = createStatusLine();
  line.spin(() => "waiting for the gateway");
  try {
    for (const end = Date.now() + READY_MS; Date.now() < end; await pause(LOOK_MS)) {
      const running = readRecord(config, process.env);
      if (running && running.pid !== old && !running.isBackground) return running.url;
      if ((await manager.state()) === "failed") return undefined;
    }
    return undefined;
  } finally {
    line.clear();
  }
}

function preview({ file }: Manager, before: FileState | undefined, text: string): void {
  console.log(clean(file));
  const encoding = before?.bytes[0] === 0xff ? "utf16le" : "utf8";
  for (const line of lineDiff(before?.bytes.toString(encoding) ?? "", text)) console.log(clean(`  ${line}`));
}

function endOf({ logs, hints }: Manager): string[] {
  return [`Its log: ${logs}`, ...hints, "To take it back: goblin service uninstall"];
}

function told(facts: Readonly<Record<string, unknown>>, { json }: ServiceOptions, lines: readonly string[]): number {
  if (json) printJson(facts);
  else for (const line of lines) console.log(clean(line));
  return 0;
}
