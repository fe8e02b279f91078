import { expect } from "vitest";
import { operator } from "../fixtures/approvals.ts";
import { bare, postText } from "../fixtures/bare.ts";
import { deaf } from "../fixtures/deaf.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { connectV1, rawHttp, type Scripted, until } from "../fixtures/peers.ts";
import { parsePrometheus } from "../fixtures/prometheus.ts";
import { SECRET } from "../fixtures/replicas.ts";
import { CAPABILITIES_KEY, stateless, VERSION_KEY } from "../matrix/stateless.ts";

export interface Struck {
  readonly goblin: RunningGoblin;
  readonly server: Scripted;
}

export interface Row {
  readonly limits: Record<string, number>;
  /** Added to the server's entry. */
  readonly entry?: Record<string, unknown> | undefined;
  /** The counters after the limit was exceeded. */
  readonly counts: Record<string, number>;
  /** Makes the limit strike and answers with the words that the client got, if there are any. */
  readonly strike: (rig: Struck) => Promise<string | undefined>;
  readonly message?: string | RegExp;
  /** Besides the one that is always there. */
  readonly servers?: Record<string, unknown> | undefined;
  /** Other sections of the config. */
  readonly config?: Record<string, unknown> | undefined;
}

const echo = { name: "one_echo", arguments: { text: "x" } };
export const envelope = { [VERSION_KEY]: "2026-07-28", [CAPABILITIES_KEY]: {} };
export const mirrored = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "one_log" };
const asking = { policy: { rules: [{ effect: "ask", tools: ["echo"] }] } };
const slow = { name: "one_sleep", arguments: { ms: 300 } };

