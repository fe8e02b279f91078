/**
 * The admin API of any replica covers all of them: what it shows, where its actions happen, and who
 * can ask for it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../../../src/cluster/ask.ts";
import { ASKED_HEADER, createAgent, OWNER_HEADER } from "../../../src/cluster/channel.ts";
import { bare } from "../../fixtures/bare.ts";
import { disposeAll, onDispose, type RawHttp, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";
import { type Replicas, SECRET, startReplicas } from "../../fixtures/replicas.ts";

afterEach(disposeAll);

/** A principal, as replicas tell each other who asks. */
const BY = Buffer.from(JSON.stringify({ id: "x", name: "x", groups: [], isAdmin: true })).toString("base64url");
const HELLO = "one+text:///hello";
const echo = (text: string) => ({ name: "one_echo", arguments: { text } });

interface Rig {
  readonly replicas: Replicas;
  /** The name of each replica. */
  readonly names: readonly string[];
  readonly server: Awaited<ReturnType<typeof startScripted>>;
}

async function startRig(config: Record<string, unknown> = {}, count = 2): Promise<Rig> {
  const redis = await startRedis();
  const server = await startScripted({ name: "one", transport: "http" });
  const replicas = await startReplicas(
    count,
    { mcpServers: { one: server.entry }, ...config },
    { redis: redis.url, timeoutMs: 2000 },
    // Recordings go to the state folder.
    () => ({ env: { ...process.env, XDG_STATE_HOME: tempFolder() } }),
  );
  const { all } = replicas;
  await until(() => all.every(({ gateway }) => gateway.cluster()!.replicas.length === count), { what: "to meet" });
  return { replicas, server, names: all.map(({ gateway }) => gateway.cluster()!.id) };
}

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "goblin-replica-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Asks the API of one replica. */
// biome-ignore lint/suspicious/noExplicitAny: the API's answers as they come
async function api({ replicas }: Rig, i: number, path: string, body?: object, method = "POST"): Promise<any> {
  const headers = { "content-type": "application/json" };
  const init = body && { method, headers, body: JSON.stringify(body) };
  return (await fetch(`${replicas.all[i]!.origin}/api/${path}`, init)).json();
}

/** Asks one replica about itself alone, as another replica with the secret does. */
async function ownAnswer({ replicas }: Rig, i: number, path: string) {
  const agent = createAgent(SECRET);
  onDispose(() => agent.destroy());
  const question = { method: "GET", path, by: BY, agreeMs: 5000, answerMs: 5000 };
  const answer = await ask(agent, replicas.all[i]!.gateway.cluster()!, question);
  return JSON.parse(Buffer.concat(await answer.toArray()).toString("utf8"));
}

async function sessionAt({ replicas }: Rig, i: number): Promise<RawHttp> {
  const raw = rawHttp(replicas.all[i]!.url);
  await raw.initialize();
  return raw;
}

/** What one replica says of itself. */
type Named = { readonly replica: string; readonly name?: string };
const byReplica = (items: readonly Named[]) => items.map(({ replica }) => replica).sort();

