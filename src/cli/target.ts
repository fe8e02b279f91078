/**
 * What a command talks to: a running gateway, found by itself or named with --url, or one that is
 * started in this process from a config and ended with the command. Both are a function that takes
 * requests, so that commands do not know the difference.
 */
import { resolve } from "node:path";
import type * as z from "zod";
import type { AdminRoute } from "../admin/routes.ts";
import { ApiError } from "../admin/schema.ts";
import { formatWarning } from "../config/problems/problem.ts";
import { findConfig } from "../config/reading/find.ts";
import { addressIn, loadConfig } from "../config/reading/load.ts";
import { McpClient } from "./mcp-client.ts";
import { UsageError } from "./usage-error.ts";

export interface TargetOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly config?: string | undefined;
}

type Readable = AdminRoute & { readonly response: z.ZodType };

export interface Target {
  /** The gateway's root. */
  readonly url: string;
  readonly token: string | undefined;
  /** One of the admin API's answers, checked. */
  get<Route extends Readable>(route: Route): Promise<z.infer<Route["response"]>>;
  mcp(): Promise<McpClient>;
  close(): Promise<void>;
}

interface Found {
  /** The gateway's root. */
  readonly url: string;
  /** The root of its API, which may have an address of its own. */
  readonly adminUrl: string;
  readonly token: string | undefined;
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
 * Connects as a client for the time of `use`. Ctrl-c ends the session, so that the call ends at its
 * server too.
 */
export function withClient<T>(
  options: TargetOptions,
  use: (client: McpClient, target: Target) => Promise<T>,
): Promise<T> {
  return withTarget(options, async (target) => {
    const client = await target.mcp();
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
    throw new UsageError("--url names a running gateway and --config starts one: give one of them");
  }
  return options.config === undefined ? running(options) : inProcess(options.config);
}

async function inProcess(path: string): Promise<Target> {
  const { config, warnings } = await loadConfig(resolve(path));
  for (const warning of warnings) console.error(formatWarning(warning));
  // Nobody but this process can reach it, so nothing is asked of whoever does.
  const open = {
    ...config,
    gateway: { ...config.gateway, host: "127.0.0.1", auth: { tokens: [] }, admin: { tokens: [] } },
  };
  const [{ createGateway }, { createLogger }] = await Promise.all([
    import("../gateway.ts"),
    import("../telemetry/logger.ts"),
  ]);
  const log = createLogger({ ...config.log, level: "warn", stream: process.stderr });
  const gateway = createGateway({ config: open, log, configPath: resolve(path) });
  await gateway.start();
  const url = "http://127.0.0.1";
  const send: Fetch = (at, init) => {
    const headers = new Headers(init.headers);
    headers.set("host", "127.0.0.1");
    return gateway.fetch(new Request(url + at, { ...init, headers }));
  };
  return target({ url, token: undefined, send, close: () => gateway.close() });
}

async function running(options: TargetOptions): Promise<Target> {
  const { url, adminUrl, token } = await findGateway(options);
  const send: Fetch = async (path, init) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    try {
      return await fetch((path.startsWith("/api/") ? adminUrl : url) + path, { ...init, headers });
    } catch (error) {
      throw new Error(unreachable(url, error, options.url !== undefined), { cause: error });
    }
  };
  return target({ url, token, send, close: async () => {} });
}

/**
 * Where a gateway should be running: what was named, else where the config that `serve` would find
 * puts it.
 */
export async function findGateway(options: TargetOptions): Promise<Found> {
  const given = options.token ?? process.env["GOBLIN_TOKEN"];
  if (options.url !== undefined) {
    const url = rootOf(options.url);
    return { url, adminUrl: url, token: given };
  }
  const path = findConfig(process.cwd(), process.env);
  // A config that is not valid is no reason not to ask a gateway that runs.
  const loaded = path === undefined ? undefined : await loadConfig(path).catch(() => undefined);
  const address = loaded?.config.gateway ?? (path === undefined ? {} : await addressIn(path));
  const { auth, admin, tls } = loaded?.config.gateway ?? {};
  const scheme = tls ? "https" : "http";
  const url = `${scheme}://${addressOf(address)}`;
  const adminUrl = admin?.port === undefined ? url : `${scheme}://${addressOf(admin)}`;
  // An admin's token opens what a client's does, too.
  return { url, adminUrl, token: given ?? admin?.tokens[0] ?? auth?.tokens[0] };
}

function addressOf({
  host = "127.0.0.1",
  port = 3000,
}: {
  host?: string | undefined;
  port?: number | undefined;
}): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const shown = reachable.includes(":") ? `[${reachable}]` : reachable;
  return `${shown}:${port === 0 ? 3000 : port}`;
}

function rootOf(text: string): string {
  const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address))
    throw new UsageError(`--url ${text} is no URL; it should look like http://127.0.0.1:3000`);
  return new URL(address).origin;
}

function unreachable(url: string, error: unknown, named: boolean): string {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  if (cause?.code !== "ECONNREFUSED") return `${url} cannot be reached: ${cause?.message ?? String(error)}`;
  const other = named ? "" : ", name one with --url, or use a config without a gateway with --config";
  return `no gateway is listening on ${url}: start one with "goblin serve"${other}`;
}

interface TargetParts {
  readonly url: string;
  readonly token: string | undefined;
  readonly send: Fetch;
  readonly close: () => Promise<void>;
}

function target({ url, token, send, close }: TargetParts): Target {
  const checked: Fetch = async (path, init) => {
    const response = await send(path, init);
    if (response.status === 401) throw new Error("the gateway asks for a token: give --token or set GOBLIN_TOKEN");
    return response;
  };
  return {
    url,
    token,
    close,
    mcp: () => McpClient.connect((init) => checked("/mcp", init)),
    async get<Route extends Readable>(route: Route) {
      const response = await checked(route.path, { headers: { accept: "application/json" } });
      const body: unknown = await response.json().catch(() => undefined);
      if (!response.ok) {
        const failed = ApiError.safeParse(body);
        throw new Error(
          failed.success ? failed.data.error.message : `${url} answered ${response.status}: is it a Goblin?`,
        );
      }
      const parsed = route.response.safeParse(body);
      if (!parsed.success) throw new Error(`${url}${route.path} answers in a shape that this version does not know`);
      // The route's own schema made it.
      return parsed.data as z.infer<Route["response"]>;
    },
  };
}
