/**
 * The body of a POST, however it arrives: at the limit it is taken, over it refused, and one that
 * never ends leaves nothing behind.
 */
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { bare, postText } from "../../fixtures/bare.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const LIMIT = 600;

async function start() {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, limits: { bodyBytes: LIMIT } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  return { server, goblin, session: raw.headers["mcp-session-id"]! };
}

/** Returns a call whose message has exactly this many bytes. */
function callOf(bytes: number): string {
  const text = (filler: string) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"one_echo","arguments":{"text":"${filler}"}}}`;
  return text("x".repeat(bytes - text("").length));
}

const chunked = (parts: readonly string[]): string[] => [
  ...parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`),
  "0\r\n\r\n",
];

/**
 * Sends the head, then each piece in a packet of its own; answers with what comes back until the
 * answer is whole.
 */
async function send(goblin: RunningGoblin, session: string, pieces: readonly string[], length?: number) {
  const { socket, text, closed } = await bare(goblin.url);
  const how = length === undefined ? { "transfer-encoding": "chunked" } : { "content-length": String(length) };
  const head = postText(
    "/mcp",
    { "mcp-session-id": session, accept: "application/json, text/event-stream", ...how },
    "",
  );
  socket.setNoDelay(true);
  socket.write(length === undefined ? head.replace(/content-length: 0\r\n/, "") : head);
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!closed()) socket.write(piece);
  }
  await until(() => /\r\n\r\n.*\}$/s.test(text()), { what: `an answer, not ${JSON.stringify(text())}` });
  return { status: Number(text().split(" ")[1]), body: JSON.parse(text().slice(text().indexOf("\r\n\r\n") + 4)) };
}

const halves = (text: string): [string, string] => [text.slice(0, 250), text.slice(250)];
const taken = { status: 200, body: { id: 7, result: { structuredContent: { text: expect.stringMatching(/^x+$/) } } } };
// The error is the request's answer: a refused POST would end some clients' sessions.
const refused = { status: 200, body: { id: 7, error: { data: { limit: LIMIT, limitName: "limits.bodyBytes" } } } };

describe.each([
  ["at the limit", LIMIT, taken],
  ["one byte over it", LIMIT + 1, refused],
] as const)("a body %s", (_, bytes, outcome) => {
  const text = callOf(bytes);
  test.each([
    ["in one piece", [text], bytes],
    ["in two pieces", halves(text), bytes],
    ["in one chunk, of unknown length", chunked([text]), undefined],
    ["in several chunks, of unknown length", chunked([...halves(text)]), undefined],
    ["byte by byte, of unknown length", chunked([...text]), undefined],
  ] as const)("%s", async (_way, pieces, length) => {
    const { goblin, session } = await start();
    expect(await send(goblin, session, pieces, length)).toMatchObject(outcome);
  });
});

test("a client that vanishes half-way costs nothing, and nothing of its request is done", async () => {
  const { server, goblin, session } = await start();
  const text = callOf(300);
  for (const reset of [true, false]) {
    const { socket, closed } = await bare(goblin.url);
    socket.write(postText("/mcp", { "mcp-session-id": session }, text.slice(0, 200), 300));
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (reset) socket.resetAndDestroy();
    else socket.end();
    await until(closed);
  }
  expect(await send(goblin, session, [text], 300)).toMatchObject(taken);
  expect(await server.received("tools/call")).toHaveLength(1);
  expect(goblin.gateway.servers.status("one")?.inFlight).toBe(0);
});

test("a request is answered, and only it, if what follows it in the same packet is not HTTP", async () => {
  const goblin = await startGoblin({ mcpServers: {} });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "grün", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const cases: [packet: string, status: string][] = [
    [`${postText("/mcp", {}, body)} `, "200 OK"],
    [`${postText("/mcp", {}, body)}\u0000\r\n`, "200 OK"],
    // Its length is counted in characters, so the last byte is not in it.
    [postText("/mcp", {}, body, body.length), "400 Bad Request"],
  ];
  for (const [packet, status] of cases) {
    const { socket, text, closed } = await bare(goblin.url);
    socket.write(packet);
    await until(closed);
    expect(text().match(/^HTTP\/1\.1 .*$/gm)).toEqual([`HTTP/1.1 ${status}`]);
  }
});

test("a refused tunnel is closed, whatever its client sends on", async () => {
  const goblin = await startGoblin({ mcpServers: {} });
  const socket = connect({ port: Number(new URL(goblin.url).port), host: "127.0.0.1", allowHalfOpen: true });
  onDispose(() => void socket.destroy());
  let isClosed = false;
  socket.on("error", () => {});
  socket.once("close", () => {
    isClosed = true;
  });
  socket.write("CONNECT example.com:443 HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  await until(() => {
    socket.write("more");
    return isClosed;
  });
});
