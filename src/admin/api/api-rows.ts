/**
 * Builds the API's rows from the gateway's state. Read-only; expensive values are computed once for
 * each snapshot.
 *
 * A session's full id is a credential and never leaves here. A server's failure reason is masked
 * like the log.
 */

import { shownTransport } from "../../config/schema/server.ts";
import { toDisplayText } from "../../lib/json/json-text.ts";
import { version } from "../../lib/package/version.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { eraOf } from "../../mcp/protocol/envelope.ts";
import type { LogLine } from "../../observe/telemetry/log-book.ts";
import type { Definition } from "../../upstream/catalog/definitions.ts";
import type { NamedEntry } from "../../upstream/catalog/named.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { toolTokens } from "../../upstream/catalog/tool-tokens.ts";
import { configProblem } from "./config-problem.ts";
import { type AdminParts, shownLevel } from "./parts.ts";
import type * as schema from "./schema.ts";
import { noSizes, sizesOf } from "./sizes.ts";

const SHOWN_KEY = 8;

export class ApiRows {
  readonly #parts: AdminParts;
  readonly #startedAt = Date.now();

  constructor(parts: AdminParts) {
    this.#parts = parts;
  }

  state(): schema.GatewayState {
    const { address, configPath, config, cluster } = this.#parts;
    return {
      version,
      endpoint: address.url,
      configPath: configPath ?? null,
      configProblem: this.configProblem(),
      exposure: config.current.tools.expose,
      lock: this.lock(),
      ...this.totals(),
      ...(cluster && { cluster: cluster.state() }),
    };
  }

  lock(): schema.GatewayState["lock"] {
    const { lock, config } = this.#parts;
    return { mode: config.current.lock.mode, differing: lock.isOn ? lock.differing : 0 };
  }

  configProblem(): schema.ConfigProblem | null {
    const { reloads, logs } = this.#parts;
    return reloads.refusal ? configProblem(reloads.refusal, logs.masker) : null;
  }

  /** Returns the figures that change from second to second. */
  totals() {
    const { activity, logs } = this.#parts;
    const { calls, errors } = activity.total;
    return {
      uptimeMs: Date.now() - this.#startedAt,
      counts: this.#counts(),
      logLevel: shownLevel(logs.level),
      calls: { total: calls, errors, inFlight: activity.inFlight },
      tokens: this.tokens(),
    };
  }

  tokens(): schema.TokenTotals {
    return sizesOf(this.#snapshot).tokens;
  }

  servers(): schema.ServerRow[] {
    return this.#parts.servers.ids().flatMap((id) => this.server(id) ?? []);
  }

  server(id: string): schema.ServerRow | undefined {
    const { servers, activity, logs } = this.#parts;
    const status = servers.status(id);
    const config = servers.config(id);
    if (!status || !config) return undefined;
    const { info } = status;
    const { tokens, ...counts } = sizesOf(this.#snapshot).servers.get(id) ?? noSizes();
    const figures = activity.ofServer(id);
    return {
      id,
      state: status.state,
      reason: status.reason === undefined ? null : logs.masker.text(status.reason),
      since: status.since,
      transport: shownTransport(config.transport),
      era: info ? eraOf(info.protocolVersion) : null,
      protocolVersion: info?.protocolVersion ?? null,
      serverInfo: info
        ? logs.masker.value({ ...info.serverInfo, name: toDisplayText(info.serverInfo["name"] ?? id) })
        : null,
      counts,
      tokens,
      calls: figures?.calls ?? 0,
      errors: figures?.errors ?? 0,
      inFlight: status.inFlight,
      queue: status.queued,
      latency: { p50Ms: figures?.latency.quantile(0.5) ?? null, p99Ms: figures?.latency.quantile(0.99) ?? null },
      restarts: status.restarts,
      upgrade: this.#upgrade(id),
    };
  }

  #upgrade(id: string): string | null {
    const { servers, logs } = this.#parts;
    const reason = servers.roster.upgrade(id)?.reason;
    return reason === undefined ? null : logs.masker.text(reason);
  }

  /** A server may quote its key in a definition. */
  #masked<Row>(row: Row): Row {
    const json = JSON.stringify(row);
    const masked = this.#parts.logs.masker.definition(json);
    // The same members: only strings are others.
    return masked === json ? row : (JSON.parse(masked) as Row);
  }

