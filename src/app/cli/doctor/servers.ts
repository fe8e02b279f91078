/** Examines each server: its start, what it speaks and offers, its login, and the way to it. */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerDetails } from "../../../admin/api/live/schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { ServerRow, ToolRow } from "../../../admin/api/schema.ts";
import type { Finding, Section } from "../../../admin/doctor/finding.ts";
import { examineAddress } from "../../../admin/doctor/network.ts";
import { examineNumber, examineTools } from "../../../admin/doctor/tools.ts";
import type { Config } from "../../../config/schema/config.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import { brokenNpxFolder } from "../../../mcp/links/programs/npx-folder.ts";
import type { Target } from "../gateway/target.ts";
import { storedLogins } from "../logins/auth.ts";
import { requireServer } from "../suggest.ts";
import { counted } from "../terminal/counted.ts";
import type { Patient } from "./patient.ts";

const SHOWN_STDERR = 3;
const VERDICT_MS = 10_000;

export async function serverSections({ target, file, running }: Patient, only: string | undefined): Promise<Section[]> {
  if (!target) return [];
  const rows = running ? (await target.request(adminRoutes.listServers)).items : await verdicts(target);
  const [state, { items: tools }] = await Promise.all([
    target.request(adminRoutes.getState),
    target.request(adminRoutes.listTools),
  ]);
  if (only !== undefined)
    requireServer(
      only,
      rows.map(({ id }) => id),
    );
  const chosen = rows.filter(({ id }) => only === undefined || id === only);
  const config = running ? undefined : file.loaded?.config;
  const sections: Section[] = await Promise.all(
    chosen.map(async (row) => ({
      title: `Server ${row.id}`,
      findings: await examineServer({
        row,
        target,
        config,
        tools: tools.filter(({ serverId }) => serverId === row.id),
      }),
    })),
  );
  const number = only === undefined ? examineNumber("all servers", tools.length, state.exposure) : [];
  return number.length === 0 ? sections : [...sections, { title: "All servers", findings: number }];
}

/**
 * Every server was tried once; one that is starting again has failed, and says so in a moment.
 */
async function verdicts(target: Target): Promise<ServerRow[]> {
  const deadline = Date.now() + VERDICT_MS;
  for (;;) {
    const { items } = await target.request(adminRoutes.listServers);
    const isOpen = items.some(({ state }) => state === "connecting" || state === "installing");
    if (!isOpen || Date.now() > deadline) return items;
    await sleep(50);
  }
}

interface Examined {
  readonly row: ServerRow;
  readonly target: Target;
  readonly tools: readonly ToolRow[];
  /** Undefined: the gateway runs, and only its API is asked. */
  readonly config: Config | undefined;
}

async function examineServer({ row, target, tools, config }: Examined): Promise<Finding[]> {
  const { id, state } = row;
  if (state === "disabled") return [{ level: "note", code: "server_disabled", where: id, what: "is switched off" }];
  const details = await target.request(detailsOf(id));
  const own = config?.servers.find((server) => server.id === id)?.transport;
  // The API shows an address without its secrets, which the way to it does not need.
  const url = own && own.kind !== "stdio" ? own.url : details.url;
  return [
    ...stateFindings(row, { target, details }),
    ...(config ? await loginFindings(id, config) : []),
    ...(url !== null && URL.canParse(url) ? await examineAddress(id, url) : []),
    ...examineTools(id, tools),
  ];
}

interface Known {
  readonly target: Target;
  readonly details: ServerDetails;
}

