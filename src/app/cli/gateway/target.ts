/**
 * The gateway that a command talks to: a running one, or one that this process starts from a config
 * and stops after the command. Both are a function that takes requests, so commands need not know
 * the difference.
 */
import { resolve } from "node:path";
import type * as z from "zod";
import type { AdminRoute } from "../../../admin/api/route.ts";
import { ApiError } from "../../../admin/api/schema.ts";
import { endpointFor } from "../../../auth/access/endpoints.ts";
import { formatWarning } from "../../../config/problems/problem.ts";
import { loadConfig } from "../../../config/reading/load.ts";
import type { Config } from "../../../config/schema/config.ts";
import { clean } from "../../../lib/text/clean.ts";
import { isStarting } from "../../../mcp/protocol/server-states.ts";
import type { Gateway } from "../../gateway.ts";
import { requireServer } from "../suggest.ts";
import { createStatusLine, whileWaiting } from "../terminal/status-line.ts";
import { UsageError } from "../usage-error.ts";
import { findGateway, type GatewayOptions } from "./find-gateway.ts";
import { type Fields, McpClient, type Send } from "./mcp-client.ts";
import { RefusedRequest, RefusedToken } from "./refused-request.ts";
import { unreachable } from "./unreachable.ts";

export interface TargetOptions extends GatewayOptions {
  readonly config?: string | undefined;
  /** With a config: the only server to start. */
  readonly only?: string | undefined;
  /** With a config: neither its warnings nor the log are shown. */
  readonly quiet?: boolean | undefined;
  /** The profile to use things of. */
  readonly profile?: string | undefined;
}

type Readable = AdminRoute & { readonly response: z.ZodType };

export interface Target {
  /** The gateway's root URL. */
  readonly url: string;
  /** The root URL of its API and its page. */
  readonly adminUrl: string;
  /** Requests a route of the admin API and validates the answer. */
  request<Route extends Readable>(route: Route, body?: Fields): Promise<z.infer<Route["response"]>>;
  /** Connects to the endpoint of a profile, or to the main one. */
  mcp(capabilities: Fields, profile?: string): Promise<McpClient>;
  /** Connects to the endpoint of one server, where it has its own names. */
  mcpOf(capabilities: Fields, server: string): Promise<McpClient>;
  close(): Promise<void>;
}

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

export async function withTarget<T>(options: TargetOptions, use: (target: Target) => Promise<T>): Promise<T> {
  const target = await openTarget(options);
  try {
    return await use(target);
  } finally {
    await target.close();
  }
}

/**
 * Connects as a client while `use` runs, with the given client capabilities. Ctrl-c ends the
 * session, which also cancels the call at its server.
 */
export function withClient<T>(
  options: TargetOptions & { readonly capabilities?: Fields },
  use: (client: McpClient, target: Target) => Promise<T>,
): Promise<T> {
  return withTarget(options, async (target) => {
    const client = await target.mcp(options.capabilities ?? {}, options.profile);
    const interrupted = (): void => void client.close().finally(() => process.exit(130));
    process.once("SIGINT", interrupted);
    try {
      return await use(client, target);
    } finally {
      process.off("SIGINT", interrupted);
      await client.close().catch(() => {});
    }
  });
}

function openTarget(options: TargetOptions): Promise<Target> {
  if (options.url !== undefined && options.config !== undefined) {
    throw new UsageError("--url names a running gateway and --config starts one: use only one of them");
  }
  return options.config === undefined ? running(options) : inProcess(options.config, options);
}

export interface InProcess {
  readonly config: Config;
  readonly configPath?: string;
  /** Nothing is logged on the terminal. */
  readonly quiet?: boolean | undefined;
}

async function inProcess(path: string, { only, quiet }: TargetOptions): Promise<Target> {
  const { config, warnings } = await loadConfig(resolve(path));
  const ids = config.servers.map(({ id }) => id);
  if (only !== undefined) requireServer(only, ids);
  if (!quiet) for (const warning of warnings) console.error(clean(formatWarning(warning)));
  const servers = config.servers.filter(({ id }) => only === undefined || id === only);
  return startTarget({ config: { ...config, servers }, configPath: resolve(path), quiet });
}

