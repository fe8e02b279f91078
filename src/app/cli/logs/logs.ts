/**
 * `goblin logs [server] [-f]`: the log of a running gateway. With -f, new lines follow until ^C; a
 * gateway that restarts is waited for.
 *
 * Invariant: no line is printed twice, and a line from a server cannot control the terminal.
 */
import { setTimeout as pause } from "node:timers/promises";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { LogEntry } from "../../../admin/api/schema.ts";
import { type AdminClient, AdminClientError, createAdminClient } from "../../../admin/tui/client.ts";
import { type OwnLogLevel, ownLogLevels } from "../../../mcp/protocol/log-levels.ts";
import { findGateway, type GatewayOptions } from "../gateway/find-gateway.ts";
import { backgroundLog } from "../gateway/gateway-record.ts";
import { unreachable } from "../gateway/unreachable.ts";
import { requireServer } from "../suggest.ts";
import { painter } from "../terminal/paint.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { logLine } from "./log-line.ts";

export interface LogsOptions extends Omit<GatewayOptions, "config"> {
  readonly follow?: boolean | undefined;
  readonly level?: OwnLogLevel | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly lines?: number | undefined;
  readonly json?: boolean | undefined;
}

const DEFAULT_LINES = 100;
const ALL_LINES = 10_000;
const RETRY_MS = 1000;

export async function logs(server: string | undefined, options: LogsOptions): Promise<number> {
  const { url, adminUrl, token, config } = await findGateway(options);
  const client = createAdminClient({ url: adminUrl, token });
  const first = read(client, server, options).catch((error: unknown) => {
    const named = options.url !== undefined;
    const { code, cause } = error as AdminClientError;
    if (code !== "ECONNREFUSED") throw error;
    const log = named ? undefined : backgroundLog(config, process.env);
    const hint = log === undefined ? "" : `. What the last one in the background wrote is in ${log}`;
    throw new Error(unreachable({ url, named }, cause) + hint);
  });
  const printer = createPrinter(options);
  if (!options.follow) {
    const entries = await first;
    if (entries.length === 0 && !options.json) console.error("nothing was logged");
    for (const entry of entries) printer(entry);
    return 0;
  }
  // Whatever is wrong at the beginning ends the command; later, the gateway may come back.
  await first;
  const ended = new AbortController();
  process.once("SIGINT", () => ended.abort());
  await follow(client, { server, options, printer, signal: ended.signal });
  return 0;
}

interface Following {
  readonly server: string | undefined;
  readonly options: LogsOptions;
  readonly printer: (entry: LogEntry) => void;
  readonly signal: AbortSignal;
}

async function follow(client: AdminClient, { server, options, printer, signal }: Following): Promise<void> {
  const line = createStatusLine();
  const isWanted = fits(server, options);
  let since = options.since;
  /** What was printed of the last moment. */
  const printed = new Set<string>();
  const print = (entry: LogEntry): void => {
    const text = JSON.stringify(entry);
    if (printed.has(text) || entry.time < (since ?? 0)) return;
    if (entry.time > (since ?? 0)) printed.clear();
    printed.add(text);
    since = Math.max(since ?? 0, entry.time);
    printer(entry);
  };
  while (!signal.aborted) {
    const early: LogEntry[] = [];
    let isCaughtUp = false;
    const onOpen = (): void => {
      line.clear();
      // Lines that come meanwhile are in the list too, or follow it.
      void read(client, server, { ...options, since }).then(
        (entries) => {
          for (const entry of [...entries, ...early]) print(entry);
          isCaughtUp = true;
        },
        () => {},
      );
    };
    const stream = client.stream({
      signal,
      onOpen,
      onEvent({ type, data }) {
        if (type !== "log" || !isWanted(data)) return;
        if (isCaughtUp) print(data);
        else early.push(data);
      },
    });
    await stream.catch((error: unknown) => {
      if (error instanceof AdminClientError && error.code === "UNAUTHORIZED") throw error;
    });
    if (signal.aborted) return;
    line.spin(() => "waiting for the gateway");
    await pause(RETRY_MS);
  }
}

async function read(client: AdminClient, server: string | undefined, options: LogsOptions): Promise<LogEntry[]> {
  if (server !== undefined) {
    const { items } = await client.request(adminRoutes.listServers);
    requireServer(
      server,
      items.map(({ id }) => id),
    );
  }
  const limit = options.lines ?? (options.since === undefined ? DEFAULT_LINES : ALL_LINES);
  const query = {
    limit: String(options.since === undefined ? limit : ALL_LINES),
    ...(server !== undefined && { server }),
    ...(options.level !== undefined && { level: options.level }),
  };
  const { items } = await client.request(adminRoutes.listLogs, { query });
  return items.filter(({ time }) => time >= (options.since ?? 0)).slice(-limit);
}

function fits(server: string | undefined, { level = "trace" }: LogsOptions): (entry: LogEntry) => boolean {
  const least = ownLogLevels.indexOf(level);
  return (entry) => ownLogLevels.indexOf(entry.level) >= least && (server === undefined || entry.server === server);
}

function createPrinter({ json }: LogsOptions): (entry: LogEntry) => void {
  const paint = painter(process.stdout);
  return (entry) =>
    console.log(json ? safeJson({ ...entry, time: new Date(entry.time).toISOString() }) : logLine(entry, paint));
}
