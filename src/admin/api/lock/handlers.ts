/** The lock file through the API: its state, approvals and removals. */
import { isInvalid, type ServerConfig } from "../../../config/schema/server.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { Drift } from "../../../upstream/lock/drift.ts";
import { effectOf } from "../../../upstream/lock/effect.ts";
import type { Comparison } from "../../../upstream/lock/lock.ts";
import type { Source } from "../../../upstream/lock/source.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { DriftRow, LockedServerRow, LockState, UpgradeRow } from "./schema.ts";

interface Asked {
  readonly params: Record<string, unknown>;
  readonly body: unknown;
  readonly principal: Principal;
}

export function lockHandlers(parts: Pick<AdminParts, "lock" | "config" | "log" | "servers" | "logs">) {
  const { lock, config, log, servers, logs } = parts;
  const rowOf = (id: string, comparison: Comparison | undefined, isConfigured: boolean): LockedServerRow => {
    const approved = lock.file.servers.get(id);
    const drifts = comparison?.drifts ?? [];
    const isKnown = approved !== undefined || lock.file.lines.has(id);
    const compared = !isKnown ? "new" : drifts.length > 0 ? "drift" : "approved";
    const { source } = comparison?.current ?? approved ?? { source: {} };
    return {
      id,
      state: !isConfigured ? "gone" : comparison ? compared : "unknown",
      line: lock.file.lines.get(id) ?? null,
      approved: approved?.digest ?? null,
      current: comparison?.current.digest ?? null,
      source: logs.masker.value(sourceRow(source)),
      drifts: drifts.map(driftRow),
      upgrade: upgradeOf(id),
    };
  };
  const upgradeOf = (id: string): UpgradeRow | null => {
    const upgrade = servers.roster.upgrade(id);
    if (!upgrade) return null;
    const { state: where, reason, offer } = upgrade;
    const { current, drifts = [], digest = null } = offer ?? {};
    const shown = { state: where, reason: logs.masker.text(reason), digest };
    return { ...shown, source: logs.masker.value(sourceRow(current?.source ?? {})), drifts: drifts.map(driftRow) };
  };
  const mask = (text: string): string => logs.masker.text(text);
  const driftRow = ({ before, after, changes, ...drift }: Drift): DriftRow => ({
    ...drift,
    name: logs.masker.name(drift.name),
    effect: effectOf({ ...drift, before, after, changes }, lock.actions),
    changes: changes.map((change) => ({ class: change.class, path: mask(change.path), what: mask(change.what) })),
    before: before === undefined ? null : mask(before),
    after: after === undefined ? null : mask(after),
  });
  const configured = (): ServerConfig[] =>
    config.current.servers.filter((server) => server.enabled && !isInvalid(server));
  const state = async (): Promise<LockState> => {
    await lock.upToDate();
    const rows = await Promise.all(
      configured().map(async (server) => rowOf(server.id, await lock.compare(server), true)),
    );
    const ids = new Set(config.current.servers.map(({ id }) => id));
    const gone = [...lock.file.lines.keys()].filter((id) => !ids.has(id)).map((id) => rowOf(id, undefined, false));
    const problems = lock.file.problems.map(({ line, message }) => ({ line, message }));
    return { file: lock.path, mode: config.current.lock.mode, problems, servers: [...rows, ...gone] };
  };
  const acting = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    try {
      return await act();
    } catch (error) {
      throw apiFailure("LOCK_CONFLICT", messageOf(error));
    }
  };
  return {
    getLock: state,
    approveServer: async ({ params, body, principal }: Asked) => {
      const id = String(params["id"]);
      const server = configured().find((one) => one.id === id);
      if (!server) throw apiFailure("SERVER_NOT_FOUND", `There is no server "${id}"`);
      const { expect } = body as { readonly expect: string };
      await lock.upToDate();
      const approved = await acting(() => lock.approve(server, expect));
      log.info({ server: id, surface: expect, by: principal.name }, "A server was approved");
      return rowOf(id, approved, true);
    },
    switchServer: async ({ params, body, principal }: Asked) => {
      const id = String(params["id"]);
      const { expect } = body as { readonly expect: string };
      if (!(await servers.roster.switchTo(id, expect))) {
        throw apiFailure("LOCK_CONFLICT", `No new version of server "${id}" with this digest waits: look again`);
      }
      log.warn({ server: id, offer: expect, by: principal.name }, "A new version took over without an approval");
      return state();
    },
    removeLockedServer: async ({ params, principal }: Asked) => {
      const id = String(params["id"]);
      await lock.upToDate();
      if (!lock.file.lines.has(id)) throw apiFailure("SERVER_NOT_FOUND", `The lock file has no server "${id}"`);
      await acting(() => lock.remove(id));
      log.info({ server: id, by: principal.name }, "A server was removed from the lock file");
      return state();
    },
  };
}

function sourceRow(source: Source): LockedServerRow["source"] {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}
