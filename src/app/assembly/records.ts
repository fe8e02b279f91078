/**
 * Makes what a gateway keeps about its own work: meters, recent calls, recordings, the log's book.
 */

import type { Logins } from "../../auth/login/logins.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import { createRecorder } from "../../observe/recording/recorder-settings.ts";
import { Activity } from "../../observe/telemetry/activity.ts";
import { KeptCalls } from "../../observe/telemetry/kept-calls.ts";
import { LimitMeter } from "../../observe/telemetry/limit-meter.ts";
import { followLogSettings } from "../../observe/telemetry/log-settings.ts";
import { type Logger, logBookOf } from "../../observe/telemetry/logger.ts";
import { Meters } from "../../observe/telemetry/meters.ts";

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
