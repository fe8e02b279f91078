/**
 * A graceful stop under load: a request on a connection that is kept alive is answered, refused, or
 * not read at all. It never runs without its answer.
 */
import { Agent, request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { bare, postText } from "../../fixtures/bare.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { runs } from "../../fixtures/thorough.ts";

afterEach(disposeAll);

const BOTH = "application/json, text/event-stream";
const call = (id: number, name: string, args: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: `one_${name}`, arguments: args, _meta: { progressToken: id } },
});

async function start(timeouts: object = {}) {
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: one.entry }, timeouts });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  return { one, goblin, headers: raw.headers };
}

test("a request that arrives after the stop began is refused, and the call before it is answered (B3)", async () => {
  const { one, goblin, headers } = await start();
  const { socket, text, closed } = await bare(goblin.url);
  const post = (message: object) => postText("/mcp", { ...headers, accept: BOTH }, JSON.stringify(message));
  socket.write(post(call(1, "sleep", { ms: 500 })));
  await one.waitFor(({ message }) => message?.params?.name === "sleep");
  const stopped = goblin.gateway.close({ drain: true });
  socket.write(post(call(2, "echo", { text: "late" })));
  await until(closed);
  await stopped;
  const answers = text().split(/(?=HTTP\/1\.1 )/);
  expect(answers.map((answer) => answer.split("\r\n")[0])).toEqual([
    "HTTP/1.1 200 OK",
    "HTTP/1.1 503 Service Unavailable",
  ]);
  expect(JSON.parse(answers[0]!.split("\r\n\r\n")[1]!)).toMatchObject({ id: 1, result: {} });
  expect(answers[1]!.toLowerCase()).toMatch(/^retry-after: 2\r$/m);
  expect(answers[1]!.toLowerCase()).toMatch(/^connection: close\r$/m);
  expect(JSON.parse(answers[1]!.split("\r\n\r\n")[1]!)).toEqual({
    jsonrpc: "2.0",
    id: 2,
    error: {
      code: -32011,
      message: "The gateway is shutting down; send the request again",
      data: { code: "BACKEND_UNAVAILABLE" },
    },
  });
  expect((await one.received("tools/call")).map(({ message }) => message.params.name)).toEqual(["sleep"]);
});

test("the answer to a running call tells its client not to use the connection again (B3)", async () => {
  const { one, goblin, headers } = await start();
  const { socket, text, closed } = await bare(goblin.url);
  socket.write(postText("/mcp", { ...headers, accept: BOTH }, JSON.stringify(call(1, "sleep", { ms: 300 }))));
  await one.waitFor(({ message }) => message?.params?.name === "sleep");
  const stopped = goblin.gateway.close({ drain: true });
  await until(closed);
  await stopped;
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text().toLowerCase()).toMatch(/^connection: close\r$/m);
});

test.each([true, false])(
  "a stream whose call outlasts a stop (graceful: %s) ends with an answer (B3)",
  async (drain) => {
    const { goblin, headers } = await start({ drainMs: 200 });
    const raw = rawHttp(goblin.url);
    Object.assign(raw.headers, headers);
    const stream = await raw.stream({ body: call(7, "progress", { steps: 1000, ms: 50 }) });
    await stream.next(({ method }) => method === "notifications/progress");
    await goblin.gateway.close({ drain });
    await until(() => stream.ended);
    expect(stream.messages.at(-1)).toMatchObject({ id: 7, error: { data: { code: "CANCELLED" } } });
  },
);

test("stops under load lose no answer of clients that keep their connections (B3)", async () => {
  for (let stop = 0; stop < runs(4, 24); stop++) {
    const { goblin, headers } = await start();
    const ends: string[] = [];
    let isOver = false;
    const clients = Array.from({ length: 6 }, async (_, n) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      onDispose(() => agent.destroy());
      for (let i = 0; !isOver && i < 2000; i++) {
        const id = n * 10_000 + i;
        const message = i % 3 === 0 ? call(id, "progress", { steps: 2, ms: 1 }) : call(id, "echo", { text: "x" });
        ends.push(await endOf(goblin.url, agent, { headers: { ...headers, accept: BOTH }, message }));
      }
    });
    await until(() => ends.filter((end) => end === "answered").length > 60);
    await goblin.gateway.close({ drain: true });
    isOver = true;
    await Promise.all(clients);
    const allowed = ["answered", "refused", "closed unread"];
    expect(ends.filter((end) => !allowed.includes(end))).toEqual([]);
    await disposeAll();
  }
});

/** What became of one request. */
function endOf(url: string, agent: Agent, { headers, message }: { headers: object; message: { id: number } }) {
  return new Promise<string>((resolve) => {
    let text = "";
    let status = 0;
    const all = { "content-type": "application/json", ...headers };
    const sent = request(url, { method: "POST", agent, headers: all }, (answer) => {
      status = answer.statusCode ?? 0;
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("close", () => {
        const isAnswer = text.includes(`"id":${message.id},`) && /"(result|error)":/.test(text);
        if (!answer.complete || !isAnswer) resolve(`${status} without an answer: ${text.slice(0, 200)}`);
        else resolve(status === 503 ? "refused" : "answered");
      });
    });
    sent.on("error", () => resolve(status === 0 ? "closed unread" : "cut"));
    sent.end(JSON.stringify(message));
  });
}
