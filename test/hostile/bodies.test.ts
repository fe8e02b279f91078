/**
 * Large requests to a server that does not answer: one account holds only so much of them, is told
 * so, and gets its room back; nobody else notices.
 */
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { bare, postText } from "../fixtures/bare.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile } from "../fixtures/hostile.ts";
import { connectV1, disposeAll, rawHttp, until } from "../fixtures/peers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const BODY_BYTES = 100_000;
/** Bodies of the largest size that one account may hold. */
const BODIES = 16;
const CALLS = 30;
const TOKENS = ["token-of-ada-0123456789abcdef", "token-of-bob-0123456789abcdef"] as const;
const large = "x".repeat(BODY_BYTES - 2000);
const LIMIT = "limits.bodyBytes is 100000";

type Send = (text: string) => Promise<unknown>;

async function open() {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "take", inputSchema: { type: "object" } }] }),
      "tools/call": async ({ params }) => {
        if (isHeld && params.arguments.text === large) await new Promise<void>((resolve) => waiting.push(resolve));
        return { content: [{ type: "text", text: `taken ${params.arguments.text.length}` }] };
      },
    },
  });
  const goblin = await startGoblin({
    mcpServers: { s: server.entry },
    gateway: { auth: { tokens: [...TOKENS] } },
    limits: { bodyBytes: BODY_BYTES },
  });
  const answerAll = (): void => {
    isHeld = false;
    for (const answer of waiting) answer();
  };
  return { goblin, waiting, answerAll };
}

const call = (text: string) => ({ name: "s_take", arguments: { text } });

/** What a client says and gets, by the way it comes: the text of the result or of the refusal. */
const ways: Record<string, (goblin: { url: string }, token: string) => Promise<Send>> = {
  async "with a session"({ url }, token) {
    const client = rawHttp(url);
    client.headers["authorization"] = `Bearer ${token}`;
    await client.initialize();
    return async (text) => said((await client.call("tools/call", call(text))).message);
  },
  async "without a session"({ url }, token) {
    const client = stateless(url, { token });
    return async (text) => said((await client.call("tools/call", call(text))).message);
  },
  async "over HTTP+SSE"({ url }, token) {
    const { client } = await connectV1({
      sseUrl: new URL("/sse", url).href,
      headers: { authorization: `Bearer ${token}` },
    });
    return (text) =>
      client.callTool(call(text)).then(
        (result) => said({ result }),
        (error: Error) => error.message,
      );
  },
};

// biome-ignore lint/suspicious/noExplicitAny: a message as it came
const said = ({ result, error }: any): string => result?.content[0].text ?? error.message;

test.each(Object.keys(ways))("%s", async (way) => {
  const { goblin, waiting, answerAll } = await open();
  const ada = await ways[way]!(goblin, TOKENS[0]);
  const bob = await ways[way]!(goblin, TOKENS[1]);
  const refused: unknown[] = [];
  const answered: unknown[] = [];
  const calls = Array.from({ length: CALLS }, async () => {
    const answer = await ada(large);
    (String(answer).startsWith("taken") ? answered : refused).push(answer);
  });
  await until(() => waiting.length + refused.length === CALLS, { what: "all calls to be refused or under way" });
  expect(waiting.length).toBe(BODIES);
  for (const text of refused) {
    expect(text).toContain("the requests of this token or address that are under way are too large together");
    expect(text).toContain(LIMIT);
  }
  expect(await ada("small")).toBe("taken 5");
  expect(await bob(large.slice(1))).toBe(`taken ${large.length - 1}`);
  answerAll();
  await Promise.all(calls);
  expect(answered).toHaveLength(BODIES);
  expect(await Promise.all(Array.from({ length: BODIES }, () => ada(large)))).toEqual(
    Array.from({ length: BODIES }, () => `taken ${large.length}`),
  );
});

test("a client that goes away in the middle of its body, or sends none of it, holds nothing", async () => {
  const { goblin, answerAll } = await open();
  answerAll();
  const ada = await ways["with a session"]!(goblin, TOKENS[0]);
  const headers = { authorization: `Bearer ${TOKENS[0]}` };
  const head = postText("/mcp", headers, '{"jsonrpc"', BODY_BYTES);
  const begin = async () => {
    const connection = await bare(goblin.url);
    connection.socket.write(head);
    return connection;
  };
  const gone = await Promise.all(Array.from({ length: BODIES }, begin));
  const isFull = async (): Promise<boolean> => {
    if (String(await ada(large)).includes(LIMIT)) return true;
    // One that arrived while this call was under way was refused.
    gone.push(await begin());
    return false;
  };
  await until(isFull, { what: "all bodies to be on their way" });
  for (const { socket } of gone) socket.destroy();
  await until(async () => (await ada(large)) === `taken ${large.length}`, { what: "room for a body" });
});