export const rows: Record<string, Row> = {
  subscriptionsPerClient: {
    limits: { subscriptionsPerClient: 1 },
    counts: { subscriptionsPerClient: 1 },
    async strike({ goblin }) {
      const { client } = await connectV1({ url: goblin.url });
      await client.subscribeResource({ uri: "one+text:///hello" });
      return client.subscribeResource({ uri: "one+blob:///pixel" }).then(String, (error: Error) => error.message);
    },
    message:
      "MCP error -32010: LimitExceeded: this client holds too many subscriptions (subscriptionsPerClient is 1); unsubscribe from one first",
  },
  sessions: {
    limits: { sessions: 1 },
    counts: { "limits.sessions": 1 },
    async strike({ goblin }) {
      await rawHttp(goblin.url).initialize();
      const second = await rawHttp(goblin.url).initialize();
      expect(second.status).toBe(503);
      return second.message.error.message;
    },
    message:
      "LimitExceeded: too many sessions are open (limits.sessions is 1); end one that is not needed or try again later, or raise the limit",
  },
  sessionIdleMs: {
    limits: { sessionIdleMs: 60 },
    counts: { "limits.sessionIdleMs": 1 },
    async strike({ goblin }) {
      const raw = rawHttp(goblin.url);
      await raw.initialize();
      await until(async () => (await counted(goblin))["limits.sessionIdleMs"] === 1);
      const late = await raw.post({ jsonrpc: "2.0", id: 1, method: "ping" });
      expect(late.status).toBe(404);
      return late.json.error.message;
    },
    message: "Session not found: initialize again. A session ends after 60 ms without traffic (limits.sessionIdleMs)",
  },
  bodyBytes: {
    limits: { bodyBytes: 2000 },
    counts: { "limits.bodyBytes": 1 },
    async strike({ goblin }) {
      const { status, json } = await rawHttp(goblin.url).post({ padding: "x".repeat(2000) });
      expect([status, json.error.data]).toMatchObject([413, { limit: 2000, limitName: "limits.bodyBytes" }]);
      return json.error.message;
    },
    message:
      "LimitExceeded: the message is too large (limits.bodyBytes is 2000); send less at once, or raise the limit",
  },
  headerBytes: {
    limits: { headerBytes: 2048 },
    counts: { headerBytes: 1 },
    async strike({ goblin }) {
      const { socket, text, closed } = await bare(goblin.url);
      socket.write(postText("/mcp", { "x-large": "x".repeat(2048) }, "{}"));
      await until(closed);
      const [head, body] = text().split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
      return JSON.parse(body!).error.message;
    },
    message:
      "LimitExceeded: the headers of the request are too large (headerBytes is 2048); send fewer or shorter ones",
  },
  resultBytes: {
    limits: { resultBytes: 100_000 },
    counts: { resultBytes: 1 },
    async strike({ goblin }) {
      const { client } = await connectV1({ url: goblin.url });
      const big = { name: "one_big", arguments: { bytes: 200_000 } };
      return client.callTool(big).then(String, (error: Error) => error.message);
    },
    message:
      "MCP error -32010: LimitExceeded: a message of the server is too large and was dropped (resultBytes is 100000); ask for less at once",
  },
  catalogBytes: {
    limits: { catalogBytes: 10 },
    // Once for each of its lists.
    counts: { catalogBytes: 4 },
    strike: ({ goblin }) => reasonOf(goblin),
    message:
      "degraded: tools/list: LimitExceeded: the server's lists are too large; tools/list is cut after 0 entries (catalogBytes is 10); let the server list less",
  },
  definitionBytes: {
    limits: { definitionBytes: 400 },
    counts: { definitionBytes: 4 },
    strike: ({ goblin }) => reasonOf(goblin),
    message:
      'degraded: tools/list: "add" and 3 more left out: it is too large (definitionBytes is 400); let the server shorten it',
  },
  unreadBytes: {
    limits: { unreadBytes: 100_000 },
    counts: { unreadBytes: 1 },
    async strike({ goblin }) {
      const lazy = await bare(goblin.url);
      lazy.socket.write("GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
      await until(() => lazy.text().includes("sessionId="));
      const endpoint = rawHttp(`${goblin.origin}${/\/messages\?sessionId=[\w-]+/.exec(lazy.text())![0]}`);
      const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "lazy", version: "1" } };
      await endpoint.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
      await until(() => lazy.text().includes('"id":0'));
      lazy.socket.pause();
      const big = { name: "one_big", arguments: { bytes: 10_000_000 } };
      for (const id of [1, 2]) await endpoint.post({ jsonrpc: "2.0", id, method: "tools/call", params: big });
      const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
      await until(async () => (await endpoint.post(ping)).status === 404, { what: "the end of the stream" });
      // A client that does not read cannot be told; the log tells the operator.
      return goblin.logs.find(({ extra }) => extra?.["limit"] !== undefined)?.msg;
    },
    message: "unreadBytes was exceeded",
  },
  unsentBytes: {
    limits: { unsentBytes: 200_000 },
    counts: { unsentBytes: 1 },
    servers: { deaf },
    async strike({ goblin }) {
      const raw = rawHttp(goblin.url);
      await raw.initialize();
      const call = () => raw.call("tools/call", { name: "deaf_listen", arguments: { text: "x".repeat(300_000) } });
      const first = call();
      const second = await until(async () => {
        const answer = await Promise.race([call(), first]);
        return answer.message.error;
      });
      void first.catch(() => {});
      expect(second).toMatchObject({ code: -32010, data: { code: "LimitExceeded", limitName: "unsentBytes" } });
      return second.message;
    },
    message:
      /^LimitExceeded: the server does not read what it is sent, \d{6} bytes wait for it \(unsentBytes is 200000\)/,
  },
  inFlightPerServer: {
    limits: { inFlightPerServer: 1 },
    counts: { "limits.inFlightPerServer": 1 },
    async strike(rig) {
      const { raw, first } = await busy(rig);
      expect((await raw.call("tools/call", echo)).message.result.structuredContent).toEqual({ text: "x" });
      await first;
      return undefined;
    },
  },
  queuePerServer: {
    limits: { inFlightPerServer: 1, queuePerServer: 0 },
    counts: { "limits.inFlightPerServer": 1, queuePerServer: 1 },
    async strike(rig) {
      const { raw, first } = await busy(rig);
      const refused = (await raw.call("tools/call", echo)).message.error;
      expect(refused.data).toMatchObject({ limit: 0, limitName: "queuePerServer", serverId: "one" });
      await first;
      return refused.message;
    },
    message:
      'LimitExceeded: server "one" has 1 calls under way (limits.inFlightPerServer) and no room for more to wait (queuePerServer is 0); try again later',
  },
  connectionsPerServer: {
    limits: { connectionsPerServer: 1 },
    entry: { share: "session" },
    counts: { "limits.connectionsPerServer": 1 },
    async strike({ goblin }) {
      const clients = [await connectV1({ url: goblin.url }), await connectV1({ url: goblin.url })];
      await clients[0]!.client.callTool(echo);
      return clients[1]!.client.callTool(echo).then(String, (error: Error) => error.message);
    },
    message:
      'MCP error -32010: LimitExceeded: too many clients have a connection of their own to server "one" (limits.connectionsPerServer is 1); end a session that is not needed or try again later, or raise the limit',
  },
  inFlightPerSession: {
    limits: { inFlightPerSession: 1 },
    counts: { inFlightPerSession: 1 },
    async strike(rig) {
      const { raw, first } = await busy(rig);
      const refused = (await raw.call("tools/call", echo)).message.error;
      await first;
      return refused.message;
    },
    message:
      "LimitExceeded: too many calls of this client are under way (inFlightPerSession is 1); wait for one to be answered",
  },
  batchMessages: {
    limits: { batchMessages: 2 },
    counts: { batchMessages: 1 },
    async strike({ goblin }) {
      const raw = rawHttp(goblin.url);
      await raw.initialize("2025-03-26");
      const batch = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
      expect((await raw.post(batch.slice(1))).json).toHaveLength(2);
      const { status, json } = await raw.post(batch);
      expect([status, json.id, json.error.data.limitName]).toEqual([413, null, "batchMessages"]);
      return json.error.message;
    },
    message: "LimitExceeded: the batch has 3 messages (batchMessages is 2); send fewer at once",
  },
  callsPerSecond: {
    limits: { callsPerSecond: 0.5 },
    counts: { "limits.callsPerSecond": 1 },
    async strike({ goblin }) {
      const { client } = await connectV1({ url: goblin.url });
      await client.callTool(echo);
      return client.callTool(echo).then(String, (error: Error) => error.message);
    },
    message:
      /^MCP error -32010: LimitExceeded: this client starts too many calls in a second \(limits\.callsPerSecond is 0\.5\); try again in \d{2,4} ms, or raise the limit$/,
  },
  callsAwaitingInput: {
    limits: { callsAwaitingInput: 1 },
    counts: { callsAwaitingInput: 1 },
    async strike({ goblin }) {
      const client = stateless(goblin.url, { capabilities: { elicitation: { form: {} } } });
      const ask = { name: "one_ask", arguments: { kind: "elicitation" } };
      const asked = await client.call("tools/call", ask);
      expect(asked.message.result.resultType).toBe("input_required");
      return (await client.call("tools/call", ask)).message.error.message;
    },
    message:
      "LimitExceeded: too many calls wait for answers to a server's questions (callsAwaitingInput is 1); try again later",
  },
  handOvers: {
    limits: { handOvers: 1 },
    config: { cluster: { secret: SECRET, listen: "127.0.0.1:0" } },
    counts: { handOvers: 1 },
    async strike({ goblin }) {
      const other = await startGoblin({ mcpServers: {}, cluster: { secret: SECRET, listen: "127.0.0.1:0" } });
      const { headers, initialize } = rawHttp(other.url);
      await initialize();
      const away = Object.assign(rawHttp(goblin.url), { headers });
      const stream = await away.stream({ verb: "GET" });
      const { json } = await away.call("ping");
      await stream.close();
      return json.error.message;
    },
    message:
      "LimitExceeded: too many requests of this token or address are under way at other replicas (handOvers is 1); wait until some are answered",
  },
  heldCalls: {
    limits: { heldCalls: 1 },
    config: asking,
    counts: { heldCalls: 1 },
    strike: ({ goblin }) => heldTwice(goblin, "x"),
    message:
      "LimitExceeded: too many calls of this token or address wait for a person's approval (heldCalls is 1); wait until some are answered",
  },
  heldBytes: {
    limits: { heldBytes: 1500 },
    config: asking,
    counts: { heldBytes: 1 },
    strike: ({ goblin }) => heldTwice(goblin, "x".repeat(600)),
    message:
      "LimitExceeded: too many calls of this token or address wait for a person's approval (heldBytes is 1500); wait until some are answered",
  },
};

