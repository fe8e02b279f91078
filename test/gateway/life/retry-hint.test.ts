/** Streams that end because the gateway does say when their clients should come back. */
import { afterEach, describe, expect, it } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp } from "../../fixtures/peers.ts";
import { startReplicas } from "../../fixtures/replicas.ts";

afterEach(disposeAll);

interface Gateway {
  readonly url: string;
  readonly sseUrl: string;
}

/** All that the stream of this kind says until it ends. */
const streams: Record<string, (gateway: Gateway) => Promise<Response>> = {
  async standing({ url }) {
    const raw = rawHttp(url);
    await raw.initialize();
    return fetch(url, { headers: { ...raw.headers, accept: "text/event-stream" } });
  },
  "HTTP+SSE": ({ sseUrl }) => fetch(sseUrl, { headers: { accept: "text/event-stream" } }),
  listen: ({ url }) =>
    fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    }),
};

const hintIn = (text: string): number => Number(/(?:^|\n\n)retry: (\d+)\n\n$/.exec(text)?.[1] ?? Number.NaN);

describe.each(Object.keys(streams))("a stream (%s) that ends with the gateway", (kind) => {
  it("says when to come back to the gateway", async () => {
    const { gateway, ...at } = await startGoblin({ mcpServers: {} });
    const answer = await streams[kind]!(at);
    expect(answer.status).toBe(200);
    const whole = answer.text();
    await gateway.close({ drain: true });
    const ms = hintIn(await whole);
    expect(ms).toBeGreaterThanOrEqual(2000);
    expect(ms).toBeLessThanOrEqual(3000);
  });

  it("says that others are there at once, among replicas", async () => {
    const { all } = await startReplicas(2, { mcpServers: {} });
    const whole = (await streams[kind]!(all[0]!)).text();
    await all[0]!.gateway.close({ drain: true });
    const ms = hintIn(await whole);
    expect(ms).toBeGreaterThanOrEqual(250);
    expect(ms).toBeLessThanOrEqual(1000);
  });
});

it("a stream whose session its client ended says nothing of that kind", async () => {
  const { url } = await startGoblin({ mcpServers: {} });
  const raw = rawHttp(url);
  await raw.initialize();
  const answer = await fetch(url, { headers: { ...raw.headers, accept: "text/event-stream" } });
  const whole = answer.text();
  expect((await raw.delete()).status).toBe(204);
  expect(await whole).not.toContain("retry:");
});
