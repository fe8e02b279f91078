/**
 * The ways a message travels between a raw client and the gateway: Streamable HTTP, HTTP+SSE, and
 * lines on a pair of streams. A wire knows no protocol version; whatever arrives, on whichever
 * stream, is handed on in the order it came.
 */
import { PassThrough } from "node:stream";
import type { Gateway } from "../../src/app/gateway.ts";
import { onDispose } from "../fixtures/peers.ts";
import { eachLine } from "../fixtures/stdio.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came; tests look into it freely
export type Message = any;

export interface Sent {
  /** Closes the stream that the answer comes on, where the message has one of its own. */
  close(): void;
}

export interface Wire {
  readonly kind: "http" | "sse" | "stdio";
  /** Sent with every message, where there are headers. */
  readonly headers: Record<string, string>;
  send(message: Message, headers?: Record<string, string>): Sent;
  /** The standing stream of Streamable HTTP with sessions; nothing elsewhere. */
  stand(): Promise<void>;
  close(): void;
}

type Take = (message: Message, headers: Headers | undefined) => void;

export function httpWire(url: string, take: Take): Wire {
  const all = new AbortController();
  onDispose(() => all.abort());
  const wire: Wire = {
    kind: "http",
    headers: {},
    send(message, headers) {
      const mine = new AbortController();
      const signal = AbortSignal.any([mine.signal, all.signal]);
      const init = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      void fetch(url, {
        method: "POST",
        signal,
        headers: { ...init, ...wire.headers, ...headers },
        body: JSON.stringify(message),
      })
        .then((response) => eachMessage(response, take))
        .catch(() => {});
      return { close: () => mine.abort() };
    },
    async stand() {
      const headers = { accept: "text/event-stream", ...wire.headers };
      const response = await fetch(url, { headers, signal: all.signal });
      if (response.status !== 200) throw new Error(`The standing stream: ${response.status}`);
      void eachMessage(response, take).catch(() => {});
    },
    close: () => all.abort(),
  };
  return wire;
}

export async function sseWire(url: string, take: Take): Promise<Wire> {
  const abort = new AbortController();
  onDispose(() => abort.abort());
  const response = await fetch(url, { headers: { accept: "text/event-stream" }, signal: abort.signal });
  let address: URL | undefined;
  await new Promise<void>((resolve) => {
    const each = (event: string, data: string): void => {
      if (event !== "endpoint") return take(JSON.parse(data), undefined);
      address = new URL(data, url);
      resolve();
    };
    void eachEvent(response, each).catch(() => {});
  });
  return {
    kind: "sse",
    headers: {},
    send(message) {
      const headers = { "content-type": "application/json" };
      void fetch(address!, { method: "POST", headers, body: JSON.stringify(message), signal: abort.signal }).catch(
        () => {},
      );
      return { close: () => {} };
    },
    stand: async () => {},
    close: () => abort.abort(),
  };
}

export function stdioWire(gateway: Gateway, take: Take): Wire {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const front = gateway.stdio({ input, output });
  onDispose(() => front.close());
  eachLine(output, (line) => take(JSON.parse(line), undefined));
  return {
    kind: "stdio",
    headers: {},
    send(message) {
      input.write(`${JSON.stringify(message)}\n`);
      return { close: () => {} };
    },
    stand: async () => {},
    close: () => input.end(),
  };
}

async function eachMessage(response: Response, take: Take): Promise<void> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    return eachEvent(response, (_event, data) => take(JSON.parse(data), response.headers));
  }
  const text = await response.text();
  if (text !== "") take(JSON.parse(text), response.headers);
}

async function eachEvent(response: Response, each: (event: string, data: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line] as const);
      const value = (name: string) => fields.find(([field]) => field === name)?.[1].slice(name.length + 2);
      const data = value("data");
      if (data !== undefined && data !== "") each(value("event") ?? "message", data);
    }
  }
}
