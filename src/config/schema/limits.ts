/** The sections `limits` and `timeouts` of the config: what a party may use, and for how long. */
import * as z from "zod";

/** Beyond this, Node's timers overflow and fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export const positiveMs = z.int().min(1).max(MAX_TIMER_MS);
export const msOrZero = z.int().min(0).max(MAX_TIMER_MS);
export const countFromOne = z.int().min(1);
const countFromZero = z.int().min(0);

export const limitsSchema = z.strictObject({
  subscriptionsPerClient: countFromZero
    .default(100)
    .describe(
      "Resource subscriptions per client. The streams of one account without a session hold at most ten times as many together.",
    ),
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
  headerBytes: z
    .int()
    .min(1024)
    .max(1_048_576)
    .default(16_384)
    .describe("The largest accepted total of a request's headers."),
  resultBytes: countFromOne
    .default(67_108_864)
    .describe("The largest accepted answer of a server. Its unfinished answers together may take four times as much."),
  catalogBytes: countFromOne
    .default(16_777_216)
    .describe("The total size of one server's lists; entries beyond it are dropped."),
  definitionBytes: countFromOne
    .default(1_048_576)
    .describe("The largest accepted tool, prompt, resource or template in a server's list; larger ones are dropped."),
  unreadBytes: countFromOne
    .default(67_108_864)
    .describe(
      "Approximate unread bytes per session, or account for clients without a session, over all streams and answers. Beyond it, or beyond 4096 unread messages on one stream, the stream is closed and further large answers are rejected. It also limits the answers to one batch together. A client that reads nothing of a large answer or a full stream for a minute is disconnected.",
    ),
  unsentBytes: countFromOne
    .default(33_554_432)
    .describe(
      "Approximate bytes that may wait for a program to read its stdin, and bytes of large requests that an HTTP server has not begun to answer; beyond it, calls are rejected.",
    ),
  inFlightPerServer: countFromOne
    .default(256)
    .describe(
      "Concurrent calls per server; further calls are queued, and accounts take turns. One account may hold half of what the others leave.",
    ),
  queuePerServer: countFromZero
    .default(1024)
    .describe(
      "Queued calls per server; further calls are rejected. One account may hold half of what the others leave.",
    ),
  connectionsPerServer: countFromOne
    .default(100)
    .describe(
      'Connections (for a stdio server, processes) per server with share "session". A call that needs one more is rejected. One account may hold half of what the others leave.',
    ),
  inFlightPerSession: countFromOne
    .default(256)
    .describe("Concurrent calls per session; per account for clients without a session."),
  batchMessages: countFromOne.default(100).describe("Messages per JSON-RPC batch."),
  callsPerSecond: z
    .number()
    .min(0)
    .default(0)
    .describe("Calls per second and session, or account for clients without a session; 0 means no limit."),
  callsAwaitingInput: countFromOne
    .default(10_000)
    .describe(
      "Calls of clients without a session that may wait for answers to a server's questions. One account may hold half of what the others leave.",
    ),
  handOvers: countFromOne
    .default(20_000)
    .describe(
      "Requests and streams under way for sessions that other replicas hold; further ones are rejected. One account may hold half of what the others leave.",
    ),
  heldCalls: countFromOne
    .default(2_000)
    .describe(
      "Calls that may wait for a person's approval; further ones are rejected. Of tasks that were such calls, as many are kept again. One account may hold half of what the others leave.",
    ),
  heldBytes: countFromOne
    .default(33_554_432)
    .describe(
      "The size of these calls together; beyond it, further ones are rejected. Results of tasks may take as much again. One account may hold half of what the others leave.",
    ),
});
export type LimitsConfig = z.output<typeof limitsSchema>;

export const timeoutsSchema = z
  .strictObject({
    connectMs: positiveMs
      .default(30_000)
      .describe("To reach a server, or start one again, and complete its handshake."),
    startMs: positiveMs
      .default(300_000)
      .describe(
        "For the first start of a program, which may install something, and for every start of a package runner (npx, uvx, docker run and the like). Not less than connectMs.",
      ),
    secretMs: positiveMs.default(30_000).describe("For a program that supplies a secret: ${cmd:…}, or 1Password's op."),
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
    receiveMs: positiveMs
      .default(60_000)
      .describe(
        "For a client's request to arrive completely; a slower one is cut off. Also for a session to start on an HTTP+SSE stream.",
      ),
    drainMs: msOrZero.default(10_000).describe("For running calls to finish when the gateway shuts down."),
  })
  .refine((timeouts) => timeouts.callMs <= timeouts.maxCallMs, {
    path: ["callMs"],
    error: "must not be greater than timeouts.maxCallMs",
  });
export type TimeoutsConfig = z.output<typeof timeoutsSchema>;
