/** The program of the flight recorder's thread: connects it with the masks of the audit log. */
import { parentPort, workerData } from "node:worker_threads";
import { masked, mayHoldSecret } from "../telemetry/audit-mask.ts";
import { Masker } from "../telemetry/masker.ts";
import type { ThreadData, ToThread } from "./recording.ts";
import { RecordingThread } from "./thread.ts";

const masker = new Masker();
const port = parentPort!;
const thread = new RecordingThread({
  data: workerData as ThreadData,
  masks: {
    hide: (secrets) => masker.hide(secrets),
    json: (text) => masker.json(text),
    text: (text) => masker.text(text),
    suspects: mayHoldSecret,
    value: masked,
  },
  say: (message, transfer) => port.postMessage(message, transfer),
});
port.on("message", (message: ToThread) => thread.take(message));
