// The load generator must be able to find fault: against a server that answers rightly it reports
// no wrong answer, and against each kind of wrong answer (another's text, another's id, an error, a
// bad status, a cut connection, one changed byte in a large text) it does. The generator runs as in
// the benchmark: forked, ordered over its channel.

import { type ChildProcess, fork } from "node:child_process";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

type Call = {
  id: string | number;
  method: string;
  params: { name: string; arguments: { text: string; size?: number } };
};
type Reply = (call: Call, res: ServerResponse) => void;
type Report = { requests: number; wrong: number; firstWrong?: string; perSecond: number; p50: number; p99: number };

const LINE = "The quick brown fox jumps over the lazy dog, again and again and again, 0123.\n";

let generator: ChildProcess;
let server: Server | undefined;
let headers: Record<string, unknown>[] = [];

beforeAll(() => {
  generator = fork("bench/load.js");
});
afterAll(() => {
  generator.kill("SIGKILL");
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  headers = [];
});

function json(res: ServerResponse, message: object): void {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });

function serve(reply: Reply): Promise<string> {
  const listening = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    req.on("end", () => {
      headers.push(req.headers);
      const message = JSON.parse(body) as Call;
      if (message.method === "initialize") {
        res.setHeader("mcp-session-id", "session-7");
        json(res, { jsonrpc: "2.0", id: message.id, result: { protocolVersion: "2025-06-18" } });
      } else if (message.id === undefined) res.writeHead(202).end();
      else reply(message, res);
    });
  });
  server = listening;
  return new Promise((resolve) => {
    listening.listen(0, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`);
    });
  });
}

let keys = 0;

function order(step: string, key: number, more: object = {}): Promise<Report> {
  return new Promise((resolve, reject) => {
    const listen = (message: { key: number; step: string; result: Report; error?: string }) => {
      if (message.key !== key || message.step !== step) return;
      generator.off("message", listen);
      if (message.error === undefined) resolve(message.result);
      else reject(new Error(message.error));
    };
    generator.on("message", listen);
    generator.send({ step, key, ...more });
  });
}

async function load(reply: Reply, job: object = {}): Promise<Report> {
  keys += 1;
  const key = keys;
  const url = await serve(reply);
  const ask = { kind: "echo", tool: "echo" };
  await order("prepare", key, { type: "load", job: { url, era: "legacy", connections: 3, count: 30, ask, ...job } });
  const report = await order("start", key);
  await order("close", key);
  return report;
}

describe("right answers", () => {
  it("are counted and timed", async () => {
    const report = await load(({ id, params }, res) =>
      json(res, { jsonrpc: "2.0", id, result: text(params.arguments.text) }),
    );
    expect(report).toMatchObject({ requests: 30, wrong: 0 });
    expect(report.p99).toBeGreaterThanOrEqual(report.p50);
    expect(report.perSecond).toBeGreaterThan(0);
  });

  it("have an argument and an id of their own, on a session for each connection", async () => {
    const seen: string[] = [];
    const ids: unknown[] = [];
    await load(({ id, params }, res) => {
      seen.push(params.arguments.text);
      ids.push(id);
      json(res, { jsonrpc: "2.0", id, result: text(params.arguments.text) });
    });
    expect(new Set(seen).size).toBe(30);
    expect(new Set(ids).size).toBe(30);
    expect(new Set(ids.map((id) => typeof id))).toEqual(new Set(["number", "string"]));
    expect(headers.at(-1)).toMatchObject({ "mcp-session-id": "session-7", "mcp-protocol-version": "2025-06-18" });
    expect(headers.filter((it) => it["mcp-session-id"] === undefined)).toHaveLength(3);
  });

  it("may be framed as SSE after other messages, and come in chunks", async () => {
    const report = await load(({ id, params }, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(`event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n`);
      const data = JSON.stringify({ jsonrpc: "2.0", id, result: text(params.arguments.text) });
      res.write(`event: message\ndata: ${data.slice(0, 20)}`);
      setImmediate(() => res.end(`${data.slice(20)}\n\n`));
    });
    expect(report).toMatchObject({ requests: 30, wrong: 0 });
  });

  it("of the modern era need no session and carry the headers of that era", async () => {
    const report = await load(
      ({ id, params }, res) => json(res, { jsonrpc: "2.0", id, result: text(params.arguments.text) }),
      {
        era: "modern",
      },
    );
    expect(report).toMatchObject({ requests: 30, wrong: 0 });
    expect(headers).toHaveLength(30);
    expect(headers[0]).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    });
  });

  it("of a megabyte are compared byte for byte", async () => {
    const ask = { kind: "big", tool: "big", size: 1_000_000 };
    const padding = LINE.repeat(13_000);
    const escaped = JSON.stringify(padding).slice(1, -1);
    const answer =
      (change: (text: string) => string): Reply =>
      ({ id, params }, res) => {
        const filler = change(escaped.slice(0, 1_000_000));
        res.end(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"${params.arguments.text}${filler}"}]}}`,
        );
      };
    expect(
      await load(
        answer((it) => it),
        { ask, count: 6 },
      ),
    ).toMatchObject({ requests: 6, wrong: 0 });
    server?.closeAllConnections();
    const changed = await load(
      answer((it) => `${it.slice(0, 700_000)}#${it.slice(700_001)}`),
      { ask, count: 6 },
    );
    expect(changed.wrong).toBe(6);
  });
});

describe("wrong answers are found:", () => {
  const cases: [string, Reply, RegExp][] = [
    [
      "another's text",
      ({ id }, res) => json(res, { jsonrpc: "2.0", id, result: text("token-0") }),
      /"token-0" instead of "token-\d+"/,
    ],
    [
      "an id of the other type",
      ({ id, params }, res) => {
        const other = typeof id === "number" ? String(id) : 5;
        json(res, { jsonrpc: "2.0", id: other, result: text(params.arguments.text) });
      },
      /^id .* instead of /,
    ],
    [
      "an error",
      ({ id }, res) => json(res, { jsonrpc: "2.0", id, error: { code: -32603, message: "broken" } }),
      /no result: .*broken/,
    ],
    ["a bad status", (_call, res) => void res.writeHead(503).end("busy"), /HTTP 503: busy/],
    ["no JSON", (_call, res) => void res.writeHead(200).end("<html>"), /unreadable answer/],
    ["a cut connection", (_call, res) => void res.socket?.destroy(), /connection closed|ECONNRESET/],
  ];

  it.each(cases)("%s", async (_name, reply, message) => {
    const report = await load(reply);
    expect(report.wrong).toBe(report.requests);
    expect(report.wrong).toBeGreaterThan(0);
    expect(report.firstWrong).toMatch(message);
  });

  it("one in thirty", async () => {
    let answers = 0;
    const report = await load(({ id, params }, res) => {
      answers += 1;
      json(res, { jsonrpc: "2.0", id, result: text(answers === 17 ? "something else" : params.arguments.text) });
    });
    expect(report).toMatchObject({ requests: 30, wrong: 1 });
  });

  it("a list that changes", async () => {
    let answers = 0;
    const ask = { kind: "list", method: "tools/list" };
    const report = await load(
      ({ id }, res) => {
        answers += 1;
        json(res, { jsonrpc: "2.0", id, result: { tools: [{ name: answers === 4 ? "b" : "a" }] } });
      },
      { ask },
    );
    expect(report).toMatchObject({ requests: 30, wrong: 1 });
  });
});
