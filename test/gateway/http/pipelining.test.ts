/**
 * Clients that send their next request before they have the answer to the last one: every answer
 * arrives whole, in order, and on its own; and nothing of a connection that is cut stays behind.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { type Bare, bare, postText } from "../../fixtures/bare.ts";
import { cert, key } from "../../fixtures/certificate.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { startReplicas } from "../../fixtures/replicas.ts";

afterEach(disposeAll);

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Reads the answers one after the other, as a strict client does. Throws at any other bytes. */
function answersIn(text: string): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const head = /^HTTP\/1\.1 (\d{3}) /.exec(rest);
    if (end === -1) break;
    if (!head) throw new Error(`Not an answer: ${JSON.stringify(rest.slice(0, 60))}`);
    const status = Number(head[1]);
    const lines = rest.slice(0, end).toLowerCase();
    rest = rest.slice(end + 4);
    let body = "";
    const length = /\r\ncontent-length: (\d+)/.exec(lines);
    if (length) {
      body = rest.slice(0, Number(length[1]));
      if (body.length < Number(length[1])) break;
      rest = rest.slice(body.length);
    } else if (lines.includes("transfer-encoding: chunked")) {
      for (;;) {
        const size = /^([0-9a-f]+)\r\n/i.exec(rest);
        if (!size) return answers;
        const bytes = Number.parseInt(size[1]!, 16);
        body += rest.slice(size[0].length, size[0].length + bytes);
        rest = rest.slice(size[0].length + bytes + 2);
        if (bytes === 0) break;
      }
    }
    answers.push({ status, body });
  }
  return answers;
}

const idOf = ({ body }: Answer): unknown => (body === "" ? undefined : (JSON.parse(body) as { id?: unknown }).id);

interface Scene extends RunningGoblin {
  /** A connection to where the session is not. Without replicas, there is no such place. */
  open(): Promise<Bare>;
  /** A POST of the session. */
  post(message: object, headers?: Record<string, string>): string;
}

const call = (id: number, name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: `one_${name}`, arguments: args },
});
const CONNECT = "CONNECT example.com:443 HTTP/1.1\r\nhost: localhost\r\n\r\n";
const EXPECT = { expect: "100-continue" };

async function encrypted(origin: string): Promise<Bare> {
  const socket = connectTls({ port: Number(new URL(origin).port), host: "127.0.0.1", ca: cert });
  onDispose(() => void socket.destroy());
  let text = "";
  let closed = false;
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
  });
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  return { socket: socket as Socket, text: () => text, closed: () => closed };
}

function sceneOf(goblin: RunningGoblin, headers: Record<string, string>, open: () => Promise<Bare>): Scene {
  const all = { ...headers, accept: "application/json" };
  return {
    ...goblin,
    // A character is a byte, as lengths count bytes.
    async open() {
      const opened = await open();
      opened.socket.setEncoding("latin1");
      return opened;
    },
    post: (message, more) => postText("/mcp", { ...all, ...more }, JSON.stringify(message)),
  };
}

const scenes: Record<string, (limits?: object) => Promise<Scene>> = {
  "a gateway": async (limits = {}) => {
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry }, limits });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    return sceneOf(goblin, raw.headers, () => bare(goblin.url));
  },
  "an encrypted gateway": async (limits = {}) => {
    const folder = mkdtempSync(join(tmpdir(), "goblin-pipelining-"));
    onDispose(() => rmSync(folder, { recursive: true, force: true }));
    const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
    writeFileSync(tls.cert, cert);
    writeFileSync(tls.key, key);
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry }, gateway: { tls }, limits });
    const { socket, text } = await encrypted(goblin.origin);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const accept = "application/json";
    const initialize = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    socket.write(postText("/mcp", { accept }, initialize));
    await until(() => answersIn(text()).length === 1);
    const session = /mcp-session-id: (\S+)/i.exec(text())![1]!;
    return sceneOf(goblin, { "mcp-session-id": session }, () => encrypted(goblin.origin));
  },
  "a replica that hands over": async (limits = {}) => {
    const one = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(2, { mcpServers: { one: one.entry }, limits });
    const raw = rawHttp(replicas.all[0]!.url);
    await raw.initialize();
    return sceneOf(replicas.all[1]!, raw.headers, () => bare(replicas.all[1]!.url));
  },
};

