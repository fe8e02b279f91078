/**
 * Three `goblin serve` behind a real nginx that sends every request elsewhere, with a real Redis:
 * replicas that are killed, stopped and restarted while clients of both SDKs work.
 */
import { afterEach, describe, expect, it } from "vitest";
import { startNginx } from "../../fixtures/nginx.ts";
import {
  connectV1,
  connectV2,
  disposeAll,
  rawHttp,
  type Scripted,
  startScripted,
  until,
} from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";
import { roundRobin, SECRET } from "../../fixtures/replicas.ts";
import { freePort, type Served, type ServeHome, serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(disposeAll);

const TIMEOUT_MS = 1000;
const HELLO = "one+text:///hello";
const isUpdate = ({ method }: { method?: string }) => method === "notifications/resources/updated";
const hasAll = [hasProgram("redis-server"), hasProgram("nginx")].every(Boolean);

interface Rig {
  readonly server: Scripted;
  readonly homes: readonly ServeHome[];
  readonly replicas: Served[];
  /** The same client at one replica. */
  at(i: number, headers: Record<string, string>): ReturnType<typeof rawHttp>;
}

async function startRig(redis: string | undefined, timeouts: Record<string, number> = {}): Promise<Rig> {
  const server = await startScripted({ name: "one", transport: "http" });
  const homes: ServeHome[] = [];
  for (let i = 0; i < 3; i++) {
    const cluster = { secret: SECRET, listen: `127.0.0.1:${await freePort()}`, timeoutMs: TIMEOUT_MS };
    const config = { mcpServers: { one: server.entry }, timeouts };
    homes.push(await serveHome({ ...config, cluster: redis === undefined ? cluster : { ...cluster, redis } }));
  }
  const replicas = await Promise.all(homes.map((home) => startServe(home)));
  for (const { origin } of replicas) await until(async () => (await fetch(`${origin}/ready`)).ok, { what: "/ready" });
  const at: Rig["at"] = (i, headers) => Object.assign(rawHttp(replicas[i]!.url), { headers });
  return { server, homes, replicas, at };
}

async function connectAll(url: string) {
  const elicitation = () => ({ action: "accept", content: { name: "Ada" } });
  const old = Array.from({ length: 6 }, async () => ({ ...(await connectV1({ url, elicitation })), v1: true }));
  const modern = Array.from({ length: 3 }, () => connectV2({ url, elicitation, era: "modern" as const }));
  return Promise.all([...old, ...modern]);
}

type Clients = Awaited<ReturnType<typeof connectAll>>;

/** Lets all clients call and be asked until the end, which returns what went wrong. */
function working(clients: Clients) {
  let isOver = false;
  let calls = 0;
  const failures: string[] = [];
  const once = async ({ client }: Clients[number], text: string, isAsked: boolean) => {
    const answer = await client.callTool(echo(text));
    if ((answer.structuredContent as { text: string }).text !== text) failures.push(`wrong answer to ${text}`);
    if (!isAsked) return;
    const asked = await client.callTool({ name: "one_ask", arguments: { kind: "elicitation" } });
    if (!JSON.stringify(asked.content).includes("Ada")) failures.push(`wrong answer to the question of ${text}`);
  };
  const work = clients.map(async (one, who) => {
    for (let n = 0; !isOver; n++) {
      await once(one, `${who}:${n}`, n % 5 === 0).catch((error) => failures.push(`${who}:${n}: ${String(error)}`));
      calls++;
    }
  });
  return {
    calls: () => calls,
    async end() {
      isOver = true;
      await Promise.all(work);
      return failures;
    },
  };
}

/** Touches the resource until all clients have heard of it from now on. */
async function touched(server: Scripted, clients: readonly Pick<Clients[number], "notifications">[]) {
  for (const { notifications } of clients) notifications.length = 0;
  const all = async () => {
    await server.control("touch", { uri: "text:///hello" });
    return clients.every(({ notifications }) => notifications.some(isUpdate));
  };
  await until(all, { what: "updates for all", everyMs: 200 });
}

const echo = (text: string) => ({ name: "one_echo", arguments: { text } });

describe.skipIf(!hasAll)("three processes behind nginx", () => {
  it("are one gateway for clients of both SDKs", async () => {
    const redis = await startRedis();
    const { homes, server } = await startRig(redis.url);
    const url = `${await startNginx(homes.map(({ port }) => port))}/mcp`;
    const clients = await connectAll(url);
    const subscribed = clients.filter((one) => "v1" in one);
    for (const { client } of subscribed) await client.subscribeResource({ uri: HELLO });
    const work = working(clients);
    await until(() => work.calls() > 200, { what: "calls" });
    expect(await work.end()).toEqual([]);
    await touched(server, subscribed);
  });

  it("are felt by no client when each is restarted in turn", async () => {
    const redis = await startRedis();
    const { replicas, homes, server } = await startRig(redis.url);
    const balancer = await roundRobin(replicas.map(({ origin }) => origin));
    const clients = await connectAll(`${balancer.origin}/mcp`);
    const subscribed = clients.filter((one) => "v1" in one);
    for (const { client } of subscribed) await client.subscribeResource({ uri: HELLO });
    // A client whose stream could never be opened does not try again.
    await touched(server, subscribed);
    const work = working(clients);
    for (const [i, home] of homes.entries()) {
      const before = work.calls();
      await until(() => work.calls() > before + 50, { what: "some calls" });
      balancer.use(replicas[i]!.origin, false);
      replicas[i]!.signal("SIGTERM");
      expect(await replicas[i]!.exited).toBe(0);
      replicas[i] = await startServe(home);
      await until(async () => (await fetch(`${replicas[i]!.origin}/ready`)).ok, { what: "/ready" });
      balancer.use(replicas[i]!.origin, true);
    }
    expect(await work.end()).toEqual([]);
    // No replica is left that had one of the subscriptions at first.
    await touched(server, subscribed);
  });

  it("lose nothing but the calls under way when one is killed", async () => {
    const redis = await startRedis();
    const { replicas, server, at } = await startRig(redis.url);
    const first = rawHttp(replicas[0]!.url);
    await first.initialize();
    await first.call("resources/subscribe", { uri: HELLO });
    const second = at(1, first.headers);
    const slow = second.call("tools/call", { name: "one_sleep", arguments: { ms: 30_000 } }, "slow");
    await server.waitFor((record) => record.message?.params?.name === "sleep");
    const stream = await second.stream({ verb: "GET" });
    replicas[0]!.signal("SIGKILL");
    const failed = await slow;
    expect([failed.status, failed.json.error.data.code]).toEqual([502, "REPLICA_UNAVAILABLE"]);
    await until(() => stream.ended, { what: "the end of the stream" });
    const answers = await Promise.all(
      [1, 2, 1, 2].map((i, n) => at(i, first.headers).call("tools/call", echo(`${i}`), `own ${n}`)),
    );
    expect(answers.map(({ message }) => message.result.structuredContent.text)).toEqual(["1", "2", "1", "2"]);
    const streams = [await at(2, first.headers).stream({ verb: "GET" })];
    await streams[0]!.next(isUpdate);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => streams[0]!.messages.filter(isUpdate).length === 2, { what: "a real update" });
    // It ran once: nobody repeated the call that was under way.
    const ran = (await server.received("tools/call")).filter(({ message }) => message.params.name === "sleep");
    expect(ran).toHaveLength(1);
  });

  it("with Redis, take over from one that sleeps, which then delivers nothing more", async () => {
    const redis = await startRedis();
    const { replicas, server, at } = await startRig(redis.url);
    const first = rawHttp(replicas[0]!.url);
    await first.initialize();
    await first.call("resources/subscribe", { uri: HELLO });
    const old = await at(0, first.headers).stream({ verb: "GET" });
    const slow = at(0, first.headers).call("tools/call", { name: "one_sleep", arguments: { ms: 12_000 } });
    await server.waitFor((record) => record.message?.params?.name === "sleep");
    replicas[0]!.signal("SIGSTOP");
    const second = at(1, first.headers);
    const early = await second.call("tools/call", echo("early"));
    expect([early.status, early.headers.get("retry-after")]).toEqual([503, "1"]);
    await until(async () => (await second.call("tools/call", echo("late"))).status === 200, { what: "a new owner" });
    const stream = await at(2, first.headers).stream({ verb: "GET" });
    await stream.next(isUpdate);
    replicas[0]!.signal("SIGCONT");
    await until(() => old.ended, { what: "the old owner to give up the session" });
    const heard = old.messages.filter(isUpdate).length;
    await server.control("touch", { uri: "text:///hello" });
    await until(() => stream.messages.filter(isUpdate).length === 2, { what: "a real update" });
    expect(old.messages.filter(isUpdate)).toHaveLength(heard);
    // Except for the answer to what was under way, which nobody else can give.
    expect((await slow).message.result.isError).not.toBe(true);
    // The old owner hands the session on, like everybody else.
    for (const i of [0, 1, 2]) {
      const { message } = await at(i, first.headers).call("tools/call", echo(`${i}`));
      expect(message.result.structuredContent.text).toBe(`${i}`);
    }
    expect((await at(0, first.headers).delete()).status).toBe(204);
    for (const i of [0, 1, 2]) expect((await at(i, first.headers).call("ping")).status).toBe(404);
  });

  it("without Redis, leave a session to one that sleeps, and say so", async () => {
    const { replicas, at } = await startRig(undefined);
    const first = rawHttp(replicas[0]!.url);
    await first.initialize();
    replicas[0]!.signal("SIGSTOP");
    for (const i of [1, 2, 1]) {
      const answer = await at(i, first.headers).call("tools/call", echo("no"));
      expect([answer.status, answer.json.error.data.code]).toEqual([503, "REPLICA_UNAVAILABLE"]);
    }
    replicas[0]!.signal("SIGCONT");
    await until(async () => (await at(1, first.headers).call("tools/call", echo("yes"))).status === 200, {
      what: "the owner to wake up",
    });
  });

  it("do not wait for ever for one that falls asleep during a call", async () => {
    const { replicas, server, at } = await startRig(undefined);
    const first = rawHttp(replicas[0]!.url);
    await first.initialize();
    const slow = at(1, first.headers).call("tools/call", { name: "one_sleep", arguments: { ms: 60_000 } });
    await server.waitFor((record) => record.message?.params?.name === "sleep");
    replicas[0]!.signal("SIGSTOP");
    const { status, json } = await slow;
    expect([status, json.error.data.code]).toEqual([502, "REPLICA_UNAVAILABLE"]);
    replicas[0]!.signal("SIGCONT");
  });
});
