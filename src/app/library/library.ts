/**
 * The public API for embedding the gateway in a program, on top of `gateway.ts`.
 *
 * Invariants: no internals are handed out; results are plain data, and errors are a `ConfigError`
 * or a `CallError`. A listener of `events` runs in its own turn of the event loop, so one that
 * throws does not disturb the gateway.
 */

import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { ApiRows } from "../../admin/api/api-rows.ts";
import { errorOf } from "../../admin/api/call-tool.ts";
import type { ConfigDiff } from "../../config/diff.ts";
import { ConfigError, type Problem } from "../../config/problems/problem.ts";
import { loadConfig as readConfig } from "../../config/reading/load.ts";
import type { ConfigObject } from "../../config/schema/config-object.ts";
import { rawText } from "../../mcp/protocol/json-rpc.ts";
import { ANYONE } from "../../mcp/protocol/principal.ts";
import { createLogger } from "../../observe/telemetry/logger.ts";
import { createGateway as assemble } from "../gateway.ts";
import type { GatewaySnapshot, ServerCard } from "./cards.ts";
import { configOf, keep, pathOf } from "./given-config.ts";
import { loginsOf, openFor } from "./given-logins.ts";

/** A valid config file. `loadConfig` returns it, and `createGateway` takes it. */
export interface LoadedConfig {
  readonly path: string;
  /** Settings that were ignored on purpose, for example those of other programs. */
  readonly warnings: readonly Problem[];
}

/** The variables for `${env:NAME}`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a config file: goblin.json, or the file of Claude Desktop, Cursor, Windsurf, Cline or
 * VS Code.
 *
 * @param path - The file. Relative paths in it start from its folder.
 * @param env - The variables for `${env:NAME}`; by default the environment of this process.
 * @throws {@link ConfigError} with every problem and its location.
 */
export async function loadConfig(path: string, env: Environment = process.env): Promise<LoadedConfig> {
  const { config, problems, warnings } = await readConfig(path, env);
  if (problems.length > 0) throw new ConfigError(problems);
  return keep({ path, warnings }, config);
}

/** The logins of this machine, for one gateway. `openLogins` returns it. */
export interface OpenedLogins {
  /** Receives what could not be read or renewed, in words. By default nobody is told. */
  warn: (message: string) => void;
}

/**
 * Opens the logins that `goblin login` stored on this machine, for remote servers that ask for
 * OAuth. The gateway renews them, and closes them when it closes.
 *
 * @param env - Names the state folder, by `XDG_STATE_HOME` or `HOME`; by default the environment of
 * this process.
 * @throws if the state folder cannot be used.
 */
export function openLogins(env: Environment = process.env): Promise<OpenedLogins> {
  return openFor({ warn: () => {} }, env);
}

/** A line of the gateway's log. */
export interface LogLine {
  /** Epoch milliseconds. */
  readonly time: number;
  /** From `trace` to `fatal`. */
  readonly level: string;
  /** The server that the line is about. */
  readonly server?: string;
  readonly msg: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface GatewayOptions {
  /** The result of {@link loadConfig}, or an object with the content of a goblin.json. */
  readonly config: LoadedConfig | ConfigObject;
  /** Receives log lines at or above the config's `log.level`. Without it, nothing is logged. */
  readonly log?: ((line: LogLine) => void) | undefined;
  /** The result of {@link openLogins}. Without it, servers that ask for OAuth get no login. */
  readonly logins?: OpenedLogins | undefined;
}

export interface Listening {
  /** The URL for MCP clients. */
  readonly url: string;
  readonly port: number;
  /** The address of the API, if it differs. */
  readonly adminUrl: string | undefined;
}

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** One client on a pair of streams. */
export interface StdioClient {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>;
  close(): void;
}

/** The changes by a new config: ids of servers, and dotted keys of settings. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly settings: readonly string[];
  /** Keys that also differ but need a new gateway, for example the port. */
  readonly restartNeeded: readonly string[];
}

/** A finished call. */
export interface CallRecord {
  /** When it ended, in epoch milliseconds. */
  readonly time: number;
  /** For example `tools/call`. */
  readonly method: string;
  /** The tool, prompt or URI, as named by the client. */
  readonly name: string | null;
  readonly serverId: string | null;
  readonly ms: number;
  readonly outcome: "ok" | "tool-error" | "error" | "timeout" | "cancelled" | "unavailable";
  readonly client: string | null;
  readonly code: string | number | null;
  readonly requestId: string;
}

