/**
 * Which client hears a server's log message: the one whose call it belongs to, or whose connection
 * it came on; without either, the only client there is. Where several could be meant nobody is: one
 * client's messages must not reach another.
 */
import type { Call, Client } from "../protocol/call.ts";
import { notificationText } from "../protocol/json-rpc.ts";
import { logLevels, severity } from "../protocol/methods.ts";
import { Session } from "./session.ts";
import type { SessionStore } from "./store.ts";

export interface LogMessage {
  readonly level: string;
  /** Raw JSON. */
  readonly params: string;
  readonly to: Call | Client | "none" | "several";
}

export function deliverLog(sessions: SessionStore, { level, params, to }: LogMessage): void {
  if (to === "several") return;
  const text = notificationText("notifications/message", params);
  if (to === "none") {
    const [only, ...others] = sessions;
    if (only && others.length === 0 && only.initialized && wants(only, level)) only.notify(text);
  } else if ("emit" in to) {
    if (wants(to.client, level)) to.emit(text);
  } else if (to instanceof Session && wants(to, level)) to.notify(text);
}

function wants(client: Client, level: string): boolean {
  if (client.logLevel === "off") return false;
  return client.logLevel === undefined || severity(level) >= severity(client.logLevel);
}

/** The most talkative level that any session asked for. */
export function wantedLevel(sessions: SessionStore): string | undefined {
  let least: number | undefined;
  for (const { logLevel } of sessions) {
    if (logLevel === undefined || logLevel === "off") continue;
    least = Math.min(least ?? logLevels.length, severity(logLevel));
  }
  return least === undefined ? undefined : logLevels[least];
}
