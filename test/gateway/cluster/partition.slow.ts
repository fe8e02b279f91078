/** Replicas whose network breaks between them, with real processes in network namespaces. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { createNetwork, hasNamespaces, type Network } from "../../fixtures/namespaces.ts";
import { disposeAll, until } from "../../fixtures/peers.ts";
import { hasProgram } from "../../fixtures/redis.ts";
import { SECRET } from "../../fixtures/replicas.ts";
import { serveHome } from "../../fixtures/serve.ts";

afterEach(disposeAll);

const BIN = fileURLToPath(new URL("../../../bin/goblin.js", import.meta.url));
const PORT = 3000;
const canRun = [hasProgram("redis-server"), hasNamespaces()].every(Boolean);

interface Answer {
  readonly status: number;
  readonly session: string | undefined;
  readonly body: string;
}

/** A request of a client that is in the namespace of a replica. */
function ask(network: Network, at: string, { body, session }: { body?: object; session?: string } = {}): Answer {
  const headers = ["content-type: application/json", "accept: application/json, text/event-stream"];
  if (session !== undefined) headers.push(`mcp-session-id: ${session}`);
  const sent = body ? ["-d", JSON.stringify({ jsonrpc: "2.0", id: 1, ...body })] : [];
  const path = body ? "/mcp" : "/metrics";
  const command = ["curl", "-s", "-i", "--max-time", "20", ...headers.flatMap((one) => ["-H", one]), ...sent];
  const text = network.run(at, [...command, `http://127.0.0.1:${PORT}${path}`]);
  const [head = "", rest = ""] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
  return { status, session: /^mcp-session-id: (\S+)/im.exec(head)?.[1], body: rest };
}

const ping = (network: Network, at: string, session: string): Answer =>
  ask(network, at, { body: { method: "ping" }, session });

/** The sessions of one replica: its API would show those of all. */
const held = (network: Network, at: string): number => Number(/^mcpSessions (\d+)$/m.exec(ask(network, at).body)?.[1]);

async function start(network: Network, names: readonly string[]): Promise<void> {
  network.start("store", ["redis-server", "--save", "", "--bind", "0.0.0.0", "--protected-mode", "no"]);
  const redis = `redis://${network.address("store")}:6379`;
  for (const name of names) {
    const cluster = { secret: SECRET, listen: `${network.address(name)}:3001`, timeoutMs: 1000, redis };
    const { configFile, folder } = await serveHome({ mcpServers: {}, cluster });
    const command = [process.execPath, BIN, "serve", "--config", configFile, "--port", String(PORT)];
    network.start(name, command, { XDG_STATE_HOME: join(folder, "state") });
  }
  const isConnected = (name: string): boolean => {
    try {
      return network.run(name, ["curl", "-s", `http://127.0.0.1:${PORT}/health`]).includes('"connected"');
    } catch {
      return false;
    }
  };
  await until(() => names.every(isConnected), { what: "the replicas to find Redis" });
}

function open(network: Network, at: string): string {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { session } = ask(network, at, { body: { method: "initialize", params } });
  if (session === undefined) throw new Error("no session");
  return session;
}

describe.skipIf(!canRun)("a network that breaks", () => {
  it("around one replica: it serves its own, the other takes over after it, and one has the session", async () => {
    const network = createNetwork(["one", "two", "store"]);
    await start(network, ["one", "two"]);
    const session = open(network, "one");
    expect(ping(network, "two", session).status).toBe(200);
    expect([held(network, "one"), held(network, "two")]).toEqual([1, 0]);
    network.cut("one");
    expect(ping(network, "one", session).status).toBe(200);
    // Nobody knows yet whether the owner only sleeps.
    const early = ping(network, "two", session);
    expect([early.status, early.body.includes("cannot be reached")]).toEqual([503, true]);
    await until(() => ping(network, "two", session).status === 200, { what: "the other to take over" });
    expect(held(network, "two")).toBe(1);
    network.join("one");
    await until(() => held(network, "one") === 0, { what: "the first to give the session up" });
    for (const at of ["one", "two", "one"]) expect(ping(network, at, session).status).toBe(200);
    expect([held(network, "one"), held(network, "two")]).toEqual([0, 1]);
  });

  it("around Redis: everything but a takeover goes on, and all is well afterwards", async () => {
    const network = createNetwork(["one", "two", "store"]);
    await start(network, ["one", "two"]);
    const session = open(network, "one");
    network.cut("store");
    const health = () => network.run("two", ["curl", "-s", `http://127.0.0.1:${PORT}/health`]);
    await until(() => health().includes('"lost"'), { what: "the loss" });
    for (const at of ["one", "two"]) expect(ping(network, at, session).status).toBe(200);
    const other = open(network, "two");
    expect(ping(network, "one", other).status).toBe(200);
    expect([held(network, "one"), held(network, "two")]).toEqual([1, 1]);
    network.join("store");
    await until(() => health().includes('"connected"'), { what: "Redis again" });
    for (const at of ["one", "two"]) for (const id of [session, other]) expect(ping(network, at, id).status).toBe(200);
    expect([held(network, "one"), held(network, "two")]).toEqual([1, 1]);
  });
});