function stateFindings(row: ServerRow, { target, details }: Known): Finding[] {
  const { id: where, state, counts } = row;
  const reason = row.reason ?? "no reason is known";
  switch (state) {
    case "ready":
    case "degraded": {
      const { tools, prompts, resources, templates } = counts;
      const name = [row.serverInfo?.name, row.serverInfo?.version].filter(Boolean).join(" ");
      const offers = [counted(tools, "tool"), counted(prompts, "prompt"), counted(resources, "resource")].join(", ");
      const what = `${name}, MCP ${row.protocolVersion ?? "?"} over ${row.transport}: ${offers}`;
      const found: Finding[] = [{ level: "ok", code: "server", where, what }];
      if (state === "degraded") {
        const remedy = `goblin explain shows its last errors; goblin doctor --direct ${where} compares`;
        found.push({ level: "warning", code: "server_degraded", where, what: reason, remedy });
      } else if (tools + prompts + resources + templates === 0) {
        const remedy = "check its arguments, its variables and its rights";
        found.push({ level: "warning", code: "server_empty", where, what: "offers nothing", remedy });
      }
      return found;
    }
    case "installing":
    case "connecting": {
      const what = `is starting, since ${formatDuration(Date.now() - row.since)}`;
      return [{ level: "note", code: "server_starting", where, what, remedy: "ask again in a moment" }];
    }
    case "needs-login":
      return [{ level: "error", code: "login_required", where, what: reason, remedy: `goblin login ${where}` }];
    case "invalid":
      return [{ level: "error", code: "server_invalid", where, what: reason, remedy: "mend its entry in the config" }];
    default:
      return [downFinding(where, reason, { target, details })];
  }
}

function remedyFor(where: string, reason: string, { command, args, url }: ServerDetails): string {
  const orRemove = `or take it out of the config: goblin remove ${where}`;
  if (command === null) return `check that ${url ?? "its address"} is right and reachable from here, ${orRemove}`;
  if (reason.startsWith("Cannot start")) return `install the program, or mend mcpServers.${where}.command, ${orRemove}`;
  return `run it by hand: ${[command, ...args].join(" ")}`;
}

function downFinding(where: string, reason: string, { target, details }: Known): Finding {
  const lines = details.stderr.map(({ msg }) => msg);
  const folder = brokenNpxFolder([...lines, reason]);
  const said = lines.slice(-SHOWN_STDERR).filter((line) => !reason.includes(line));
  const failed = details.command === null ? "does not answer" : "does not start";
  const what = [`${failed}: ${reason}`, ...said.map((line) => `it wrote: ${line}`)].join("\n");
  const finding = { level: "error", code: "server_down", where, what } as const;
  if (folder === undefined) return { ...finding, remedy: remedyFor(where, reason, details) };
  return {
    ...finding,
    code: "npx_folder",
    remedy: `its npx folder is incomplete; remove it: ${folder}`,
    fix: async () => {
      rmSync(folder, { recursive: true, force: true });
      const { state } = await target.request(restartOf(where));
      return `removed ${folder}, and started the server again: it is ${state}`;
    },
  };
}

async function loginFindings(id: string, config: Config): Promise<Finding[]> {
  // A store that cannot be opened is a finding of the state folder.
  const { rows } = await storedLogins(config).catch(() => ({ rows: [] }));
  return rows
    .filter(({ server }) => server === id)
    .flatMap(({ state, expiresAt }): Finding[] => {
      const remedy = `goblin login ${id}`;
      if (state === "logged-in") return [{ level: "ok", code: "login", where: id, what: "logged in" }];
      if (state === "expired")
        return [{ level: "error", code: "login_expired", where: id, what: `the login ended at ${expiresAt}`, remedy }];
      if (state === "more-scopes")
        return [{ level: "warning", code: "login_scopes", where: id, what: "the login lacks scopes", remedy }];
      // Many servers need no login; one that does says so itself.
      return [];
    });
}

const idIn = (path: string, id: string): string => path.replace(":id", encodeURIComponent(id));
const detailsOf = (id: string) => ({ ...adminRoutes.getServer, path: idIn(adminRoutes.getServer.path, id) });
const restartOf = (id: string) => ({ ...adminRoutes.restartServer, path: idIn(adminRoutes.restartServer.path, id) });
