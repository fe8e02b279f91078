/**
 * Keys that earlier versions had. A removed key that only tuned something is ignored with a
 * warning. One that protected something is an error: the gateway must not start without what its
 * operator believes is in force.
 */
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";

interface RemovedKey {
  readonly kind: "warned" | "refused";
  readonly instead: string;
}

const warned = (instead: string): RemovedKey => ({ kind: "warned", instead });
const refused = (instead: string): RemovedKey => ({ kind: "refused", instead });

const fixedAt = (value: string): RemovedKey => warned(`it is fixed at ${value}; remove the key`);

/** By path; `*` stands for any one step. An entry's keys count in `servers` as well. */
const removed: ReadonlyMap<string, RemovedKey> = new Map([
  ["limits.subscriptionsPerClient", fixedAt("100")],
  ["limits.headerBytes", fixedAt("16 KiB")],
  ["limits.resultBytes", fixedAt("64 MiB")],
  ["limits.catalogBytes", fixedAt("16 MiB")],
  ["limits.definitionBytes", fixedAt("1 MiB")],
  ["limits.unreadBytes", fixedAt("64 MiB")],
  ["limits.unsentBytes", fixedAt("32 MiB")],
  ["limits.queuePerServer", warned("it is fixed at 1024; set limits.inFlightPerServer or limits.callsPerSecond")],
  ["limits.inFlightPerSession", warned("it is fixed at 256; set limits.callsPerSecond")],
  ["limits.batchMessages", fixedAt("100")],
  ["limits.callsAwaitingInput", fixedAt("10,000")],
  ["limits.handOvers", fixedAt("20,000")],
  ["limits.heldCalls", fixedAt("2,000")],
  ["limits.heldBytes", fixedAt("32 MiB")],
  ["timeouts.secretMs", fixedAt("30 seconds")],
  ["timeouts.receiveMs", fixedAt("60 seconds")],
  ["timeouts.startMs", warned("it is five minutes; for longer starts, set timeouts.connectMs")],
  ["lists.pageSize", fixedAt("1000")],
  ["lists.waitMs", fixedAt("8 seconds")],
  ["lists.refreshMs", fixedAt("five minutes")],
  ["results.preview", fixedAt("800 tokens")],
  ["results.compact", warned("JSON passes as the server wrote it; use pick or drop under tools.overrides")],
  ["results.dedupe", warned("text passes as the server wrote it; use pick or drop under tools.overrides")],
  ["results.ttlMs", fixedAt("one hour")],
  ["results.memoryBytes", fixedAt("16 MiB")],
  ["results.keptBytes", fixedAt("1 GiB")],
  ["approvals.progressMs", fixedAt("10 seconds")],
  ["tools.budgetTokens", warned('it is fixed at 20,000; set tools.expose to "all" or "search" to decide yourself')],
  ["calls.keepBytes", warned("it is fixed at 8 MiB; set calls.keep")],
  ["backends.graceMs", fixedAt("five minutes")],
  ["prompts", warned("prompts without a required argument are always refused; remove the section")],
  ["mcpServers.*.tools.overrides.*.results.preview", fixedAt("800 tokens")],
  ["mcpServers.*.tools.overrides.*.results.compact", warned("JSON passes as the server wrote it; use pick or drop")],
  ["mcpServers.*.tools.overrides.*.results.dedupe", warned("text passes as the server wrote it; use pick or drop")],
  ["mcpServers.*.tools.overrides.*.enabled", refused("add the tool's name to tools.deny to hide it")],
  ["mcpServers.*.results", refused("set tools.overrides.<tool>.results for single tools, or results for all servers")],
  ["lock.on", refused('set lock.strictness to "strict", "default" or "relaxed"')],
  ["log.auditMaxBytes", refused("the file is renamed at 100 MiB; to keep more, move renamed files elsewhere")],
  ["log.auditKeep", refused("five renamed files are kept; to keep more, move renamed files elsewhere")],
  ["otel.headers", refused("set the environment variable OTEL_EXPORTER_OTLP_HEADERS")],
]);

/** Reports a removed key. Returns whether to leave it out, with everything below it. */
export function reportRemoved(path: KeyPath, report: Report): boolean {
  const found = removed.get(patternOf(path));
  if (found === undefined) return false;
  if (found.kind === "warned") report.warn(path, `ignored: this key was removed; ${found.instead}`, { at: "key" });
  else report.error(path, "this key was removed", { at: "key", hint: found.instead });
  return true;
}

function patternOf(path: KeyPath): string {
  const [section] = path;
  if (section !== "mcpServers" && section !== "servers") return path.join(".");
  return path
    .map((step, i) => (i === 0 ? "mcpServers" : i === 1 || (i === 4 && path[3] === "overrides") ? "*" : step))
    .join(".");
}