describe.skipIf(!hasProgram("redis-server"))("the admin API of each replica", () => {
  it("lists the sessions, subscriptions, calls and log lines of all, with the replica of each", async () => {
    const rig = await startRig();
    const names = [...rig.names].sort();
    for (const i of [0, 1]) {
      const raw = await sessionAt(rig, i);
      await raw.call("resources/subscribe", { uri: HELLO });
      await raw.call("tools/call", echo(`at ${i}`));
    }
    for (const i of [0, 1]) {
      const sessions = await api(rig, i, "sessions");
      expect([sessions.total, byReplica(sessions.items)]).toEqual([2, names]);
      expect(byReplica((await api(rig, i, "subscriptions")).items)).toEqual(names);
      const { items } = await api(rig, i, "calls");
      const calls = items.filter(({ name }: Named) => name === "one_echo");
      expect(byReplica(calls)).toEqual(names);
      for (const { requestId, replica } of calls) {
        const call = await api(rig, i, `calls/${requestId}`);
        expect([call.replica, call.params.arguments]).toEqual([replica, { text: `at ${rig.names.indexOf(replica)}` }]);
        expect((await api(rig, i, `calls/${requestId}/text`)).request).toContain("one_echo");
      }
      const lines = (await api(rig, i, "logs?limit=10000")).items;
      expect([...new Set(byReplica(lines))]).toEqual(names);
      const { counts, calls: totals, cluster } = await api(rig, i, "state");
      expect([counts.sessions, counts.subscriptions, counts.servers, counts.ready]).toEqual([2, 2, 1, 1]);
      expect(totals.total).toBeGreaterThanOrEqual(2);
      expect([cluster.id, cluster.replicas.map(({ answers }: { answers: boolean }) => answers)]).toEqual([
        rig.names[i],
        [true, true],
      ]);
      const [row] = (await api(rig, i, "servers")).items;
      expect([row.id, row.state, (await api(rig, i, "servers/one")).calls]).toEqual(["one", "ready", row.calls]);
      const tool = (await api(rig, i, "tools?name=one_echo")).items[0];
      expect(tool.calls).toBe(2);
      const resource = (await api(rig, i, "resources")).items.find(({ uri }: { uri: string }) => uri === HELLO);
      expect(resource.subscribers).toBe(2);
      // Prometheus scrapes each replica.
      const metrics = await (await fetch(`${rig.replicas.all[i]!.origin}/metrics`)).text();
      expect(metrics).toMatch(/^mcpSessions 1$/m);
    }
  });

  it("shows and answers a call that waits for approval at another (D5)", async () => {
    const rig = await startRig({ policy: { rules: [{ effect: "ask", tools: ["one/sleep"] }] } });
    const raw = await sessionAt(rig, 1);
    for (const how of ["allow", "deny"]) {
      const held = raw.call("tools/call", { name: "one_sleep", arguments: { ms: 1, how } }, how);
      const waiting = async () =>
        (await api(rig, 0, "approvals")).items.filter(({ state }: { state: string }) => state === "held");
      await until(async () => (await waiting()).length === 1, { what: "the held call", everyMs: 100 });
      const [{ id, digest, replica }] = await waiting();
      expect(replica).toBe(rig.names[1]);
      expect((await api(rig, 0, `approvals/${id}`)).replica).toBe(rig.names[1]);
      const answered = await api(rig, 0, `approvals/${id}/${how}`, { expect: digest });
      expect((answered.approval ?? answered).id, JSON.stringify(answered)).toBe(id);
      const { message } = await held;
      expect(how === "allow" ? message.result : message.error).toBeDefined();
    }
    const again = raw.call("tools/call", { name: "one_sleep", arguments: { ms: 2 } }, "hour");
    await until(async () => (await api(rig, 0, "approvals")).total === 3, { what: "one more", everyMs: 100 });
    await api(rig, 0, `approvals/${(await api(rig, 0, "approvals")).items[2].id}/allow`, { for: "hour" });
    await again;
    const [grant] = (await api(rig, 0, "approval-grants")).items;
    expect(grant.replica).toBe(rig.names[1]);
    const revoked = await fetch(`${rig.replicas.all[0]!.origin}/api/approval-grants/${grant.id}`, { method: "DELETE" });
    expect(revoked.status).toBe(200);
    expect((await api(rig, 1, "approval-grants")).total).toBe(0);
    expect((await api(rig, 0, "approvals/unknown")).error.code).toBe("APPROVAL_NOT_FOUND");
  });

  it("restarts a server, sets the log level and records at all of them", async () => {
    const rig = await startRig();
    const before = (await rig.server.received("initialize")).length;
    await api(rig, 0, "servers/one/restart", {});
    await until(async () => (await rig.server.received("initialize")).length >= before + 2, { what: "both restarts" });
    await api(rig, 0, "servers/one/disable", {});
    for (const { gateway } of rig.replicas.all) expect(gateway.rows.server("one")?.state).toBe("disabled");
    await api(rig, 1, "servers/one/enable", {});
    await until(() => rig.replicas.all.every(({ gateway }) => gateway.rows.server("one")?.state === "ready"), {
      what: "both servers",
    });
    expect(await api(rig, 1, "log-level", { level: "warn" }, "PUT")).toEqual({ level: "warn" });
    for (const { gateway } of rig.replicas.all) expect(gateway.rows.state().logLevel).toBe("warn");
    await api(rig, 0, "recording", { forMs: 60_000, servers: ["one"] });
    for (const i of [0, 1])
      expect((await ownAnswer(rig, i, "/api/recording")).recording).toMatchObject({ servers: ["one"] });
    await api(rig, 1, "recording/stop", {});
    for (const i of [0, 1]) expect(await ownAnswer(rig, i, "/api/recording")).toEqual({ recording: null });
  });

  it("streams the events of all, with the replica of each call and line", async () => {
    const rig = await startRig({ policy: { rules: [{ effect: "ask", tools: ["one/sleep"] }] } });
    const other = await sessionAt(rig, 1);
    // This one waits before the stream is open.
    const held = other.call("tools/call", { name: "one_sleep", arguments: { ms: 1 } });
    await until(async () => (await api(rig, 1, "approvals")).total === 1, { what: "the held call", everyMs: 50 });
    const leaving = new AbortController();
    const answer = await fetch(`${rig.replicas.all[0]!.origin}/api/events`, { signal: leaving.signal });
    // biome-ignore lint/suspicious/noExplicitAny: the events as they come
    const events: { type: string; data: any }[] = [];
    const reading = (async () => {
      let text = "";
      for await (const chunk of answer.body!) {
        text += Buffer.from(chunk as Uint8Array).toString("utf8");
        const parts = text.split("\n\n");
        text = parts.pop()!;
        for (const part of parts) {
          const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
          events.push({ type: type!, data: JSON.parse(data!) });
        }
      }
    })().catch(() => {});
    const last = (type: string) => events.findLast((event) => event.type === type)?.data;
    await until(() => last("approvals")?.held === 1, { what: "the number of held calls" });
    await until(() => last("sessions")?.total === 1, { what: "the other's session" });
    expect(last("sessions").items[0].replica).toBe(rig.names[1]);
    const own = await sessionAt(rig, 0);
    await until(() => last("sessions")?.total === 2, { what: "both sessions" });
    for (const raw of [own, other]) await raw.call("tools/call", echo("x"));
    const calls = () => events.filter(({ type, data }) => type === "call" && data.name === "one_echo");
    await until(() => calls().length === 2, { what: "both calls" });
    expect(byReplica(calls().map(({ data }) => data))).toEqual([...rig.names].sort());
    await until(() => last("state")?.counts.sessions === 2, { what: "the figures of both" });
    const [{ id }] = (await api(rig, 0, "approvals")).items;
    await api(rig, 0, `approvals/${id}/allow`, { for: "once" });
    await held;
    await until(() => last("approvals").held === 0, { what: "no held call" });
    await rig.replicas.all[1]!.gateway.close();
    await until(() => last("sessions")?.total === 1, { what: "the rows of this replica alone" });
    expect(last("sessions").items[0].replica).toBe(rig.names[0]);
    leaving.abort();
    await reading;
  });

  it("works alone, and knows nothing of others, without cluster.redis", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(2, { mcpServers: { one: server.entry } });
    const rig = { replicas, server, names: [] };
    await sessionAt(rig, 0);
    const { total, items } = await api(rig, 0, "sessions");
    expect([total, "replica" in items[0]]).toEqual([1, false]);
    expect((await api(rig, 1, "sessions")).total).toBe(0);
    expect((await api(rig, 0, "state")).cluster.replicas).toEqual([]);
  });
});

