/**
 * The events of `GET /api/events`: server-sent events with the type in `event:` and the value as
 * JSON in `data:`.
 *
 * Invariant: a client that opens the stream, then reads every list once and applies the events, is
 * never stale. The pulse comes every second, so a longer silence means a dead connection.
 */
import * as z from "zod";
import {
  CallRow,
  CallTotals,
  ConfigProblem,
  Counts,
  LockFigures,
  LogEntry,
  LogLevelSchema,
  Moment,
  ServerRow,
  SessionRow,
  SubscriptionRow,
} from "./schema.ts";

/** Sent once a second: the totals, and the last second's figures for sparklines. */
export const Pulse = Moment.extend({
  uptimeMs: z.number().nonnegative(),
  counts: Counts,
  calls: CallTotals,
  logLevel: LogLevelSchema,
});
export type Pulse = z.infer<typeof Pulse>;

export const ServerEvent = z.object({
  id: z.string(),
  server: ServerRow.nullable().describe("the row as it is now; null when the server is gone"),
});
export const CatalogEvent = z.object({
  kinds: z.array(z.enum(["tools", "prompts", "resources"])).describe("resources covers templates"),
});
export const SubscriptionsEvent = z.object({ items: z.array(SubscriptionRow), total: z.int().nonnegative() });
export const SessionsEvent = z.object({ items: z.array(SessionRow), total: z.int().nonnegative() });

/** Sent after each reload, whether it was applied or refused. */
export const ConfigEvent = z.object({
  problem: ConfigProblem.nullable().describe("as in the state; null if the config was applied"),
});

export const ApprovalsEvent = z.object({
  held: z.int().nonnegative().describe("how many calls wait for an answer; the list tells which"),
});

export const LockEvent = LockFigures.describe("the comparisons with the lock file are others now");

/** Maps an event type to the schema of its data. */
export const adminEvents = {
  state: Pulse,
  server: ServerEvent,
  catalog: CatalogEvent,
  call: CallRow,
  log: LogEntry,
  subscriptions: SubscriptionsEvent,
  sessions: SessionsEvent,
  config: ConfigEvent,
  approvals: ApprovalsEvent,
  lock: LockEvent,
} as const;

export type AdminEventType = keyof typeof adminEvents;
export type AdminEvent = {
  [Type in AdminEventType]: { type: Type; data: z.infer<(typeof adminEvents)[Type]> };
}[AdminEventType];