describe.each(Object.keys(scenes))("at %s", (name) => {
  const start = scenes[name]!;

  test("a request that waits for 100 Continue gets it after the answers before it (B1)", async () => {
    const { open, post } = await start();
    const { socket, text } = await open();
    const [head, body] = post(call(2, "echo", { text: "second" }), EXPECT).split("\r\n\r\n") as [string, string];
    socket.write(`${post(call(1, "sleep", { ms: 200 }))}${head}\r\n\r\n`);
    await until(() => answersIn(text()).length === 2);
    socket.write(body + post(call(3, "echo", { text: "third" })));
    await until(() => answersIn(text()).length === 4);
    const answers = answersIn(text());
    expect(answers.map(({ status }) => status)).toEqual([200, 100, 200, 200]);
    expect(answers.map(idOf)).toEqual([1, undefined, 2, 3]);
  });

  test("requests that do not wait for their 100 Continue do not shift the answers (B1)", async () => {
    const { open, post } = await start();
    const { socket, text } = await open();
    const ids = [1, 2, 3, 4, 5, 6];
    // The first one takes longest, so all others queue.
    const message = (id: number) =>
      id === 1 ? call(1, "sleep", { ms: 300 }) : call(id, "big", { bytes: 20_000 * id });
    socket.write(ids.map((id) => post(message(id), id % 2 === 0 ? EXPECT : {})).join(""));
    await until(() => answersIn(text()).filter(({ status }) => status === 200).length === 6);
    const answers = answersIn(text()).filter(({ status }) => status !== 100);
    expect(answers.map(idOf)).toEqual(ids);
    expect(answers.slice(1).every(({ body }) => body.length > 40_000)).toBe(true);
  });

  test("a page that is piped is not cut by the 100 Continue of the next request (B1)", async () => {
    const { open, post } = await start();
    const { socket, text } = await open();
    const get = "GET /ui HTTP/1.1\r\nhost: localhost\r\n\r\n";
    socket.write(get + post(call(1, "echo", { text: "x" }), EXPECT) + get + post(call(2, "echo", {}), EXPECT));
    await until(() => answersIn(text()).filter(({ status }) => status !== 100).length === 4);
    const answers = answersIn(text()).filter(({ status }) => status !== 100);
    expect([idOf(answers[1]!), idOf(answers[3]!)]).toEqual([1, 2]);
    expect(answers[0]!.body).toBe(answers[2]!.body);
  });

  test("a request for a tunnel is refused after the answer to the call before it (B1b)", async () => {
    const { open, post } = await start();
    const { socket, text, closed } = await open();
    socket.write(post(call(1, "sleep", { ms: 200 })) + post(call(2, "echo", { text: "x" })) + CONNECT);
    await until(closed);
    const answers = answersIn(text());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 405]);
    expect(answers.slice(0, 2).map(idOf)).toEqual([1, 2]);
  });

  test("a tunnel behind large answers that the client reads slowly is refused after them (B1b)", async () => {
    const { open, post } = await start();
    const { socket, text, closed } = await open();
    socket.pause();
    socket.write(post(call(1, "big", { bytes: 6_000_000 })) + post(call(2, "big", { bytes: 6_000_000 })) + CONNECT);
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.resume();
    await until(closed);
    const answers = answersIn(text());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 405]);
    expect(answers.slice(0, 2).map(idOf)).toEqual([1, 2]);
  });

  test("an upgrade is answered in its turn, as the plain request that it is (B1b)", async () => {
    const { open, post } = await start();
    const { socket, text } = await open();
    const upgrade = { connection: "upgrade", upgrade: "websocket" };
    socket.write(post(call(1, "sleep", { ms: 100 })) + post(call(2, "echo", {}), upgrade));
    await until(() => answersIn(text()).length === 2);
    expect(answersIn(text()).map(idOf)).toEqual([1, 2]);
  });

  test("what is not HTTP does not take the place of the answer to the call before it (B1b)", async () => {
    const { open, post } = await start();
    const { socket, text, closed } = await open();
    socket.write(`${post(call(1, "sleep", { ms: 200 }))}no HTTP at all\r\n\r\n`);
    await until(closed);
    expect(answersIn(text()).map(idOf)).toEqual([1]);
  });

  test("large requests behind a call on connections that are cut give back their budget (B2)", async () => {
    const { open, post } = await start({ bodyBytes: 100_000 });
    const large = (id: number) => call(id, "echo", { text: "x".repeat(90_000) });
    for (let i = 0; i < 40; i++) {
      const { socket } = await open();
      // The last bytes never come.
      socket.write(post(call(i, "sleep", { ms: 100 })) + post(large(1000 + i)).slice(0, -10));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }
    const { socket, text } = await open();
    await until(() => {
      const before = answersIn(text()).length;
      socket.write(post(large(100 + before)));
      return until(() => answersIn(text()).length > before).then(() => answersIn(text()).at(-1)!.body.length > 90_000);
    });
  });
});

test("hand-overs that queue behind a call end with their connection (B2)", async () => {
  const one = await startScripted({ name: "one", transport: "http" });
  const { all } = await startReplicas(2, { mcpServers: { one: one.entry } });
  const raw = rawHttp(all[0]!.url);
  await raw.initialize();
  const { post, open } = sceneOf(all[1]!, raw.headers, () => bare(all[1]!.url));
  const ids = [1, 2, 3, 4, 5];
  const { socket } = await open();
  socket.write(ids.map((id) => post(call(id, "sleep", { ms: 60_000 }))).join(""));
  await until(() => all[1]!.gateway.cluster()!.handedOver === 5);
  socket.destroy();
  await until(() => all[1]!.gateway.cluster()!.handedOver === 0);
});

test("streams that queue behind a call give back their sessions when the connection is cut (B2)", async () => {
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: one.entry }, limits: { sessions: 8 } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const { post, open } = sceneOf(goblin, raw.headers, () => bare(goblin.url));
  const get = "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
  for (let i = 0; i < 3; i++) {
    const { socket } = await open();
    socket.write(post(call(i, "sleep", { ms: 60_000 })) + get.repeat(4));
    await one.waitFor(({ message }) => message?.params?.arguments?.ms === 60_000);
    socket.destroy();
  }
  await until(async () => (await rawHttp(goblin.url).initialize()).status === 200);
});
