/** Makes the flight recorder: connects it with the config, the masker and the meters. */
import { join } from "node:path";
import { masked, mayHoldSecret } from "./calls/stages/audit-mask.ts";
import type { LiveConfig } from "./config/live-config.ts";
import type { RecordConfig } from "./config/schema/settings.ts";
import { stateFolder } from "./config/state-folder.ts";
import { Recorder } from "./recording/recorder.ts";
import { type Logger, logBookOf } from "./telemetry/logger.ts";
import type { Meters } from "./telemetry/meters.ts";
import { version } from "./version.ts";

export interface RecorderParts {
  readonly config: LiveConfig;
  readonly log: Logger;
  readonly meters: Meters;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
}

/** It records while the config says so. */
export function createRecorder({ config, log, meters, env = process.env }: RecorderParts): Recorder {
  const { masker } = logBookOf(log);
  const folder = (): string => join(stateFolder(env), "recordings");
  const recorder = new Recorder({
    masks: {
      json: (text) => masker.json(text),
      text: (text) => masker.text(text),
      suspects: mayHoldSecret,
      value: masked,
    },
    folder,
    log,
    meters,
    version,
  });
  let applied: RecordConfig | undefined;
  const follow = (): void => {
    const { record } = config.current;
    if (JSON.stringify(record) === JSON.stringify(applied)) return;
    applied = record;
    if (record) void recorder.start({ ...record, dir: record.dir ?? folder() });
    else void recorder.stop();
  };
  config.on("changed", follow);
  follow();
  return recorder;
}
