/**
 * The gateway as a program's own part: the public face of what `gateway.ts` assembles. Nothing of
 * the inside is handed out: what comes back is plain data, and what goes wrong is a `ConfigError`
 * or a `CallError`. A listener of `events` runs on a turn of its own, so that one that throws does
 * not disturb the gateway.
 */
import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { errorOf } from "./admin/call-tool.ts";
import type { Views } from "./admin/views.ts";
import type { GatewaySnapshot, ServerCard } from "./cards.ts";
import type { ConfigDiff } from "./config/diff.ts";
import type { Problem } from "./config/problems/problem.ts";
import { loadConfig as readConfig } from "./config/reading/load.ts";
import type { ConfigObject } from "./config/schema/config-object.ts";
import { createGateway as assemble } from "./gateway.ts";
import { configOf, keep, pathOf } from "./given-config.ts";
import { rawText } from "./protocol/json-rpc.ts";
import { createLogger } from "./telemetry/logger.ts";

/** A config file that was read and is valid. Made by `loadConfig`, taken by `createGateway`. */
export interface LoadedConfig {
  readonly path: string;
  /** What was left out on purpose, such as settings of other programs. */
  readonly warnings: readonly Problem[];
}

/** Where `${env:NAME}` is looked up. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a config file: goblin.json, or the file of Claude Desktop, Cursor, Windsurf, Cline or
 * VS Code.
 *
 * @param path - The file. Relative paths in it start from its folder.
 * @param env - Where `${env:NAME}` is looked up; the environment of this process unless given.
 * @throws {@link ConfigError} with every problem and its place.
 */
export async function loadConfig(path: string, env: Environment = process.env): Promise<LoadedConfig> {
  const { config, warnings } = await readConfig(path, env);
  return keep({ path, warnings }, config);
}

/** A line of the gateway's log. */
export interface LogLine {
  /** Epoch milliseconds. */
  readonly time: number;
  /** From `trace` to `fatal`. */
  readonly level: string;
  /** The server that it is about. */
  readonly server?: string;
  readonly msg: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface GatewayOptions {
  /** What {@link loadConfig} returned, or an object as it would stand in goblin.json. */
  readonly config: LoadedConfig | ConfigObject;
  /** Takes the lines of the log from `log.level` of the config on. Without it nothing is logged. */
  readonly log?: ((line: LogLine) => void) | undefined;
}

export interface Listening {
  /** Where MCP clients connect. */
  readonly url: string;
  readonly port: number;
  /** Where the API is, if not at the same address. */
  readonly adminUrl: string | undefined;
}

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** One client on a pair of streams. */
export interface StdioClient {
  /** Resolves when the client is gone. */
  readonly closed: Promise<void>;
  close(): void;
}

/** What a new config changed: ids of servers, and keys of settings with dots. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly settings: readonly string[];
  /** Keys that differ too, but count only for a gateway made anew: a socket stays where it is. */
  readonly restartNeeded: readonly string[];
}

/** A call that has ended. */
export interface CallRecord {
  /** When it ended, in epoch milliseconds. */
  readonly time: number;
  /** Such as `tools/call`. */
  readonly method: string;
  /** The tool, prompt or URI as the client named it. */
  readonly name: string | null;
  readonly serverId: string | null;
  readonly ms: number;
  readonly outcome: "ok" | "tool-error" | "error" | "timeout" | "cancelled" | "unavailable";
  readonly client: string | null;
  readonly code: string | number | null;
  readonly requestId: string;
}

export interface GatewayEvents {
  /** A server has another state; `server` is null when it was removed. */
  server: [change: { readonly id: string; readonly server: ServerCard | null }];
  /** Tools, prompts or resources came, went or changed. */
  catalog: [change: { readonly kinds: readonly ("tools" | "prompts" | "resources")[] }];
  /** A call has ended. */
  call: [call: CallRecord];
  /** `reload` took up another config. */
  config: [changes: ConfigChanges];
}

/** The result of a tool, as its server gave it. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly structuredContent?: unknown;
  /** The tool itself failed; `content` says why. */
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

export interface CallOptions {
  /** Cancels the call, also at its server. */
  readonly signal?: AbortSignal | undefined;
}