describe.skipIf(!hasProgram("redis-server"))("who can ask a replica about itself", () => {
  const admin = { tokens: ["admin-token-0123456789"] };
  const gateway = { auth: { tokens: ["client-token-0123456789"] }, admin };

  it("no client, whatever headers it sends, and no principal without the admin right", async () => {
    const { replicas, names } = await startRig({ gateway });
    const forged = { [ASKED_HEADER]: BY, [OWNER_HEADER]: names[0]!, expect: "100-continue" };
    const { expect: _, ...sendable } = forged;
    for (const { origin, url } of replicas.all) {
      for (const path of ["/api/state", "/api/sessions", "/api/events", "/api/approvals/x"]) {
        const asked = (headers: Record<string, string>) => fetch(origin + path, { headers });
        expect((await asked(sendable)).status).toBe(401);
        expect((await asked({ ...sendable, authorization: "Bearer client-token-0123456789" })).status).toBe(403);
      }
      const token = { authorization: "Bearer admin-token-0123456789" };
      const sessions = await fetch(`${origin}/api/sessions`, { headers: token });
      expect([sessions.status, await sessions.json()]).toEqual([200, { items: [], total: 0 }]);
      // A request for a session of the other replica is handed over without the header.
      const raw = rawHttp(url);
      raw.headers["authorization"] = "Bearer client-token-0123456789";
      await raw.initialize();
      for (const other of replicas.all) {
        const passed = Object.assign(rawHttp(other.url), { headers: { ...raw.headers, [ASKED_HEADER]: BY } });
        expect((await passed.call("ping")).message).toMatchObject({ result: {} });
      }
      await raw.delete();
    }
  });

  it("no one without the secret, at the replicas' own port", async () => {
    const { replicas } = await startRig({ gateway });
    const { id, address } = replicas.all[0]!.gateway.cluster()!;
    const head = `GET /api/state HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n${OWNER_HEADER}: ${id}\r\n`;
    const plain = await bare(`http://${address}`);
    plain.socket.write(`${head}${ASKED_HEADER}: ${BY}\r\n\r\n`);
    await until(plain.closed, { what: "the end of the connection" });
    expect(plain.text()).not.toContain("HTTP/1.1");
    const [host, port] = address.split(":");
    const said = await new Promise<string>((resolve) => {
      const socket = connect({
        host: host!,
        port: Number(port),
        ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
        maxVersion: "TLSv1.2",
        pskCallback: () => ({ psk: Buffer.alloc(32), identity: "goblin-1" }),
        checkServerIdentity: () => undefined,
      });
      onDispose(() => socket.destroy());
      socket.on("secureConnect", () => resolve("let in"));
      socket.on("error", () => resolve("refused"));
    });
    expect(said).toBe("refused");
    // A replica with another secret is a stranger as well.
    const agent = createAgent("another secret of others");
    onDispose(() => agent.destroy());
    const failed = await new Promise((resolve) => {
      const headers = { [OWNER_HEADER]: id, [ASKED_HEADER]: BY, expect: "100-continue" };
      const sent = request({ host, port: Number(port), agent, path: "/api/state", headers });
      sent.on("response", () => resolve("answered")).on("error", () => resolve("failed"));
      sent.end();
    });
    expect(failed).toBe("failed");
  });
});
