/**
 * The page's client for the admin API: reads, actions and event streams.
 *
 * Invariant: every request carries the header that a page of another origin cannot send, so the
 * cookie alone opens nothing. Every failure is an `ApiProblem` with a sentence for people.
 */

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
  }
}

export interface PageEvent {
  readonly type: string;
  readonly data: unknown;
}

interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** A token in place of the cookie, for logging in. */
  readonly token?: string;
}

/** Where the page keeps its half of the session; the other half is the cookie. */
const KEY = "goblin-page-key";

/** Gets a session for a one-time code, or for an admin's token. */
export async function logIn(options: { readonly code?: string; readonly token?: string }): Promise<void> {
  const { code, ...rest } = options;
  const { key } = await request<{ key: string }>("/ui/session", { method: "POST", body: { code }, ...rest });
  localStorage.setItem(KEY, key);
}

/** Whether this page had to log in: a command that it shows then needs a token, too. */
export function needsToken(): boolean {
  return localStorage.getItem(KEY) !== null;
}

/** The connection is dead after this time without an event: the gateway sends one a second. */
const SILENCE_MS = 10_000;

async function open(path: string, { method = "GET", body, signal, token }: RequestOptions): Promise<Response> {
  const headers: Record<string, string> = { "x-goblin-page": localStorage.getItem(KEY) ?? "none" };
  // The gateway requires JSON for every action, even without a body.
  if (method !== "GET") headers["content-type"] = "application/json";
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem(0, "NETWORK", "The gateway does not answer");
  }
  if (response.ok) return response;
  const failure = (await response.json().catch(() => undefined)) as { error?: { code?: string; message?: string } };
  const { code = "HTTP", message = `The gateway answered ${response.status}` } = failure?.error ?? {};
  throw new ApiProblem(response.status, String(code), String(message));
}

export async function request<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await open(path, options);
  return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer);
}

/** Reads all items of a list. */
export async function list<Item>(path: string): Promise<Item[]> {
  return (await request<{ items: Item[] }>(path)).items;
}

export function post<Answer>(path: string, body?: unknown): Promise<Answer> {
  return request<Answer>(path, { method: "POST", body });
}

/**
 * Follows a stream of server-sent events. Resolves when it ends; rejects if it cannot be opened,
 * breaks, or falls silent. `EventSource` cannot send the header that the gateway asks for.
 */
export async function follow(
  path: string,
  options: RequestOptions & {
    readonly onOpen?: () => void;
    readonly onEvent: (event: PageEvent) => void;
    /** Whether the stream is silent between events. */
    readonly quiet?: boolean;
  },
): Promise<void> {
  const silence = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, silence.signal]) : silence.signal;
  const response = await open(path, { ...options, signal });
  options.onOpen?.();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let timer = 0;
  let rest = "";
  try {
    for (;;) {
      clearTimeout(timer);
      if (!options.quiet) timer = window.setTimeout(() => silence.abort(), SILENCE_MS);
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = readEvent(block);
        if (event) options.onEvent(event);
      }
    }
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiProblem(0, "NETWORK", "The connection to the gateway broke");
  } finally {
    clearTimeout(timer);
  }
}

/** The parser in `http-client` works on Node's buffers, which browsers do not have. */
function readEvent(block: string): PageEvent | undefined {
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) type = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (data.length === 0) return undefined;
  try {
    return { type, data: JSON.parse(data.join("\n")) as unknown };
  } catch {
    return undefined;
  }
}
