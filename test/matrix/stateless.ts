/**
 * A raw client of 2026-07-28 over HTTP that says exactly what a test tells it to: one request at a
 * time, each with its envelope and its mirrored headers, any of which can be replaced or left out.
 */
import { type RawAnswer, type RawRequest, type RawStream, rawHttp } from "../fixtures/raw-http.ts";
import type { Message } from "./wires.ts";

export interface Said {
  readonly id?: string | number;
  /** Merged over the envelope; undefined leaves a key out. */
  readonly meta?: Record<string, unknown>;
  /** Merged over the mirrored headers; null leaves one out. */
  readonly headers?: Record<string, string | null>;
  readonly capabilities?: Record<string, unknown>;
}

export interface Stateless {
  call(method: string, params?: Record<string, unknown>, said?: Said): Promise<RawAnswer & { message: Message }>;
  stream(method: string, params?: Record<string, unknown>, said?: Said): Promise<RawStream>;
  /** Sends a request and, when told to, breaks off before anything has come back. */
  begin(method: string, params: Record<string, unknown>): { breakOff(): void };
}

const PREFIX = "io.modelcontextprotocol/";
export const VERSION_KEY = `${PREFIX}protocolVersion`;
export const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
export const LEVEL_KEY = `${PREFIX}logLevel`;
export const SUBSCRIPTION_KEY = `${PREFIX}subscriptionId`;
const NAMED: Record<string, string> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

export function stateless(
  url: string,
  options: { token?: string; capabilities?: Record<string, unknown> } = {},
): Stateless {
  const raw = rawHttp(url);
  if (options.token) raw.headers["authorization"] = `Bearer ${options.token}`;
  let lastId = 0;
  const compose = (method: string, params: Record<string, unknown>, said: Said) => {
    const id = said.id ?? ++lastId;
    const _meta = {
      [VERSION_KEY]: "2026-07-28",
      [CAPABILITIES_KEY]: said.capabilities ?? options.capabilities ?? {},
      [`${PREFIX}clientInfo`]: { name: "stateless", version: "1" },
      ...said.meta,
    };
    const named = params[NAMED[method] ?? ""];
    const headers = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof named === "string" && { "mcp-name": named }),
      ...said.headers,
    };
    const request: RawRequest = { body: { jsonrpc: "2.0", id, method, params: { ...params, _meta } }, headers };
    return { id, request };
  };
  return {
    async call(method, params = {}, said = {}) {
      const { id, request } = compose(method, params, said);
      const answer = await raw.send(request);
      return { ...answer, message: answer.messages.find((m) => m?.id === id && !m.method) };
    },
    stream: (method, params = {}, said = {}) => raw.stream(compose(method, params, said).request),
    begin(method, params) {
      const { request } = compose(method, params, {});
      const abort = new AbortController();
      const headers = { accept: "*/*", "content-type": "application/json", ...raw.headers, ...request.headers };
      const init = { method: "POST", headers: headers as Record<string, string>, body: JSON.stringify(request.body) };
      fetch(url, { ...init, signal: abort.signal }).catch(() => {});
      return { breakOff: () => abort.abort() };
    },
  };
}
