/** Makes the flight recorder: connects it with the config, the masker and the meters. */
import { join } from "node:path";
import type { LiveConfig } from "../../config/live-config.ts";
import type { RecordConfig } from "../../config/schema/settings.ts";
import { stateFolder } from "../../config/state-folder.ts";
import { isSingleExecutable, packageUrl, readPackageFile } from "../../lib/package/files.ts";
import { version } from "../../lib/package/version.ts";
import { type Logger, logBookOf } from "../telemetry/logger.ts";
import type { Meters } from "../telemetry/meters.ts";
import { Recorder } from "./recorder.ts";
import type { Thread, ThreadData } from "./recording.ts";

export interface RecorderParts {
  readonly config: LiveConfig;
  readonly log: Logger;
  readonly meters: Meters;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  /** Returns the offers of the gateway and its servers: JSON members for the index. */
  readonly offers: () => string;
}

/** It records while the config says so. */
export function createRecorder({ config, log, meters, offers, env = process.env }: RecorderParts): Recorder {
  const { masker } = logBookOf(log);
  const folder = (): string => join(stateFolder(env), "recordings");
  const recorder = new Recorder({
    secrets: () => masker.known,
    startThread,
    folder,
    log,
    meters,
    offers,
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

const PROGRAM = "bundle/recorder-thread.js";

function startThread(data: ThreadData): Thread {
  // A thread cannot load a file from inside the single executable, so it gets the text.
  const source = isSingleExecutable ? readPackageFile(PROGRAM).toString() : packageUrl(PROGRAM);
  const options = { eval: isSingleExecutable, workerData: data, execArgv: [], env: {}, name: "recorder" };
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(source, options);
  worker.unref();
  return worker;
}
