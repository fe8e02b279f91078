/**
 * `goblin serve --workers`: several processes that are one gateway to clients of both eras, also
 * when one of them is killed.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, connectV2, disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { isRunning } from "../../fixtures/processes.ts";
import { serveHome, startServe } from "../../fixtures/serve.ts";
import { familyOf, startWorkers, startWorkersAt } from "../../fixtures/workers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const HELLO = "one+text:///hello";
const isUpdate = ({ method }: { method?: string }) => method === "notifications/resources/updated";
const echo = (text: string) => ({ name: "one_echo", arguments: { text } });
const allEnded = (pids: readonly number[]) => () => !pids.some(isRunning);

describe("workers", () => {
  it("are one gateway for clients of both SDKs, whose every request goes to another one", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(3, { mcpServers: { one: server.entry } });
    const elicitation = () => ({ action: "accept", content: { name: "Ada" } });
    const url = workers.hopping;
    const old = await connectV1({ url, elicitation });
    const modern = await connectV2({ url, elicitation, era: "modern" });
    await old.client.subscribeResource({ uri: HELLO });
    for (const { client } of [old, modern]) {
      for (let i = 0; i < 6; i++) {
        const answer = await client.callTool(echo(`${i}`));
        expect(answer.structuredContent).toEqual({ text: `${i}` });
      }
      const asked = await client.callTool({ name: "one_ask", arguments: { kind: "elicitation" } });
      expect(JSON.stringify(asked.content)).toContain("Ada");
    }
    await server.control("touch", { uri: "text:///hello" });
    await until(() => old.notifications.some(isUpdate), { what: "the update" });
    // Each worker has one connection to the server.
    const connected = (await server.received("initialize")).length;
    expect(connected).toBeGreaterThanOrEqual(3);
  });

  it("go on with the sessions of one that was killed, subscriptions included, when it is replaced", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(2, { mcpServers: { one: server.entry } });
    const url = workers.hopping;
    const sessions = [rawHttp(url), rawHttp(url)];
    // Each takes an odd number of requests, so that one of them is at the worker that is killed.
    for (const raw of sessions) {
      await raw.initialize();
      await raw.call("resources/subscribe", { uri: HELLO });
    }
    const killed = workers.pidOf(2);
    process.kill(killed, "SIGKILL");
    await until(() => workers.pidOf(2) !== killed, { what: "another worker" });
    for (const raw of sessions) {
      const { message } = await raw.call("tools/call", echo("after"));
      expect(message.result.structuredContent).toEqual({ text: "after" });
    }
    // Each stream comes through the one worker, then through the other.
    for (let i = 0; i < 2; i++) {
      const streams = [await sessions[0]!.stream({ verb: "GET" }), await sessions[1]!.stream({ verb: "GET" })];
      await server.control("touch", { uri: "text:///hello" });
      for (const stream of streams) {
        await stream.next(isUpdate);
        await stream.close();
      }
      await fetch(`${workers.origin}/health`, { headers: { connection: "close" } });
    }
    const line = workers.lines().find(({ msg }) => msg === "A worker ended; another one takes its place");
    expect(line).toMatchObject({ worker: 2, pid: killed, signal: "SIGKILL" });
    workers.signal("SIGTERM");
    expect(await workers.exited).toBe(0);
  });

  it("say that a call may have run when its worker dies, and run it once", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(2, { mcpServers: { one: server.entry } });
    const clients = [rawHttp(workers.hopping), rawHttp(workers.hopping)];
    for (const raw of clients) await raw.initialize();
    const slow = clients.map((raw) => raw.call("tools/call", { name: "one_sleep", arguments: { ms: 30_000 } }, "slow"));
    const outcomes = slow.map((call) => call.then(({ status }) => status).catch(() => "cut"));
    await until(async () => (await server.received("tools/call")).length === 2, { what: "both calls" });
    for (const number of [1, 2]) process.kill(workers.pidOf(number), "SIGKILL");
    for (const outcome of outcomes) expect(["cut", 502]).toContain(await outcome);
    expect(await server.received("tools/call")).toHaveLength(2);
  });

  it("keep the sessions of the whole gateway over its restart", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(2, { mcpServers: { one: server.entry } });
    const raw = rawHttp(workers.hopping);
    await raw.initialize();
    await raw.call("resources/subscribe", { uri: HELLO });
    workers.signal("SIGTERM");
    expect(await workers.exited).toBe(0);
    const next = await startWorkersAt(workers.home, 2);
    const again = Object.assign(rawHttp(next.hopping), { headers: raw.headers });
    for (const text of ["a", "b", "c"]) {
      const { message } = await again.call("tools/call", echo(text));
      expect(message.result.structuredContent).toEqual({ text });
    }
    const stream = await again.stream({ verb: "GET" });
    await server.control("touch", { uri: "text:///hello" });
    await stream.next(isUpdate);
  });

  it("answer a question of a call that another one has, for clients without a session", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(3, { mcpServers: { one: server.entry } });
    const raw = stateless(workers.hopping, { capabilities: { elicitation: { form: {} } } });
    for (let i = 0; i < 4; i++) {
      const params = { name: "one_ask", arguments: { kind: "elicitation" } };
      const { inputRequests, requestState } = (await raw.call("tools/call", params)).message.result;
      const [key] = Object.keys(inputRequests);
      const inputResponses = { [key!]: { action: "accept", content: { name: "Ada" } } };
      const { message } = await raw.call("tools/call", { ...params, inputResponses, requestState });
      expect(JSON.parse(message.result.content[0].text)).toEqual({ action: "accept", content: { name: "Ada" } });
    }
  });
});

describe("the primary process", () => {
  it("lets calls finish at SIGTERM, also those that were handed over, and leaves nothing", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const local = await startScripted({ name: "two", transport: "stdio" });
    const workers = await startWorkers(2, { mcpServers: { one: server.entry, two: local.entry } });
    const clients = [rawHttp(workers.hopping), rawHttp(workers.hopping)];
    for (const raw of clients) await raw.initialize();
    const slow = [0, 1, 2, 3].map((i) =>
      clients[i % 2]!.call("tools/call", { name: "one_sleep", arguments: { ms: 2000 } }, `slow ${i}`),
    );
    await until(async () => (await server.received("tools/call")).length === 4, { what: "the calls" });
    const family = familyOf(workers);
    expect(family.length).toBeGreaterThan(4);
    workers.signal("SIGTERM");
    for (const call of slow) expect((await call).message.result.isError).not.toBe(true);
    expect(await workers.exited).toBe(0);
    await until(allEnded(family), { what: "the end of all processes" });
  });

  it("takes its workers and their servers with it when it is killed, a stopped worker too", async () => {
    const local = await startScripted({ name: "two", transport: "stdio" });
    const workers = await startWorkers(3, { mcpServers: { two: local.entry } });
    await until(async () => (await fetch(`${workers.origin}/ready`)).ok, { what: "/ready" });
    const family = familyOf(workers);
    process.kill(workers.pidOf(3), "SIGSTOP");
    workers.signal("SIGKILL");
    await until(allEnded(family), { what: "the end of all processes" });
  });

  it("says once what keeps the gateway from starting", async () => {
    const home = await serveHome({ mcpServers: {} });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(home.port, "127.0.0.1", resolve));
    onDispose(() => void taken.close());
    const failed = await startServe(home, {}, ["--workers", "3"]).catch((error: Error) => error.message);
    expect(String(failed).match(/EADDRINUSE|in use/gi)?.length).toBe(1);
    home.write({ mcpServers: {}, gatewya: {} });
    const invalid = await startServe(home, {}, ["--workers", "3"]).catch((error: Error) => error.message);
    expect(String(invalid).match(/gatewya/g)?.length).toBe(1);
    home.write({ mcpServers: {}, cluster: { secret: "x".repeat(20), listen: "127.0.0.1:0" } });
    const refused = await startServe(home, {}, ["--workers", "3"]).catch((error: Error) => error.message);
    expect(refused).toContain("--workers cannot be used with cluster.listen");
  });

  it("has every worker read the config again, by the file and by SIGHUP", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const workers = await startWorkers(3, { mcpServers: {} });
    const raw = stateless(workers.hopping, {});
    const answered = async (): Promise<number> => {
      const answers = await Promise.all([1, 2, 3].map(() => raw.call("tools/call", echo("x"))));
      return answers.filter(({ message }) => message.result?.structuredContent?.text === "x").length;
    };
    expect(await answered()).toBe(0);
    workers.home.write({ mcpServers: { one: server.entry } });
    await until(async () => (await answered()) === 3, { what: "the server at all workers", everyMs: 200 });
    const audit = join(workers.home.folder, "audit.log");
    writeFileSync(workers.home.configFile, JSON.stringify({ mcpServers: { one: server.entry }, log: { audit } }));
    workers.signal("SIGHUP");
    const isReload = ({ msg, settings }: Record<string, unknown>) =>
      msg === "The config was reloaded" && String(settings).includes("audit");
    const reloads = () => workers.lines().filter(isReload);
    await until(() => new Set(reloads().map(({ worker }) => worker)).size === 3, { what: "reloads of all workers" });
    expect(workers.child.exitCode).toBeNull();
  });
});
