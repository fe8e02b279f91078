/** Maps server states, log levels and call outcomes to tones. */
import type { Call, LogLevel, ServerState } from "../../admin/schema.ts";
import type { Tone } from "../text/line.ts";

export const stateTones: Record<ServerState, Tone> = {
  ready: "good",
  connecting: "warn",
  degraded: "warn",
  down: "bad",
  disabled: "quiet",
};

/** A symbol for each state, so that colour is never the only difference. */
export const stateSigns: Record<ServerState, string> = {
  ready: "●",
  connecting: "◌",
  degraded: "◐",
  down: "✗",
  disabled: "–",
};

export const levelTones: Record<LogLevel, Tone> = {
  trace: "quiet",
  debug: "quiet",
  info: "good",
  warn: "warn",
  error: "bad",
  fatal: "alarm",
};

export const outcomeTones: Record<Call["outcome"], Tone> = {
  ok: "good",
  "tool-error": "warn",
  error: "bad",
  timeout: "bad",
  cancelled: "quiet",
  unavailable: "bad",
};
