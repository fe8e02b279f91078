/** The sections `limits` and `timeouts` of the config: what a party may use, and for how long. */
import * as z from "zod";

/** Beyond this, Node's timers overflow and fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export const positiveMs = z.int().min(1).max(MAX_TIMER_MS);
const msOrZero = z.int().min(0).max(MAX_TIMER_MS);
export const countFromOne = z.int().min(1);

export const limitsSchema = z.strictObject({
  sessions: countFromOne
    .default(10_000)
    .describe(
      "Open sessions, plus open streams of clients without a session. One account may hold half of what the others leave.",
    ),
  sessionIdleMs: positiveMs.default(1_800_000).describe("Idle time after which a session is closed."),
  bodyBytes: countFromOne
    .default(4_194_304)
    .describe(
      "The largest accepted request body. Of large bodies, one token or address may have 16 times as much under way.",
    ),
  inFlightPerServer: countFromOne
    .default(256)
    .describe(
      "Concurrent calls per server; further calls are queued, and accounts take turns. One account may hold half of what the others leave.",
    ),
  connectionsPerServer: countFromOne
    .default(100)
    .describe(
      'Connections (for a stdio server, processes) per server with share "session". A call that needs one more is rejected. One account may hold half of what the others leave.',
    ),
  callsPerSecond: z
    .number()
    .min(0)
    .default(0)
    .describe("Calls per second and session, or account for clients without a session; 0 means no limit."),
});
export type LimitsConfig = z.output<typeof limitsSchema>;

export const timeoutsSchema = z
  .strictObject({
    connectMs: positiveMs
      .default(30_000)
      .describe("To reach a server, or start one again, and complete its handshake."),
    callMs: positiveMs
      .default(60_000)
      .describe(
        "For one call. Progress from the server restarts it; it is paused while the server waits for an answer from the client.",
      ),
    maxCallMs: positiveMs
      .default(600_000)
      .describe(
        "For one call in total, including progress and questions. A longer timeoutMs of a server or tool takes precedence.",
      ),
    drainMs: msOrZero.default(10_000).describe("For running calls to finish when the gateway shuts down."),
  })
  .refine((timeouts) => timeouts.callMs <= timeouts.maxCallMs, {
    path: ["callMs"],
    error: "must not be greater than timeouts.maxCallMs",
  });
export type TimeoutsConfig = z.output<typeof timeoutsSchema>;