/** A call that had no result: the tool is not there, or its server could not be asked. */
export class CallError extends Error {
  /** One of the codes in docs/errors.md, or the number that the server answered with. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }
}

/** A running gateway. */
export interface Gateway {
  /**
   * Serves a web `Request`: `/mcp`, `/sse`, `/api`, as the listening gateway does. The host of its
   * URL must be `localhost`, `127.0.0.1` or one of `gateway.allowedHosts`. Starts the servers.
   */
  fetch(request: Request): Promise<Response>;
  /** Starts the servers and listens on `gateway.host` and `gateway.port` of the config. */
  listen(): Promise<Listening>;
  /** Starts the servers and serves one client, on the process's own streams unless given others. */
  stdio(streams?: StdioStreams): StdioClient;
  /** Starts the servers; resolves when each has connected or failed once. */
  start(): Promise<void>;
  /**
   * Calls a tool by the name that clients use. Starts the servers.
   *
   * @throws {@link CallError} when there is no result. A tool's failure is one, with `isError`.
   */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
  /** What there is now. */
  snapshot(): GatewaySnapshot;
  readonly events: EventEmitter<GatewayEvents>;
  /**
   * Follows another config and touches only what it changes. Resolves when changed servers have
   * taken their places and new ones have connected or failed.
   *
   * @throws {@link ConfigError} when the config is not valid; the one in use stays.
   */
  reload(config: LoadedConfig | ConfigObject): Promise<ConfigChanges>;
  /**
   * Ends the servers, the clients and all that was opened. With `drain`, calls under way may finish
   * within `timeouts.drainMs`.
   */
  close(options?: { readonly drain?: boolean | undefined }): Promise<void>;
}

/**
 * Makes a gateway. Nothing is started before the first of `listen`, `stdio`, `start`, `fetch` and
 * `callTool`.
 *
 * @throws {@link ConfigError} when the config is not valid.
 */
export function createGateway({ config: given, log: takeLine }: GatewayOptions): Gateway {
  const config = configOf(given);
  const log = createLogger({
    level: config.log.level,
    format: "json",
    stream: { write: () => {} },
    ...(takeLine && { tap: takeLine }),
  });
  const gateway = assemble({ config, log, configPath: pathOf(given) });
  const { start } = gateway;
  const events = eventsOf(gateway);
  return {
    events,
    start,
    listen: () => gateway.listen(),
    stdio: (streams = { input: process.stdin, output: process.stdout }) => gateway.stdio(streams),
    fetch(request) {
      void start();
      return gateway.fetch(request);
    },
    async callTool(name, args = {}, { signal } = {}) {
      void start();
      const answer = await gateway.callTool({ name, arguments: args }, { name: "library", principal: "", signal });
      if (answer.ok) return JSON.parse(rawText(answer.raw)) as ToolResult;
      const { code, message } = errorOf(answer);
      throw new CallError(code, message);
    },
    snapshot: () => snapshotOf(gateway.views),
    async reload(next) {
      const { diff, done } = gateway.reload(configOf(next));
      await done;
      const changes = changesOf(diff);
      events.emit("config", changes);
      return changes;
    },
    close: ({ drain = false } = {}) => gateway.close({ drain }),
  };
}

function eventsOf({ servers, catalog, activity, views }: ReturnType<typeof assemble>): EventEmitter<GatewayEvents> {
  const events = new EventEmitter<GatewayEvents>();
  const tellOfServer = (id: string): void => {
    const row = views.server(id);
    const server = row ? serverCard(row) : null;
    setImmediate(() => events.emit("server", { id, server }));
  };
  servers.on("status", tellOfServer);
  servers.on("removed", tellOfServer);
  catalog.on("change", (kinds) => setImmediate(() => events.emit("catalog", { kinds: [...kinds] })));
  activity.onCall((call) => {
    if (events.listenerCount("call") > 0) setImmediate(() => events.emit("call", { ...call }));
  });
  return events;
}

function changesOf({ added, removed, changed, adjusted, settings, restartNeeded }: ConfigDiff): ConfigChanges {
  return {
    added: added.map(({ id }) => id),
    removed: [...removed],
    changed: [...changed, ...adjusted].map(({ id }) => id),
    settings: [...settings],
    restartNeeded: [...restartNeeded],
  };
}

function snapshotOf(views: Views): GatewaySnapshot {
  return structuredClone({
    servers: views.servers().map(serverCard),
    tools: views.tools().map(({ tokens, calls, errors, p50Ms, ...card }) => card),
    prompts: views.prompts().map(({ calls, errors, ...card }) => card),
    resources: views.resources().map(({ id, subscribers, meta, ...card }) => card),
    templates: views.templates().map(({ meta, ...card }) => card),
  });
}

function serverCard(row: ReturnType<Views["servers"]>[number]): ServerCard {
  const { id, state, reason, since, transport, protocolVersion } = row;
  return { id, state, reason, since, transport, protocolVersion };
}
