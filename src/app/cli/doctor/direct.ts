/**
 * `goblin doctor --direct`: asks servers directly and through Goblin, and shows every difference.
 *
 * Exit code 0 if there is none.
 */

import { type Comparison, compareWays, type Difference } from "../../../admin/doctor/compare.ts";
import type { ServerConfig } from "../../../config/schema/server.ts";
import { clean } from "../../../lib/text/clean.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import { programSend } from "../clients/program-send.ts";
import { type Fields, McpClient, type Send } from "../gateway/mcp-client.ts";
import type { Target } from "../gateway/target.ts";
import { requireServer } from "../suggest.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import type { DoctorOptions } from "./doctor.ts";
import { withPatient } from "./patient.ts";

/** What the gateway offers to servers: some list more tools to clients that can do more. */
const CAPABILITIES: Fields = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};
const SHOWN = 300;

interface Row extends Partial<Comparison> {
  readonly server: string;
  /** Why there is no comparison. */
  readonly reason?: string;
}

export async function compareDirect(server: string | undefined, options: DoctorOptions): Promise<number> {
  const line = createStatusLine();
  const rows = await withPatient({ ...options, only: server }, async ({ target, file }) => {
    if (!file.loaded || !target) throw new UsageError("--direct needs a valid config with the servers: use --config");
    const { servers } = file.loaded.config;
    if (server !== undefined)
      requireServer(
        server,
        servers.map(({ id }) => id),
      );
    const found: Row[] = [];
    for (const config of servers) {
      if (!config.enabled || (server !== undefined && config.id !== server)) continue;
      line.spin(() => `comparing ${config.id}`);
      const compared = compare(config, target).catch((error: unknown) => ({ reason: messageOf(error) }));
      found.push({ server: config.id, ...(await compared) });
    }
    return found;
  }).finally(() => line.clear());
  if (options.json) printJson(rows);
  else for (const row of rows) print(row);
  return rows.every(({ differences }) => differences?.length === 0) ? 0 : 1;
}

async function compare({ id, transport }: ServerConfig, target: Target): Promise<Comparison> {
  const { send, close } = transport.kind === "stdio" ? await programSend(transport) : remote(transport);
  try {
    const direct = await McpClient.connect(send, CAPABILITIES);
    const through = await target.mcpOf(CAPABILITIES, id);
    try {
      return await compareWays(direct, through);
    } finally {
      await Promise.all([direct, through].map((client) => client.close().catch(() => {})));
    }
  } finally {
    await close();
  }
}

interface Remote {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function remote({ url, headers: own }: Remote): { readonly send: Send; readonly close: () => Promise<void> } {
  const send: Send = (init) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
  return { send, close: async () => {} };
}

function print({ server, reason, requests, differences = [], skipped = [] }: Row): void {
  if (reason !== undefined) return console.log(clean(`${server}: not compared: ${reason}`));
  const changing = skipped.length === 0 ? "" : `; ${skipped.length} change by themselves: ${skipped.join(", ")}`;
  const count = differences.length === 0 ? "no difference" : `${differences.length} differences`;
  console.log(clean(`${server}: ${count} in ${requests} requests${changing}`));
  for (const { request, at, direct, through } of differences) {
    console.log(clean(`  ${request}${at === "" ? "" : `, ${at}`}`));
    console.log(clean(`    directly:       ${shown(direct)}`));
    console.log(clean(`    through Goblin: ${shown(through)}`));
  }
}

function shown(value: Difference["direct"]): string {
  const text = value === undefined ? "nothing" : safeJson(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
