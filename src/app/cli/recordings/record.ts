/** `goblin record`: asks a running gateway to record for a while, and shows or ends a recording. */
import { join } from "node:path";
import type { RecordingRow } from "../../../admin/api/live/schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import { clean } from "../../../lib/text/clean.ts";
import { formatBytes, formatClock, formatCount } from "../../../lib/text/format.ts";
import type { GatewayOptions } from "../gateway/find-gateway.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { withAdmin } from "./admin.ts";

interface RecordOptions extends GatewayOptions {
  readonly for?: number | undefined;
  readonly server?: readonly string[] | undefined;
  readonly bodies: boolean;
  readonly stop?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export function record(options: RecordOptions): Promise<number> {
  const { for: forMs, server: servers, bodies, stop, json } = options;
  if (stop && forMs !== undefined) throw new UsageError("--for starts a recording and --stop ends it: use one of them");
  return withAdmin(options, async (admin) => {
    const answer = stop
      ? await admin.request(adminRoutes.stopRecording)
      : forMs === undefined
        ? await admin.request(adminRoutes.getRecording)
        : await admin.request(adminRoutes.startRecording, { body: { forMs, bodies, ...(servers && { servers }) } });
    if (json) printJson(answer);
    else for (const line of describe(answer.recording, stop === true)) console.log(clean(line));
    return 0;
  });
}

function describe(recording: RecordingRow | null, isOver: boolean): string[] {
  if (!recording) return ["Nothing is being recorded. Record for ten minutes: goblin record --for 10m"];
  const { dir, run, until, frames, bytes, lost, servers, bodies } = recording;
  const what = `${servers.includes("*") ? "all servers" : servers.join(", ")}${bodies ? "" : ", sizes only"}`;
  const end = until === null ? "until the config changes" : `until ${formatClock(until)}`;
  const path = join(dir, run);
  return [
    isOver ? `Recorded ${what} to ${path}` : `Recording ${what} to ${path}, ${end}`,
    `${formatCount(frames)} messages, ${formatBytes(bytes)}${lost > 0 ? `, ${formatCount(lost)} lost` : ""}`,
    `Look at it: goblin calls --from ${path}`,
  ];
}
