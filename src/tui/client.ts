/**
 * The dashboard's client for the admin API over HTTP: reads, actions and the event stream.
 *
 * Invariant: every answer is validated against the API's schemas before use. Every failure is an
 * `AdminClientError` with a readable message. A silent stream is closed, because the gateway sends
 * at least one event a second.
 */
import type * as z from "zod";
import { type AdminEvent, adminEvents } from "../admin/events.ts";
import { type AdminRoute, adminRoutes } from "../admin/routes.ts";
import { ApiError } from "../admin/schema.ts";
import { EventStream } from "../http-client/event-stream.ts";

export class AdminClientError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AdminClientError";
    this.code = code;
  }
}

export interface AdminClientOptions {
  /** Any URL on the gateway. */
  readonly url: string;
  readonly token?: string | undefined;
  /** The timeout for a silent stream. */
  readonly silenceMs?: number;
}

interface RequestOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

type ResponseRoute = AdminRoute & { readonly response: z.ZodType };

export interface AdminClient {
  readonly url: string;
  request<Route extends ResponseRoute>(route: Route, options?: RequestOptions): Promise<z.infer<Route["response"]>>;
  /** Resolves when the stream ends; rejects if it cannot be opened or breaks. */
  stream(handlers: StreamHandlers): Promise<void>;
}

interface StreamHandlers {
  onOpen(): void;
  onEvent(event: AdminEvent): void;
  readonly signal: AbortSignal;
}

export function createAdminClient({ url, token, silenceMs = 10_000 }: AdminClientOptions): AdminClient {
  const root = new URL("/", url);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    url: root.href.replace(/\/$/, ""),
    async request<Route extends ResponseRoute>(route: Route, options: RequestOptions = {}) {
      // The gateway requires JSON for every action, even without a body.
      const type = route.method === "get" ? {} : { "content-type": "application/json" };
      const init: RequestInit = {
        method: route.method.toUpperCase(),
        headers: { ...headers, ...type, accept: "application/json" },
      };
      if (options.body !== undefined) init.body = JSON.stringify(options.body);
      if (options.signal !== undefined) init.signal = options.signal;
      const response = await open(addressOf(root, route, options), init);
      const parsed = route.response.safeParse(await readJson(response));
      if (!parsed.success) throw misunderstood(route.path, parsed.error);
      // This route's own schema produced this value.
      return parsed.data as z.infer<Route["response"]>;
    },
    async stream({ onOpen, onEvent, signal }) {
      const watch = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      const alive = (): void => {
        clearTimeout(timer);
        timer = setTimeout(
          () => watch.abort(new AdminClientError("SILENT", `Nothing heard from the gateway for ${silenceMs / 1000} s`)),
          silenceMs,
        );
      };
      try {
        alive();
        const response = await open(addressOf(root, adminRoutes.streamEvents, {}), {
          headers: { ...headers, accept: "text/event-stream" },
          signal: AbortSignal.any([signal, watch.signal]),
        });
        onOpen();
        await readEvents(response, onEvent, alive);
      } catch (error) {
        throw watch.signal.aborted ? watch.signal.reason : asClientError(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function addressOf(root: URL, route: AdminRoute, { params = {}, query = {} }: RequestOptions): URL {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const address = new URL(path, root);
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address;
}

async function open(address: URL, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (error) {
    throw asClientError(error);
  }
  if (response.ok) return response;
  if (response.status === 401) throw new AdminClientError("UNAUTHORIZED", "The gateway asks for a token (401)");
  const body = ApiError.safeParse(await readJson(response).catch(() => undefined));
  if (body.success) throw new AdminClientError(body.data.error.code, body.data.error.message);
  const hint = response.status === 404 ? ": is this a Goblin gateway?" : "";
  throw new AdminClientError("HTTP", `${address.origin} answered ${response.status} to ${address.pathname}${hint}`);
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new AdminClientError("NOT_JSON", `${response.url} did not answer with JSON`, { cause: error });
    }
    throw asClientError(error);
  }
}

async function readEvents(response: Response, onEvent: (event: AdminEvent) => void, alive: () => void): Promise<void> {
  if (response.body === null) return;
  const stream = new EventStream({
    event: ({ event, data }) => {
      const known = readEvent(event, data.toString("utf8"));
      if (known !== undefined) onEvent(known);
    },
  });
  for await (const chunk of response.body) {
    alive();
    stream.push(chunk);
  }
}

/** Parses an event. Unknown types and shapes come from a newer gateway and are ignored. */
function readEvent(type: string, data: string): AdminEvent | undefined {
  if (!Object.hasOwn(adminEvents, type)) return undefined;
  try {
    const parsed = adminEvents[type as AdminEvent["type"]].safeParse(JSON.parse(data));
    // The type selects the schema that produced the data.
    return parsed.success ? ({ type, data: parsed.data } as AdminEvent) : undefined;
  } catch {
    return undefined;
  }
}

function misunderstood(path: string, error: z.ZodError): AdminClientError {
  const issue = error.issues[0];
  const where = issue === undefined ? "" : ` (${issue.path.join(".")}: ${issue.message})`;
  return new AdminClientError("SHAPE", `${path} sent an answer that this version does not understand${where}`);
}

function asClientError(error: unknown): AdminClientError {
  if (error instanceof AdminClientError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code } = cause as { code?: unknown };
  const words =
    code === "ECONNREFUSED" ? "nothing listens there" : cause instanceof Error ? cause.message : String(cause);
  return new AdminClientError(typeof code === "string" ? code : "NETWORK", words || String(code), { cause: error });
}