export interface GatewayEvents {
  /** A server changed its state. `server` is null if the server was removed. */
  server: [change: { readonly id: string; readonly server: ServerCard | null }];
  /** Tools, prompts or resources were added, removed or changed. */
  catalog: [change: { readonly kinds: readonly ("tools" | "prompts" | "resources")[] }];
  /** A call has ended. */
  call: [call: CallRecord];
  /** `reload` applied another config. */
  config: [changes: ConfigChanges];
}

/** The result of a tool, unchanged. */
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

/** A call without a result: the tool does not exist, or its server did not answer. */
export class CallError extends Error {
  /** One of the codes in docs/errors.md, or the number of the server's error. */
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
   * Serves a web `Request` to `/mcp`, `/sse` or `/api`, like a listening gateway. The host of its
   * URL must be `localhost`, `127.0.0.1` or one of `gateway.allowedHosts`. Starts the servers.
   */
  fetch(request: Request): Promise<Response>;
  /** Starts the servers and listens on the config's `gateway.host` and `gateway.port`. */
  listen(): Promise<Listening>;
  /** Starts the servers and serves one client, by default on the streams of this process. */
  stdio(streams?: StdioStreams): StdioClient;
  /** Starts the servers. Resolves when each has connected or failed once. */
  start(): Promise<void>;
  /**
   * Calls a tool by the name that clients use. Starts the servers.
   *
   * @throws {@link CallError} if there is no result. A tool's failure is a result with `isError`.
   */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
  /** Returns the current servers and their entries. */
  snapshot(): GatewaySnapshot;
  readonly events: EventEmitter<GatewayEvents>;
  /**
   * Applies another config and touches only the differences. Resolves when changed servers are
   * replaced and new ones have connected or failed.
   *
   * @throws {@link ConfigError} if the config is not valid. The current one then stays in use.
   */
  reload(config: LoadedConfig | ConfigObject): Promise<ConfigChanges>;
  /**
   * Stops the servers, disconnects the clients and closes everything that was opened. With `drain`,
   * calls in flight may finish within `timeouts.drainMs`.
   */
  close(options?: { readonly drain?: boolean | undefined }): Promise<void>;
}

/**
 * Creates a gateway. It starts nothing before the first `listen`, `stdio`, `start`, `fetch` or
 * `callTool`.
 *
 * @throws {@link ConfigError} if the config is not valid.
 */
export function createGateway({ config: given, log: takeLine, logins }: GatewayOptions): Gateway {
  const config = configOf(given);
  const log = createLogger({
    level: config.log.level,
    format: "json",
    stream: { write: () => {} },
    ...(takeLine && { tap: takeLine }),
  });
  const gateway = assemble({ config, log, configPath: pathOf(given), logins: logins && loginsOf(logins) });
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
      const answer = await gateway.callTool({ name, arguments: args }, { name: "library", principal: ANYONE, signal });
      if (answer.ok) return JSON.parse(rawText(answer.raw)) as ToolResult;
      const { code, message } = errorOf(answer);
      throw new CallError(code, message);
    },
    snapshot: () => snapshotOf(gateway.rows),
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

function eventsOf({ servers, catalog, activity, rows }: ReturnType<typeof assemble>): EventEmitter<GatewayEvents> {
  const events = new EventEmitter<GatewayEvents>();
  const tellOfServer = (id: string): void => {
    const row = rows.server(id);
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

function snapshotOf(rows: ApiRows): GatewaySnapshot {
  return structuredClone({
    servers: rows.servers().map(serverCard),
    tools: rows.tools().map(({ tokens, calls, errors, p50Ms, ...card }) => card),
    prompts: rows.prompts().map(({ calls, errors, ...card }) => card),
    resources: rows.resources().map(({ id, subscribers, meta, ...card }) => card),
    templates: rows.templates().map(({ meta, ...card }) => card),
  });
}

function serverCard(row: ReturnType<ApiRows["servers"]>[number]): ServerCard {
  const { id, state, reason, since, transport, protocolVersion } = row;
  return { id, state, reason, since, transport, protocolVersion };
}
