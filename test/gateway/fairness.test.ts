/**
 * One client takes all it can get, and another is served as if it were alone: sessions, streams,
 * calls that wait for input, places at a server. Clients are told apart by token, else by address,
 * never by what they call themselves.
 */
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { parsePrometheus } from "../fixtures/prometheus.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const INFO_KEY = "io.modelcontextprotocol/clientInfo";
const echo = { name: "one_echo", arguments: { text: "x" } };
const endless = { name: "one_sleep", arguments: { ms: 600_000 } };
const handshake = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };

async function start(limits: Record<string, number>, gateway = {}) {
  // Over HTTP, so that questions of calls that run at once can be told apart.
  const server = await startScripted({ name: "one", transport: "http" });
  const auth = { tokens: ["greedy-token", "honest-token"] };
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, limits, gateway: { auth, ...gateway } });
  return { server, goblin };
}

function holder(goblin: RunningGoblin, token: string) {
  const raw = rawHttp(goblin.url);
  raw.headers["authorization"] = `Bearer ${token}`;
  return raw;
}

/** How many calls wait for a place at the server. */
async function queued({ origin }: RunningGoblin): Promise<number> {
  const page = await fetch(`${origin}/metrics`, { headers: { authorization: "Bearer honest-token" } });
  return parsePrometheus(await page.text()).get("mcpBackendQueueLength")!.samples[0]!.value;
}

describe("one token", () => {
  test("opens sessions until it is refused, and another still gets in", async () => {
    const { goblin } = await start({ sessions: 10 });
    const statuses = [];
    for (let n = 0; n < 7; n++) statuses.push((await holder(goblin, "greedy-token").initialize()).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 503, 503]);
    const refused = await holder(goblin, "greedy-token").call("initialize", handshake);
    expect(refused.message.error.message).toBe(
      "LimitExceeded: this token or address has its share of all sessions open, 5 (limits.sessions is 10); end one that is not needed or try again later, or raise the limit",
    );
    const honest = holder(goblin, "honest-token");
    expect((await honest.initialize()).status).toBe(200);
    expect((await honest.call("tools/call", echo)).message.result.structuredContent).toEqual({ text: "x" });
  });

  test("opens streams without a session until it is refused, and another still gets one", async () => {
    const { goblin } = await start({ sessions: 6 });
    const sse = async (token: string) => {
      const stream = await rawHttp(goblin.sseUrl).stream({ headers: { authorization: `Bearer ${token}` } });
      return stream.status;
    };
    const listen = async (token: string) => {
      const notifications = { toolsListChanged: true };
      return (await stateless(goblin.url, { token }).stream("subscriptions/listen", { notifications })).status;
    };
    expect([await sse("greedy-token"), await listen("greedy-token"), await sse("greedy-token")]).toEqual([
      200, 200, 200,
    ]);
    expect([await sse("greedy-token"), await listen("greedy-token")]).toEqual([503, 503]);
    expect([await sse("honest-token"), await listen("honest-token")]).toEqual([200, 200]);
  });

  test("has a stream whose session begins when others took what was free: it has its place", async () => {
    const { goblin } = await start({ sessions: 6 });
    const greedy = { authorization: "Bearer greedy-token" };
    for (let n = 0; n < 2; n++) await holder(goblin, "greedy-token").initialize();
    const stream = await rawHttp(goblin.sseUrl).stream({ headers: greedy });
    const endpoint = await until(() => stream.events[0]?.data);
    for (let n = 0; n < 2; n++) expect((await holder(goblin, "honest-token").initialize()).status).toBe(200);
    const initialize = { jsonrpc: "2.0", id: 7, method: "initialize", params: handshake };
    await rawHttp(`${goblin.origin}${endpoint}`).post(initialize, greedy);
    expect(await stream.next((message) => message.id === 7)).toHaveProperty("result");
  });

  test("lets calls wait for input until it is refused, and another's still may", async () => {
    const { goblin } = await start({ callsAwaitingInput: 4 });
    const capabilities = { elicitation: { form: {} } };
    const ask = { name: "one_ask", arguments: { kind: "elicitation" } };
    const park = async (token: string, name: string) => {
      const said = { meta: { [INFO_KEY]: { name, version: "1" } } };
      return (await stateless(goblin.url, { token, capabilities }).call("tools/call", ask, said)).message;
    };
    const parked = [];
    for (let n = 0; n < 4; n++) parked.push(await park("greedy-token", `name ${n}`));
    expect(parked.map(({ result, error }) => result?.resultType ?? error.data.code)).toEqual([
      "input_required",
      "input_required",
      "LimitExceeded",
      "LimitExceeded",
    ]);
    expect(parked[3].error.message).toBe(
      "LimitExceeded: too many calls of this token or address wait for answers to a server's questions (callsAwaitingInput is 4); try again later",
    );
    expect((await park("honest-token", "other")).result.resultType).toBe("input_required");
    // An answer gives the place back.
    const { inputRequests, requestState } = parked[0].result;
    const inputResponses = { [Object.keys(inputRequests)[0]!]: { action: "accept", content: { name: "Ada" } } };
    const again = stateless(goblin.url, { token: "greedy-token", capabilities });
    const done = await again.call("tools/call", { ...ask, inputResponses, requestState });
    expect(done.message.result.resultType).toBe("complete");
    expect((await park("greedy-token", "again")).result.resultType).toBe("input_required");
  });
});

