/**
 * The two lists of log levels, each from the least severe on: MCP's, which servers and clients
 * speak of, and those of the gateway's own log.
 */
export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The place in MCP's list; -1 for an unknown level. */
export function severity(level: string): number {
  return (logLevels as readonly string[]).indexOf(level);
}

export const ownLogLevels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type OwnLogLevel = (typeof ownLogLevels)[number];
