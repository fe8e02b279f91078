/**
 * A minimal MCP client for the command line, over any `fetch`: the handshake, requests with JSON or
 * event-stream answers, and complete lists. A server may ask only for offered capabilities; each
 * question is answered once. An error answer is thrown as `RpcError`.
 */
import { EventStream } from "../../../lib/http-client/event-stream.ts";
import { version } from "../../../lib/package/version.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";

/** Sends one HTTP request to the MCP endpoint. */
export type Send = (init: RequestInit) => Promise<Response>;
export type Fields = Readonly<Record<string, unknown>>;

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { code: number; message: string; data?: unknown };
}

const PROTOCOL_VERSION = "2025-11-25";
const METHOD_NOT_FOUND = errorTable.METHOD_NOT_FOUND.rpc;
const MAX_PAGES = 10_000;

export class McpClient {
  readonly #send: Send;
  readonly #headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  #count = 0;
  /** Receives the server's notifications. */
  onNotification: (method: string, params: Fields) => void = () => {};
  /**
   * Answers the server's requests; undefined: the method is not supported. The signal aborts when
   * the server no longer waits for the answer.
   */
  onRequest: (method: string, params: Fields, signal: AbortSignal) => Promise<Fields> | undefined = () => undefined;

  private constructor(send: Send) {
    this.#send = send;
  }

  static async connect(send: Send, capabilities: Fields): Promise<McpClient> {
    const client = new McpClient(send);
    const params = { protocolVersion: PROTOCOL_VERSION, capabilities, clientInfo: { name: "goblin-cli", version } };
    const { protocolVersion } = await client.request("initialize", params);
    client.#headers["mcp-protocol-version"] = String(protocolVersion);
    await client.#post({ method: "notifications/initialized" });
    return client;
  }

  async request(method: string, params: Fields = {}): Promise<Fields> {
    const id = ++this.#count;
    const response = await this.#post({ id, method, params });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.#headers["mcp-session-id"] = session;
    const answer = await this.#answer(response, id);
    if (answer.error) throw new RpcError(answer.error);
    return answer.result ?? {};
  }

  /** Returns the items of all pages. */
  async list(method: string, member: string): Promise<Fields[]> {
    const all: Fields[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor });
      const items = result[member];
      if (Array.isArray(items)) all.push(...(items as Fields[]));
      cursor = result["nextCursor"];
      if (cursor === undefined) return all;
    }
    throw new Error(`${method} has more than ${MAX_PAGES} pages`);
  }

  /** Ends the session and cancels its running calls. */
  async close(): Promise<void> {
    if (!this.#headers["mcp-session-id"]) return;
    const response = await this.#send({ method: "DELETE", headers: this.#headers });
    await response.body?.cancel();
  }

  #post(message: object): Promise<Response> {
    return this.#send({
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  }

  async #answer(response: Response, id: number): Promise<Message> {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return readJson(response);
    let found: Message | undefined;
    const over = new AbortController();
    const stream = new EventStream({
      event: ({ data }) => {
        const message = data.length === 0 ? {} : (JSON.parse(data.toString("utf8")) as Message);
        if (message.method === undefined) {
          if (message.id === id) found = message;
        } else if (message.id === undefined) this.onNotification(message.method, message.params ?? {});
        else void this.#reply(message, over.signal);
      },
    });
    try {
      for await (const chunk of response.body ?? new ReadableStream<Uint8Array>()) {
        stream.push(chunk);
        if (found) return found;
      }
    } finally {
      over.abort();
    }
    throw new Error("The gateway closed the connection before it answered");
  }

  async #reply({ id, method = "", params = {} }: Message, signal: AbortSignal): Promise<void> {
    const error = { code: METHOD_NOT_FOUND, message: `The command line does not answer ${method}` };
    try {
      const result = await this.onRequest(method, params, signal);
      if (!signal.aborted) await this.#post(result === undefined ? { id, error } : { id, result });
    } catch {
      // The server or the gateway is gone; the pending call reports that.
    }
  }
}

async function readJson(response: Response): Promise<Message> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Message;
  } catch {
    throw new Error(`The gateway answered ${response.status} without JSON`);
  }
}