  /** `name`: of the one tool to return. */
  tools(name?: string): schema.ToolRow[] {
    const { activity } = this.#parts;
    const { tools, exposure } = this.#snapshot;
    const { entries } = tools;
    const wanted = name === undefined ? entries : entries.filter(({ exposed }) => exposed === name);
    return wanted.map((entry) => {
      const { value } = entry.definition;
      const figures = activity.ofEntry("tools/call", entry.exposed);
      return this.#masked({
        ...named(entry),
        ...toolMembers(value),
        ...(entry.override?.description !== undefined && { description: entry.override.description }),
        tokens: toolTokens(entry),
        calls: figures?.calls ?? 0,
        errors: figures?.errors ?? 0,
        p50Ms: figures?.latency.quantile(0.5) ?? null,
        listed: exposure.isListed(entry),
      });
    });
  }

  /** Returns the gateway's own tools, as clients see them. */
  ownTools(): schema.OwnToolRow[] {
    return this.#snapshot.local.map((definition) => {
      const { value } = definition;
      return { name: stringOr(value["name"], ""), ...toolMembers(value), tokens: toolTokens(definition) };
    });
  }

  prompts(): schema.PromptRow[] {
    return this.#snapshot.prompts.entries.map((entry) => {
      const { value } = entry.definition;
      const figures = this.#parts.activity.ofEntry("prompts/get", entry.exposed);
      return this.#masked({
        ...named(entry),
        ...strings(value, "title", "description"),
        arguments: argumentsOf(value["arguments"]),
        calls: figures?.calls ?? 0,
        errors: figures?.errors ?? 0,
      });
    });
  }

  resources(): schema.ResourceRow[] {
    const snapshot = this.#snapshot;
    const subscribers = new Map<string, number>();
    for (const { serverId, uri } of this.#parts.subscriptions.records()) {
      const key = `${serverId} ${uri}`;
      subscribers.set(key, (subscribers.get(key) ?? 0) + 1);
    }
    return snapshot.resources.resources.map(({ exposed, flatId, serverId, uri, position }) => {
      const value = snapshot.resource(serverId, position)?.value ?? {};
      const size = value["size"];
      return this.#masked({
        uri: exposed,
        id: flatId,
        originalUri: uri,
        name: stringOr(value["name"], uri),
        ...strings(value, "title", "description", "mimeType"),
        ...(typeof size === "number" && size >= 0 && { size }),
        serverId,
        subscribers: subscribers.get(`${serverId} ${uri}`) ?? 0,
        ...metaOf(value),
      });
    });
  }

  templates(): schema.TemplateRow[] {
    const snapshot = this.#snapshot;
    return snapshot.resources.templates.map(({ exposed, serverId, uriTemplate, position }) => {
      const value = snapshot.template(serverId, position)?.value ?? {};
      return this.#masked({
        uriTemplate: exposed,
        originalUriTemplate: uriTemplate,
        name: stringOr(value["name"], uriTemplate),
        ...strings(value, "title", "description", "mimeType"),
        serverId,
        ...metaOf(value),
      });
    });
  }

  subscriptions(): schema.SubscriptionRow[] {
    return this.#parts.subscriptions
      .records()
      .map(({ clientKey, serverId, uri, since }) => ({ client: clientKey.slice(0, SHOWN_KEY), serverId, uri, since }));
  }

  sessions(): schema.SessionRow[] {
    const now = Date.now();
    const held = new Map<string, number>();
    for (const { clientKey } of this.#parts.subscriptions.records()) {
      held.set(clientKey, (held.get(clientKey) ?? 0) + 1);
    }
    return [...this.#parts.sessions].map((session) => {
      const { name, version } = session.info;
      return {
        id: session.key.slice(0, SHOWN_KEY),
        client: typeof name === "string" ? { name, ...(typeof version === "string" && { version }) } : null,
        protocolVersion: session.protocolVersion,
        who: session.who.name || null,
        endpoint: `/mcp${session.endpoint}`,
        profile: session.visibility?.profile ?? null,
        since: session.since,
        idleMs: session.inFlight > 0 ? 0 : Math.max(0, now - session.lastUsed),
        inFlight: session.inFlight,
        subscriptions: held.get(session.key) ?? 0,
      };
    });
  }

  get #snapshot(): Snapshot {
    return this.#parts.catalog.snapshot;
  }

  #counts(): schema.Counts {
    const { servers, sessions, subscriptions } = this.#parts;
    const { tools, prompts, resources } = this.#snapshot;
    const ids = servers.ids();
    return {
      servers: ids.length,
      ready: ids.filter((id) => servers.status(id)?.state === "ready").length,
      tools: tools.entries.length,
      prompts: prompts.entries.length,
      resources: resources.resources.length,
      templates: resources.templates.length,
      subscriptions: subscriptions.size,
      sessions: sessions.size,
    };
  }
}

export function logEntry({ time, level, server, msg, extra }: LogLine): schema.LogEntry {
  return { time, level: shownLevel(level), server: server ?? null, msg, ...(extra && { extra: { ...extra } }) };
}

function named({ exposed, name, serverId }: NamedEntry) {
  return { name: exposed, originalName: name, serverId };
}

type Value = Definition["value"];

function toolMembers(value: Value) {
  return {
    ...strings(value, "title", "description"),
    inputSchema: objectOf(value["inputSchema"]) ?? {},
    ...objects(value, "outputSchema", "annotations"),
  };
}

function strings<Key extends string>(value: Value, ...keys: Key[]): Partial<Record<Key, string>> {
  const found: Partial<Record<Key, string>> = {};
  for (const key of keys) {
    const text = value[key];
    if (typeof text === "string") found[key] = text;
  }
  return found;
}

function objects<Key extends string>(value: Value, ...keys: Key[]): Partial<Record<Key, Record<string, unknown>>> {
  const found: Partial<Record<Key, Record<string, unknown>>> = {};
  for (const key of keys) {
    const object = objectOf(value[key]);
    if (object) found[key] = object;
  }
  return found;
}

/** Returns the annotations merged with the server's own `_meta`, if there are any. */
function metaOf(value: Value): { meta?: Record<string, unknown> } {
  const meta = { ...objects(value, "annotations"), ...objectOf(value["_meta"]) };
  return Object.keys(meta).length > 0 ? { meta } : {};
}

function argumentsOf(value: unknown): schema.PromptRow["arguments"] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((argument: unknown) => {
    const { name, description, required } = objectOf(argument) ?? {};
    if (typeof name !== "string") return [];
    return {
      name,
      ...(typeof description === "string" && { description }),
      ...(typeof required === "boolean" && { required }),
    };
  });
}

function stringOr(value: unknown, other: string): string {
  return typeof value === "string" ? value : other;
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}
