/**
 * Recordings that somebody asks for through the API.
 *
 * Invariant: the caller chooses what is recorded and for how long, never where: the folder is the
 * gateway's own.
 */
import { recordSchema } from "../../../config/schema/settings.ts";
import type { RecordingState } from "../../../observe/recording/recording.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { RecordingRow, RecordRequest } from "./schema.ts";

type Parts = Pick<AdminParts, "recorder" | "config">;

export function recordingState({ recorder, config }: Parts): { recording: RecordingRow | null } {
  return { recording: rowOf(recorder.state, config.current.record !== undefined) };
}

export async function startRecording(parts: Parts, { forMs, ...given }: RecordRequest) {
  const { recorder, config } = parts;
  if (config.current.record) {
    const { dir } = recorder.state?.settings ?? { dir: recorder.folder };
    throw apiFailure("RECORDING", `The config's "record" section records all the time, to ${dir}`);
  }
  const settings = recordSchema.parse({ servers: given.servers, bodies: given.bodies });
  return { recording: rowOf(await recorder.start({ ...settings, dir: recorder.folder }, forMs), false) };
}

export async function stopRecording({ recorder, config }: Parts) {
  if (config.current.record) {
    throw apiFailure("RECORDING", 'The config asks for the recording: remove its "record" section to end it');
  }
  return { recording: rowOf(await recorder.stop(), false) };
}

function rowOf(state: RecordingState | undefined, isConfigured: boolean): RecordingRow | null {
  if (!state) return null;
  const { settings, run, startedAt, until, frames, lost, bytes } = state;
  const { dir, servers, bodies, maxBytes } = settings;
  const figures = { frames, lost, bytes, startedAt, until: until ?? null };
  return { dir, run, servers: [...servers], bodies, maxBytes, ...figures, isConfigured };
}
