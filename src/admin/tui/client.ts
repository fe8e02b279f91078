/**
 * The dashboard's client for the admin API over HTTP: reads, actions and the event stream.
 *
 * Invariant: every answer is validated against the API's schemas before use. Every failure is an
 * `AdminClientError` with a readable message. A silent stream is closed, because the gateway sends
 * at least one event a second.
 */
import type * as z from "zod";
import { EventStream } from "../../lib/http-client/event-stream.ts";
import { type AdminEvent, adminEvents } from "../api/events.ts";
import type { AdminRoute } from "../api/route.ts";
import { adminRoutes } from "../api/routes.ts";
import { ApiError } from "../api/schema.ts";

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
  /** Follows a route's own stream of events. Resolves when it ends; rejects if it breaks. */
  follow<Events extends EventSchemas>(
    route: AdminRoute & { readonly events: Events },
    options: RequestOptions & { readonly onEvent: (event: EventOf<Events>) => void },
  ): Promise<void>;
}

type EventSchemas = Readonly<Record<string, z.ZodType>>;
type EventOf<Events extends EventSchemas> = {
  [Type in keyof Events]: { readonly type: Type; readonly data: z.infer<Events[Type]> };
}[keyof Events];

interface StreamHandlers {
  onOpen(): void;
  onEvent(event: AdminEvent): void;
  readonly signal: AbortSignal;
}

export function createAdminClient({ url, token, silenceMs = 10_000 }: AdminClientOptions): AdminClient {
  const root = new URL("/", url);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const initOf = (route: AdminRoute, { body, signal }: RequestOptions, accept: string): RequestInit => {
    // The gateway requires JSON for every action, even without a body.
    const type = route.method === "get" ? {} : { "content-type": "application/json" };
    const init: RequestInit = { method: route.method.toUpperCase(), headers: { ...headers, ...type, accept } };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal !== undefined) init.signal = signal;
    return init;
  };
  /** Runs a stream, and ends it if nothing is heard on it for too long. */
  const watched = async (
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal, alive: () => void) => Promise<void>,
  ): Promise<void> => {
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
      await run(signal === undefined ? watch.signal : AbortSignal.any([signal, watch.signal]), alive);
    } catch (error) {
      throw watch.signal.aborted ? watch.signal.reason : asClientError(error);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    url: root.href.replace(/\/$/, ""),
    async request<Route extends ResponseRoute>(route: Route, options: RequestOptions = {}) {
      const response = await open(addressOf(root, route, options), initOf(route, options, "application/json"));
      const parsed = route.response.safeParse(await readJson(response));
      if (!parsed.success) throw misunderstood(route.path, parsed.error);
      // This route's own schema produced this value.
      return parsed.data as z.infer<Route["response"]>;
    },
    stream: ({ onOpen, onEvent, signal }) =>
      watched(signal, async (ending, alive) => {
        const route = adminRoutes.streamEvents;
        const response = await open(addressOf(root, route, {}), initOf(route, { signal: ending }, "text/event-stream"));
        onOpen();
        // The schemas are those of the events.
        await readEvents(response, { schemas: adminEvents, onEvent: (event) => onEvent(event as AdminEvent), alive });
      }),
    follow: (route, { onEvent, ...options }) =>
      watched(options.signal, async (signal, alive) => {
        const init = initOf(route, { ...options, signal }, "text/event-stream");
        const response = await open(addressOf(root, route, options), init);
        // The schemas are those of the route's events.
        await readEvents(response, { schemas: route.events, onEvent: (event) => onEvent(event as never), alive });
      }),
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

interface Read {
  readonly type: string;
  readonly data: unknown;
}

async function readEvents(
  response: Response,
  options: { schemas: EventSchemas; onEvent: (event: Read) => void; alive: () => void },
): Promise<void> {
  if (response.body === null) return;
  const stream = new EventStream({
    event: ({ event, data }) => {
      const known = readEvent(options.schemas, event, data.toString("utf8"));
      if (known !== undefined) options.onEvent(known);
    },
  });
  for await (const chunk of response.body) {
    options.alive();
    stream.push(chunk);
  }
}

/** Parses an event. Unknown types and shapes come from a newer gateway and are ignored. */
function readEvent(schemas: EventSchemas, type: string, data: string): Read | undefined {
  if (!Object.hasOwn(schemas, type)) return undefined;
  try {
    const parsed = schemas[type]?.safeParse(JSON.parse(data));
    return parsed?.success ? { type, data: parsed.data } : undefined;
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
