/**
 * Makes what a gateway keeps about its own work: meters, recent calls, recordings, the log's book.
 */
import type { LiveConfig } from "../config/live-config.ts";
import type { Logins } from "../login/logins.ts";
import { createRecorder } from "../recorder-settings.ts";
import { Activity } from "../telemetry/activity.ts";
import { KeptCalls } from "../telemetry/kept-calls.ts";
import { LimitMeter } from "../telemetry/limit-meter.ts";
import { followLogSettings } from "../telemetry/log-settings.ts";
import { type Logger, logBookOf } from "../telemetry/logger.ts";
import { Meters } from "../telemetry/meters.ts";

export interface RecordsParts {
  readonly config: LiveConfig;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  readonly logins: Pick<Logins, "onSecrets"> | undefined;
}

export function createRecords({ config, log, env, logins }: RecordsParts) {
  const logs = logBookOf(log);
  followLogSettings(logs, config);
  if (logins) logins.onSecrets = (secrets) => logs.masker.hide(secrets, "logins");
  const meters = new Meters();
  const recorder = createRecorder({ config, log, meters, env });
  const keptCalls = new KeptCalls(() => config.current.calls);
  return { logs, meters, recorder, keptCalls, activity: new Activity(), limits: new LimitMeter(log) };
}
