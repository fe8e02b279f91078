/**
 * Bounds and intervals that are not keys of the config: no operator has a reason to set them.
 *
 * Each stands in the section of `Config` that its neighbors are in, so that a part reads its
 * settings in one place, and so that a test can lower one in the config that it gives to
 * `createGateway`. No file and no environment variable can.
 */
import type { ConfigFile } from "./schema/config.ts";

export const fixedLimits = {
  /** Per client. The streams of one account without a session hold ten times as many together. */
  subscriptionsPerClient: 100,
  /** All headers of a request. */
  headerBytes: 16_384,
  /** One message of a server. Its unfinished answers together may take four times as much. */
  resultBytes: 67_108_864,
  /** All lists of one server; entries beyond it are dropped. */
  catalogBytes: 16_777_216,
  /** One tool, prompt, resource or template; larger ones are dropped. */
  definitionBytes: 1_048_576,
  /**
   * Bytes that a session, or an account without sessions, leaves unread over all its streams. Also
   * the answers to one batch together.
   */
  unreadBytes: 67_108_864,
  /** Bytes that wait for a program to read its stdin, or for an HTTP server to begin its answer. */
  unsentBytes: 33_554_432,
  /** Calls that wait for one of `inFlightPerServer` places. */
  queuePerServer: 1024,
  /** Concurrent calls of a session, or of an account without sessions. */
  inFlightPerSession: 256,
  batchMessages: 100,
  /** Calls of clients without a session that wait for answers to a server's questions. */
  callsAwaitingInput: 10_000,
  /** Requests and streams for sessions that other replicas hold. */
  handOvers: 20_000,
  /** Calls that wait for a person's approval. As many tasks that were such calls are kept. */
  heldCalls: 2_000,
  /** The size of these calls together. The results of tasks may take as much again. */
  heldBytes: 33_554_432,
};

export const fixed = {
  limits: fixedLimits,
  timeouts: {
    /** For a program that supplies a secret. */
    secretMs: 30_000,
    /** For a client's request to arrive, and for a session to begin on an HTTP+SSE stream. */
    receiveMs: 60_000,
    /** For the first start of a program, which may install something. */
    startMs: 300_000,
  },
  lists: {
    pageSize: 1000,
    /** How long the handshake and lists wait for a server whose lists are not known yet. */
    waitMs: 8000,
    /** How often the lists of servers that do not announce changes are fetched again. */
    refreshMs: 300_000,
  },
  results: {
    /** The tokens of a kept result that are shown. */
    preview: 800,
    ttlMs: 3_600_000,
    /** Kept results in memory; further ones go to files. */
    memoryBytes: 16_777_216,
    /** Kept results in memory and files. */
    keptBytes: 1_073_741_824,
  },
  /** The size at which the audit file is renamed, and how many renamed files are kept. */
  log: { auditMaxBytes: 104_857_600, auditKeep: 5 },
  /** How often a waiting client that asked for progress hears of it. Keeps its timeout at bay. */
  approvals: { progressMs: 10_000 },
  /** With `expose: "auto"`, larger definitions of all tools together are not listed. */
  tools: { budgetTokens: 20_000 },
  /** The kept calls together. Arguments or answers above an eighth of it are not kept. */
  calls: { keepBytes: 8_388_608 },
  /** How long the tools of a failed server stay listed while it reconnects. */
  backends: { graceMs: 300_000 },
};
export type Fixed = typeof fixed;

/** Adds the fixed values to a section of the file. */
export function withFixed<Name extends keyof Fixed>(name: Name, file: ConfigFile): ConfigFile[Name] & Fixed[Name] {
  return { ...file[name], ...fixed[name] };
}
