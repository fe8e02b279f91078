/**
 * The states of a server, as the API, the metrics, the meta tools and the dashboard show them.
 *
 * installing: a package runner was started, and may install before the server answers. connecting:
 * an attempt is in progress. ready: connected. degraded: connected, but the breaker is
 * open or a list could not be fetched. down: waiting for the next attempt. needs-login: waiting for
 * a user's login. disabled: switched off. invalid: its entry in the config cannot be used; it is
 * never started.
 */
export const serverStates = [
  "installing",
  "connecting",
  "ready",
  "degraded",
  "down",
  "needs-login",
  "disabled",
  "invalid",
] as const;

export type ServerState = (typeof serverStates)[number];

/** Whether an attempt to connect is in progress. */
export function isStarting(state: ServerState | undefined): boolean {
  return state === "installing" || state === "connecting";
}