/** Two calls that wait for a person, of which the second is too much. */
async function heldTwice(goblin: RunningGoblin, text: string): Promise<string> {
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const first = raw.call("tools/call", { name: "one_echo", arguments: { text } });
  const held = operator(goblin.origin);
  const [row] = await held.held();
  const { message } = await raw.call("tools/call", { name: "one_echo", arguments: { text } });
  await held.deny(row!.id);
  await first;
  return message.error.message;
}

/** A client whose first call is under way. */
async function busy({ goblin, server }: Struck) {
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const first = raw.call("tools/call", slow);
  await server.waitFor((record) => record.message?.params?.name === "sleep");
  return { raw, first };
}

/** What the gateway says of the server. */
async function reasonOf(goblin: RunningGoblin): Promise<string> {
  const { items } = (await (await fetch(`${goblin.origin}/api/servers`)).json()) as {
    items: { state: string; reason: string }[];
  };
  return `${items[0]!.state}: ${items[0]!.reason}`;
}

export async function counted(goblin: RunningGoblin): Promise<Record<string, number>> {
  const families = parsePrometheus(await (await fetch(`${goblin.origin}/metrics`)).text());
  const { samples } = families.get("mcpLimitsExceededTotal")!;
  return Object.fromEntries(samples.map(({ labels, value }) => [labels["limit"], value]));
}
