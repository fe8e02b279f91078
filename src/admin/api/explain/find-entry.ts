/** Finds what a name means: a tool, a prompt, a resource or a template of one server. */
import type { Config } from "../../../config/schema/config.ts";
import { matchesGlob } from "../../../lib/text/glob.ts";
import { nearestWord } from "../../../lib/text/nearest/nearest-word.ts";
import type { ApiRows } from "../api-rows.ts";
import { apiFailure } from "../failure.ts";
import type { ExplainResult } from "./schema.ts";

export interface FoundEntry extends Pick<ExplainResult, "kind" | "name" | "originalName" | "serverId"> {
  readonly annotations?: unknown;
  readonly inputSchema?: unknown;
  readonly tokens?: number;
  readonly calls?: number;
  readonly errors?: number;
}

/** @throws ApiFailure if nothing or too much has this name */
export function findEntry(written: string, rows: ApiRows, config: Config): FoundEntry {
  const entries = entriesOf(rows);
  const named = entries.filter(({ name, originalName, serverId }) =>
    [name, `${serverId}/${originalName}`, `${serverId}_${originalName}`].includes(written),
  );
  const found = named.length > 0 ? named : entries.filter(({ originalName }) => originalName === written);
  const owners = new Set(found.map(({ serverId }) => serverId));
  if (owners.size > 1) {
    const names = found.map(({ serverId, originalName }) => `${serverId}/${originalName}`);
    throw apiFailure("INVALID_PARAMS", `"${written}" can be ${names.join(" or ")}`);
  }
  const [entry] = found;
  if (entry) return entry;
  const reason = leftOut(written, config) ?? notReady(written, rows);
  if (reason !== undefined) throw apiFailure("NOT_FOUND", reason);
  const meant = nearestWord(
    written,
    entries.map(({ name }) => name),
  );
  const hint = meant === undefined ? "goblin list shows what there is" : `did you mean "${meant}"?`;
  throw apiFailure("NOT_FOUND", `there is no tool, prompt or resource "${written}" (${hint})`);
}

/** A tool that the entry of its server leaves out is in no catalog. */
function leftOut(written: string, { servers }: Config): string | undefined {
  for (const { id, enabled, tools } of servers) {
    if (!written.startsWith(`${id}/`) && !written.startsWith(`${id}_`)) continue;
    const name = written.slice(id.length + 1);
    const key = `mcpServers.${id}`;
    if (!enabled) return `the server "${id}" is disabled: none of its tools exist`;
    if (tools.deny.some((pattern) => matchesGlob(pattern, name))) return `${key}.tools.deny leaves "${name}" out`;
    if (tools.allow.length > 0 && !tools.allow.some((pattern) => matchesGlob(pattern, name)))
      return `${key}.tools.allow does not have "${name}"`;
  }
  return undefined;
}

/** Nobody knows the tools of a server that has not answered yet. */
function notReady(written: string, rows: ApiRows): string | undefined {
  const owner = rows.servers().find(({ id }) => written.startsWith(`${id}/`) || written.startsWith(`${id}_`));
  if (!owner || owner.state === "ready" || owner.state === "degraded") return undefined;
  const why = owner.reason === null ? "" : `: ${owner.reason}`;
  return `nobody knows "${written}": the server "${owner.id}" is ${owner.state}${why}`;
}

/** All that clients can use, as the catalog has it now. */
export function entriesOf(rows: ApiRows): FoundEntry[] {
  return [
    ...rows.tools().map((row): FoundEntry => ({ kind: "tool", ...row })),
    ...rows.prompts().map((row): FoundEntry => ({ kind: "prompt", ...row })),
    ...rows.resources().map(({ uri, originalUri, serverId }): FoundEntry => {
      return { kind: "resource", name: uri, originalName: originalUri, serverId };
    }),
    ...rows.templates().map(({ uriTemplate, originalUriTemplate, serverId }): FoundEntry => {
      return { kind: "template", name: uriTemplate, originalName: originalUriTemplate, serverId };
    }),
  ];
}