describe("one token has its share of the places at a server, and as many of its calls wait as may", () => {
  const limits = { inFlightPerServer: 16, queuePerServer: 32, inFlightPerSession: 1000 };

  async function flooded(send: (goblin: RunningGoblin) => Promise<void>) {
    const { goblin, server } = await start(limits);
    for (let n = 0; n < 16; n++) await send(goblin);
    await until(async () => (await server.received("tools/call")).length === 8);
    for (let n = 0; n < 48; n++) await send(goblin);
    await until(async () => (await queued(goblin)) === 16);
    return { goblin, server };
  }

  const eras = {
    "with sessions": {
      flood: async (goblin: RunningGoblin) => {
        const raw = holder(goblin, "greedy-token");
        await raw.initialize();
        raw.call("tools/call", endless, 7).catch(() => {});
      },
      honest: async (goblin: RunningGoblin) => {
        const raw = holder(goblin, "honest-token");
        await raw.initialize();
        return () => raw.call("tools/call", echo);
      },
    },
    "without sessions": {
      flood: async (goblin: RunningGoblin) => {
        stateless(goblin.url, { token: "greedy-token" }).begin("tools/call", endless);
      },
      honest: async (goblin: RunningGoblin) => {
        const client = stateless(goblin.url, { token: "honest-token" });
        return () => client.call("tools/call", echo);
      },
    },
  };

  test.each(Object.entries(eras))("clients %s: another one's calls are answered at once (B4)", async (_, era) => {
    const { goblin, server } = await flooded(era.flood);
    const call = await era.honest(goblin);
    for (const { message } of await Promise.all([call(), call(), call()])) {
      expect(message.result.structuredContent).toEqual({ text: "x" });
    }
    const names = (await server.received("tools/call")).map(({ message }) => message.params.name);
    expect(names).toEqual([...Array<string>(8).fill("sleep"), "echo", "echo", "echo"]);
  });
});

describe("the name of a client", () => {
  const named = (n: number) => ({ meta: { [INFO_KEY]: { name: `client ${n}`, version: `${n}` } } });

  test("gives it no calls in a second of its own", async () => {
    // So few that none is added while the test runs.
    const { goblin } = await start({ callsPerSecond: 0.001 });
    const client = stateless(goblin.url, { token: "greedy-token" });
    const passed = [];
    for (let n = 0; n < 30; n++)
      passed.push((await client.call("tools/call", echo, named(n))).message.error === undefined);
    expect(passed.filter(Boolean)).toHaveLength(1);
    const other = stateless(goblin.url, { token: "honest-token" });
    expect((await other.call("tools/call", echo)).message.result.structuredContent).toEqual({ text: "x" });
  });

  test("gives it no calls under way of its own", async () => {
    const { goblin, server } = await start({ inFlightPerSession: 5 });
    const client = stateless(goblin.url, { token: "greedy-token" });
    const abort = Array.from({ length: 5 }, () => client.begin("tools/call", endless));
    await until(async () => (await server.received("tools/call")).length === 5);
    for (let n = 0; n < 10; n++) {
      const { message } = await client.call("tools/call", echo, named(n));
      expect(message.error.data).toMatchObject({ limit: 5, limitName: "inFlightPerSession" });
    }
    for (const { breakOff } of abort) breakOff();
  });
});

/** Only there every 127.x.y.z is an address of this machine. */
test.runIf(process.platform === "linux")("without tokens an address has a share", async () => {
  const { goblin } = await start({ sessions: 4 }, { auth: {} });
  const open = (localAddress: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
      const post = request(goblin.url, { method: "POST", headers, localAddress, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      post.on("error", reject);
      post.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: handshake }));
    });
  expect([await open("127.0.0.1"), await open("127.0.0.1"), await open("127.0.0.1")]).toEqual([200, 200, 503]);
  expect([await open("127.0.0.2"), await open("127.0.0.2")]).toEqual([200, 503]);
  expect([await open("127.0.0.3"), await open("127.0.0.3")]).toEqual([200, 503]);
});