test("a body without a length is counted as it comes", async () => {
  const { goblin, waiting } = await open();
  const ada = await ways["with a session"]!(goblin, TOKENS[0]);
  const calls = Array.from({ length: BODIES }, () => ada(large));
  await until(() => waiting.length === BODIES);
  const { socket, text } = await bare(goblin.url);
  const headers = { authorization: `Bearer ${TOKENS[0]}`, "transfer-encoding": "chunked" };
  socket.write(postText("/mcp", headers, "").replace(/content-length: 0\r\n/, ""));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: call(large) });
  socket.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  await until(() => text().includes(LIMIT), { what: `a refusal, not ${text()}` });
  for (const answer of waiting) answer();
  await Promise.all(calls);
});

test("a body of very many small values counts as what it needs in memory", async () => {
  const waiting: (() => void)[] = [];
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "take", inputSchema: { type: "object" } }] }),
      "tools/call": async ({ params }) => {
        if (params.arguments.list) await new Promise<void>((resolve) => waiting.push(resolve));
        return { content: [{ type: "text", text: `taken ${params.arguments.list?.length}` }] };
      },
    },
  });
  const goblin = await startGoblin({
    mcpServers: { s: server.entry },
    gateway: { auth: { tokens: [...TOKENS] } },
    limits: { bodyBytes: 500_000 },
  });
  const list = Array.from({ length: 150_000 }, () => []);
  const send = async (token: string, args: object): Promise<string> => {
    const client = rawHttp(goblin.url);
    client.headers["authorization"] = `Bearer ${token}`;
    await client.initialize();
    return said((await client.call("tools/call", { name: "s_take", arguments: args })).message);
  };
  const first = send(TOKENS[0], { list });
  await until(() => waiting.length === 1);
  const refused = await send(TOKENS[0], { list });
  expect(refused).toContain("the requests of this token or address that are under way are too large together");
  expect(refused).toContain("limits.bodyBytes is 500000");
  expect(await send(TOKENS[0], {})).toBe("taken undefined");
  const other = send(TOKENS[1], { list: list.slice(50_000) });
  await until(() => waiting.length === 2);
  for (const answer of waiting) answer();
  expect(await Promise.all([first, other])).toEqual(["taken 150000", "taken 100000"]);
});

test("a large body that is not JSON, at its end, is refused after many turns", async () => {
  const { gateway, url } = await startGoblin({ mcpServers: {} });
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const init = { method: "POST", headers, body: `{"a":[${"[],".repeat(1_000_000)}[]]` };
  // What is loaded at the first request takes turns, too.
  await gateway.fetch(new Request(url, { ...init, body: "{" }));
  turn();
  const response = await gateway.fetch(new Request(url, init));
  isOver = true;
  expect(await response.json()).toMatchObject({ error: { code: -32700 } });
  expect(turns).toBeGreaterThan(20);
});

/** Sends a body in chunks of this size, and returns what comes back. */
async function inChunks(url: string, body: string, size: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const head = ["POST /mcp HTTP/1.1", `Host: ${hostname}:${port}`, "Content-Type: application/json"];
  const rest = ["Accept: application/json, text/event-stream", "Transfer-Encoding: chunked", "Connection: close"];
  let text = `${[...head, ...rest].join("\r\n")}\r\n\r\n`;
  for (let at = 0; at < body.length; at += size) {
    const part = body.slice(at, at + size);
    text += `${part.length.toString(16)}\r\n${part}\r\n`;
  }
  socket.write(`${text}0\r\n\r\n`);
  await closed;
  return answer;
}

test("a body in thousands of tiny chunks is refused; in larger ones it is read", async () => {
  const { url } = await startGoblin({ mcpServers: {} });
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { text: "x".repeat(150_000) } });
  const refused = await inChunks(url, ping, 1);
  expect(refused).toMatch(/^HTTP\/1\.1 400 /);
  expect(refused).toContain("send it in larger ones");
  expect(await inChunks(url, ping, 64)).not.toContain("larger ones");
  // A short body may come in any form.
  const short = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { text: "x".repeat(1500) } });
  expect(await inChunks(url, short, 1)).not.toContain("larger ones");
});