/** Starts the servers of a config for this process only. */
export async function startTarget({ config, configPath, quiet }: InProcess): Promise<Target> {
  // Only this process can reach this gateway, so it needs no tokens.
  const open = {
    ...config,
    record: undefined,
    gateway: {
      ...config.gateway,
      host: "127.0.0.1",
      auth: { tokens: [], clients: {}, pairing: false },
      admin: { tokens: [] },
    },
  };
  const [{ createGateway }, { openLogins }, { createLogger }] = await Promise.all([
    import("../../gateway.ts"),
    import("../../../auth/login/book/open-logins.ts"),
    import("../../../observe/telemetry/logger.ts"),
  ]);
  const log = quiet
    ? createLogger({ level: "info", format: "json", stream: { write: () => {} } })
    : createLogger({ ...config.log, level: "warn", stream: process.stderr });
  const logins = await openLogins({ env: process.env, warn: (message) => log.warn(message) });
  const gateway = createGateway({ config: open, log, configPath, logins });
  await whileStarting(gateway);
  const url = "http://127.0.0.1";
  const send: Fetch = (at, init) => {
    const headers = new Headers(init.headers);
    headers.set("host", "127.0.0.1");
    return gateway.fetch(new Request(url + at, { ...init, headers }));
  };
  const refused = "the gateway rejected its own request";
  return target({ url, adminUrl: url, refused, send, close: () => gateway.close() });
}

/** Returns the servers that are still connecting, with what they wait for. */
export function startingServers(servers: Gateway["servers"]): string[] {
  return servers.ids().flatMap((id) => {
    const status = servers.status(id);
    if (!isStarting(status?.state)) return [];
    return status?.reason === undefined ? id : `${id}: ${status.reason}`;
  });
}

/** Shows the servers that are still connecting. */
async function whileStarting({ servers, start }: Gateway): Promise<void> {
  const line = createStatusLine();
  const waiting = (): string[] => startingServers(servers);
  line.spin(() => (waiting().length === 0 ? "" : `waiting for ${waiting().join("; ")}`));
  try {
    await start();
  } finally {
    line.clear();
  }
}

async function running(options: TargetOptions): Promise<Target> {
  const { url, adminUrl, token, tokenFrom } = await findGateway(options);
  const send: Fetch = async (path, init) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    try {
      return await fetch((path.startsWith("/api/") ? adminUrl : url) + path, { ...init, headers });
    } catch (error) {
      throw new Error(unreachable({ url, named: options.url !== undefined }, error), { cause: error });
    }
  };
  const refused =
    token === undefined
      ? "the gateway asks for a token: give --token or set GOBLIN_TOKEN"
      : `the token was refused: check ${tokenFrom}`;
  return target({ url, adminUrl, refused, send, close: async () => {} });
}

interface TargetParts {
  readonly url: string;
  readonly adminUrl: string;
  /** The error message for a 401 answer. */
  readonly refused: string;
  readonly send: Fetch;
  readonly close: () => Promise<void>;
}

function target({ url, adminUrl, refused, send, close }: TargetParts): Target {
  const waiting = `waiting for the gateway at ${url}`;
  const checked: Fetch = async (path, init) => {
    const response = await send(path, init);
    if (response.status === 401) throw new RefusedToken(refused);
    return response;
  };
  return {
    url,
    adminUrl,
    close,
    mcp(capabilities, profile) {
      if (profile === undefined)
        return whileWaiting(waiting, () => McpClient.connect((init) => checked("/mcp", init), capabilities));
      const path = `/mcp${endpointFor("p", profile)}`;
      let isThere = false;
      const send: Send = async (init) => {
        const response = await checked(path, init);
        // Later, a 404 means that the session has ended.
        if (response.status === 404 && !isThere) {
          throw new UsageError(`there is no profile "${profile}", or the token is not for it`);
        }
        isThere = true;
        return response;
      };
      return whileWaiting(waiting, () => McpClient.connect(send, capabilities));
    },
    mcpOf(capabilities, server) {
      return McpClient.connect((init) => checked(`/mcp${endpointFor("s", server)}`, init), capabilities);
    },
    async request<Route extends Readable>(route: Route, body?: Fields) {
      // The gateway requires JSON for every action, even without a body.
      const type = route.method === "get" ? {} : { "content-type": "application/json" };
      const headers = { accept: "application/json", ...type };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const asked = { method: route.method.toUpperCase(), headers, ...sent };
      const response = await whileWaiting(waiting, () => checked(route.path, asked));
      const answer: unknown = await response.json().catch(() => undefined);
      if (!response.ok) {
        const failed = ApiError.safeParse(answer);
        if (failed.success) throw new RefusedRequest(failed.data.error);
        throw new Error(`${url} answered ${response.status}: is it a Goblin gateway?`);
      }
      if (answer === undefined) throw new Error(`${url} answers, but not as a Goblin gateway: is it another program?`);
      const parsed = route.response.safeParse(answer);
      if (!parsed.success) throw new Error(`${url}${route.path} sent an answer that this version does not understand`);
      // The route's own schema produced this value.
      return parsed.data as z.infer<Route["response"]>;
    },
  };
}
