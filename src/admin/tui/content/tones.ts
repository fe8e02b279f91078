/**
 * Which tone says what: server states, log levels, outcomes of calls.
 *
 * Invariant: a state that this version does not know is shown too. What may be out of date is never
 * shown as if it were certain.
 */
import type { OwnLogLevel } from "../../../mcp/protocol/log-levels.ts";
import type { Outcome } from "../../../mcp/protocol/outcomes.ts";
import type { State } from "../state/model.ts";
import type { Tone } from "../text/line.ts";

/** Each state with a symbol, so that colour is never the only difference. */
const states: Readonly<Record<string, readonly [Tone, string]>> = {
  ready: ["good", "●"],
  connecting: ["warn", "◌"],
  installing: ["warn", "◔"],
  degraded: ["warn", "◐"],
  down: ["bad", "✗"],
  "needs-login": ["warn", "⚿"],
  invalid: ["bad", "!"],
  disabled: ["quiet", "–"],
};

export function stateTone(condition: string, { link }: Pick<State, "link">): Tone {
  return link.status === "away" ? "quiet" : (states[condition]?.[0] ?? "warn");
}

export function stateSign(condition: string, { link }: Pick<State, "link">): string {
  return link.status === "away" ? "?" : (states[condition]?.[1] ?? "○");
}

/** What needs attention first. */
export function stateRank(condition: string): number {
  const order = ["down", "invalid", "needs-login", "degraded", "installing", "connecting", "ready", "disabled"];
  const at = order.indexOf(condition);
  return at < 0 ? 2 : at;
}

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
