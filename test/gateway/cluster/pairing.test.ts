/**
 * Pairing among replicas with a state folder each: every request of a client goes to another one.
 */
import { afterEach, describe, expect, it } from "vitest";
import { openPairing } from "../../../src/app/cli/pairing/pair.ts";
import { newCode } from "../../../src/auth/pairing/codes.ts";
import { Pairing } from "../../../src/auth/pairing/pairing.ts";
import { PairingStore } from "../../../src/auth/pairing/store.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { disposeAll } from "../../fixtures/dispose.ts";
import { stateEnv } from "../../fixtures/logins.ts";
import { Browser, handMade, type Tokens } from "../../fixtures/pairing.ts";
import { until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";
import { SECRET, startReplicas } from "../../fixtures/replicas.ts";
import { serveHome } from "../../fixtures/serve.ts";

afterEach(disposeAll);

async function scene() {
  const redis = await startRedis();
  const envs = [stateEnv(), stateEnv(), stateEnv()];
  const pairings: Pairing[] = [];
  const replicas = await startReplicas(3, { mcpServers: {} }, { redis: redis.url }, (i) => ({
    pairing: (books) => {
      pairings[i] = new Pairing({ env: envs[i]!, warn: () => {}, books });
      return pairings[i]!;
    },
  }));
  const { origin: issuer, all } = replicas;
  for (const { gateway } of all) {
    const own = { port: 0, publicUrl: issuer, auth: { pairing: true }, allowedHosts: [new URL(issuer).host] };
    const { config } = parseConfig(JSON.stringify({ mcpServers: {}, gateway: own }), { file: "test.json", env: {} });
    await gateway.reload({ ...config, cluster: config.cluster }).done;
  }
  const ask = (i: number, token: string) =>
    fetch(`${all[i]!.origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      }),
    });
  return { redis, envs, pairings, replicas, issuer, ask };
}

/** A code as `goblin pair` makes it, beside the replica with this state folder. */
async function commandCode(env: Record<string, string>, { issuer, redis }: { issuer: string; redis: string }) {
  const gateway = { publicUrl: issuer, auth: { pairing: true } };
  const cluster = { secret: SECRET, listen: "127.0.0.1:0", redis };
  const { configFile } = await serveHome({ mcpServers: {}, gateway, cluster });
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const { store, issuer: of } = await openPairing(configFile);
    return (await newCode(store, of, Date.now())).code;
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

describe.skipIf(!hasProgram("redis-server"))("pairing of replicas", () => {
  it("a client that hops at every step is let in, renews anywhere, and is out everywhere at once", async () => {
    const { pairings, replicas, issuer, ask } = await scene();
    const client = handMade({ issuer });
    const clientId = await client.register();
    const { code: typed } = await pairings[2]!.newCode();
    const location = await new Browser().consent(client.authorizationUrl(clientId), typed);
    const code = location.searchParams.get("code")!;
    const answers = await Promise.all([client.exchange(clientId, code), client.exchange(clientId, code)]);
    // A code that comes twice was stolen, at whichever replicas it came.
    expect(answers.map(({ status }) => status).sort()).not.toEqual([200, 200]);
    const again = await new Browser().consent(client.authorizationUrl(clientId), (await pairings[0]!.newCode()).code);
    const first = await client.exchange(clientId, again.searchParams.get("code")!);
    expect(first.status).toBe(200);
    let tokens = (await first.json()) as Tokens;
    for (let i = 0; i < 6; i++) {
      expect((await ask(i % 3, tokens.access_token)).status).toBe(200);
      const renewed = await client.refresh(clientId, tokens.refresh_token);
      expect(renewed.status).toBe(200);
      tokens = (await renewed.json()) as Tokens;
    }
    expect(replicas.counts.every((count) => count > 0)).toBe(true);
    await client.revoke(tokens.refresh_token);
    const isOut = async () =>
      (await Promise.all([0, 1, 2].map((i) => ask(i, tokens.access_token)))).map((one) => one.status);
    await until(async () => (await isOut()).join() === "401,401,401", { what: "the client to be out everywhere" });
    expect((await client.refresh(clientId, tokens.refresh_token)).status).toBe(400);
  });

  it("an old refresh token ends the grant at all replicas, and one code lets one client in", async () => {
    const { redis, envs, issuer, ask } = await scene();
    const client = handMade({ issuer });
    const clientId = await client.register();
    const typed = await commandCode(envs[1]!, { issuer, redis: redis.url });
    const stores = await Promise.all(envs.map((env) => PairingStore.open(env)));
    const known = async () =>
      (await Promise.all(stores.map((store) => store.read()))).every(({ codes }) => codes.length > 0);
    await until(known, { what: "the code to be known everywhere" });
    const browsers = [new Browser(), new Browser(), new Browser()];
    const tried = await Promise.allSettled(
      browsers.map((one) => one.consent(client.authorizationUrl(clientId), typed)),
    );
    const letIn = tried.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(letIn).toHaveLength(1);
    const exchanged = await client.exchange(clientId, letIn[0]!.searchParams.get("code")!);
    expect(exchanged.status).toBe(200);
    const first = (await exchanged.json()) as Tokens;
    const second = (await (await client.refresh(clientId, first.refresh_token)).json()) as Tokens;
    const third = (await (await client.refresh(clientId, second.refresh_token)).json()) as Tokens;
    expect((await ask(0, third.access_token)).status).toBe(200);
    expect((await client.refresh(clientId, first.refresh_token)).status).toBe(400);
    expect((await client.refresh(clientId, third.refresh_token)).status).toBe(400);
    for (const i of [0, 1, 2])
      await until(async () => (await ask(i, third.access_token)).status === 401, { what: "401" });
  });

  it("goes on without Redis at the replica that let the client in", async () => {
    const { redis, envs, issuer, ask, pairings, replicas } = await scene();
    const client = handMade({ issuer });
    const clientId = await client.register();
    const at = await new Browser().consent(client.authorizationUrl(clientId), (await pairings[0]!.newCode()).code);
    const tokens = (await (await client.exchange(clientId, at.searchParams.get("code")!)).json()) as Tokens;
    for (const i of [0, 1, 2]) expect((await ask(i, tokens.access_token)).status).toBe(200);
    await redis.stop();
    const isLost = () => replicas.all.every(({ gateway }) => gateway.cluster()!.redis === "lost");
    await until(isLost, { what: "the replicas to notice" });
    for (const i of [0, 1, 2]) expect((await ask(i, tokens.access_token)).status).toBe(200);
    // What a command of one machine ends is over there now, and elsewhere when Redis is back.
    const store = await PairingStore.open(envs[1]!);
    await store.change((book) => ({ ...book, grants: [] }));
    await until(async () => (await ask(1, tokens.access_token)).status === 401, { what: "the end here" });
    expect((await ask(0, tokens.access_token)).status).toBe(200);
    await redis.start();
    await until(async () => (await ask(0, tokens.access_token)).status === 401, { what: "the end elsewhere" });
  });
});
