/**
 * Which tone says what: server states, log levels, outcomes of calls.
 */
import type { OwnLogLevel } from "../../protocol/log-levels.ts";
import type { Outcome } from "../../protocol/outcomes.ts";
import type { ServerState } from "../../protocol/server-states.ts";

import type { Tone } from "../text/line.ts";

export const stateTones: Record<ServerState, Tone> = {
  ready: "good",
  installing: "warn",
  connecting: "warn",
  degraded: "warn",
  down: "bad",
  disabled: "quiet",
  invalid: "bad",
};

/** A symbol for each state, so that colour is never the only difference. */
export const stateSigns: Record<ServerState, string> = {
  ready: "●",
  installing: "◔",
  connecting: "◌",
  degraded: "◐",
  down: "✗",
  disabled: "–",
  invalid: "!",
};

export const levelTones: Record<OwnLogLevel, Tone> = {
  trace: "quiet",
  debug: "quiet",
  info: "good",
  warn: "warn",
  error: "bad",
  fatal: "alarm",
};

export const outcomeTones: Record<Outcome, Tone> = {
  ok: "good",
  "tool-error": "warn",
  error: "bad",
  timeout: "bad",
  cancelled: "quiet",
  unavailable: "bad",
};
