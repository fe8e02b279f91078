/**
 * A server that must tell its clients apart has a connection for each session, without any setting.
 * It asks its own client, from its start on, and no other session sees what it lists for one.
 */
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, until } from "../fixtures/peers.ts";
import { serveHome } from "../fixtures/serve.ts";
import { isThorough, variants } from "../fixtures/thorough.ts";

afterEach(disposeAll);

const PROGRAM = fileURLToPath(new URL("../fixtures/asking-server.js", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));
const asking = { command: process.execPath, args: [PROGRAM] };

interface Caller {
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function call(client: Caller, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const result = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
  return JSON.parse(result.content[0]!.text);
}

const home = (name: string) => [{ uri: `file:///home/${name}` }];

async function pidOf(client: Caller): Promise<number> {
  return ((await call(client, "a_whoami")) as { pid: number }).pid;
}

describe("a server that asks for roots at its start", () => {
  test("knows those of each session before the session's first call", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    const bob = await connectV2({ sseUrl: goblin.sseUrl, roots: home("bob") });
    expect(await call(ada.client, "a_roots")).toEqual(["file:///home/ada"]);
    expect(await call(bob.client, "a_roots")).toEqual(["file:///home/bob"]);
    expect(await pidOf(ada.client)).not.toBe(await pidOf(bob.client));
  });

  test("is shared by sessions that have none", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const [ada, bob] = [await connectV1({ url: goblin.url }), await connectV1({ url: goblin.url })];
    expect(await pidOf(ada.client)).toBe(await pidOf(bob.client));
    expect(await call(ada.client, "a_roots")).toEqual([]);
  });

  test("is shared, and told of no roots, where the config says so", async () => {
    const goblin = await startGoblin({ mcpServers: { a: { ...asking, share: "all" } } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    const bob = await connectV1({ url: goblin.url, roots: home("bob") });
    // Nobody waits for the shared server's own questions.
    await until(async () => (await call(ada.client, "a_roots")) !== "not told yet", { what: "an answer" });
    expect(await call(ada.client, "a_roots")).toEqual([]);
    expect(await pidOf(ada.client)).toBe(await pidOf(bob.client));
  });

  test("hears of a change from the session that changed", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const roots = home("ada");
    const ada = await connectV1({ url: goblin.url, roots });
    const bob = await connectV1({ url: goblin.url, roots: home("bob") });
    await Promise.all([call(ada.client, "a_roots"), call(bob.client, "a_roots")]);
    roots.push({ uri: "file:///srv" });
    await ada.client.sendRootsListChanged();
    await until(async () => JSON.stringify(await call(ada.client, "a_roots")).includes("srv"), {
      what: "the new root",
    });
    expect(await call(bob.client, "a_roots")).toEqual(["file:///home/bob"]);
  });

  test.runIf(isThorough)("a session beyond the limit of connections shares one", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking }, limits: { connectionsPerServer: 1 } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    expect(await call(ada.client, "a_roots")).toEqual(["file:///home/ada"]);
    const bob = await connectV1({ url: goblin.url, roots: home("bob") });
    expect(await call(bob.client, "a_roots")).toEqual([]);
  });

  test.each(variants<"v1" | "v2">(["v2"], ["v1"]))("over stdio, its only client is asked (SDK %s)", async (sdk) => {
    const connect = { v1: connectV1, v2: connectV2 }[sdk];
    const { configFile } = await serveHome({ mcpServers: { a: asking } });
    const args = [BIN, "stdio", "--config", configFile];
    const { client } = await connect({ command: process.execPath, args, roots: home("ada") });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("a_roots");
    expect(await call(client, "a_roots")).toEqual(["file:///home/ada"]);
  });

  test.runIf(isThorough)("over stdio, it is told its only client's name and capabilities", async () => {
    const { configFile } = await serveHome({ mcpServers: { a: asking } });
    const command = { command: process.execPath, args: [BIN, "stdio", "--config", configFile] };
    const plain = await connectV1({ ...command, roots: home("ada") });
    expect((await plain.client.listTools()).tools.map(({ name }) => name)).not.toContain("a_sample");
    expect(await call(plain.client, "a_whoami")).toMatchObject({ name: "test-v1" });
    const sampling = () => ({ model: "m", role: "assistant", content: { type: "text", text: "x" } });
    const able = await connectV1({ ...command, roots: home("ada"), sampling });
    await until(async () => (await able.client.listTools()).tools.some(({ name }) => name === "a_sample"));
  });

  test("over stdio, its only client is greeted before it answers, and lists when it has", async () => {
    const patient = { ...asking, args: [...asking.args, "--patient"] };
    const { configFile } = await serveHome({ mcpServers: { a: patient } });
    const args = [BIN, "stdio", "--config", configFile];
    const { client } = await connectV1({ command: process.execPath, args, roots: home("ada") });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("a_roots");
    expect(await call(client, "a_roots")).toEqual(["file:///home/ada"]);
  });
});

describe("what a session's own connection lists", () => {
  const names = async (client: { listTools(): Promise<{ tools: { name: string }[] }> }): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith("a_"));
  const uris = async (client: { listResources(): Promise<{ resources: { uri: string }[] }> }): Promise<string[]> =>
    (await client.listResources()).resources.map(({ uri }) => uri);
  const changes = (notifications: readonly { method: string }[]): string[] =>
    notifications.map(({ method }) => method).filter((method) => method.endsWith("list_changed"));
  const sampling = () => ({ model: "m", role: "assistant", content: { type: "text", text: "x" } });

  test("is the session's first list, and depends on its capabilities", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    const bob = await connectV1({ url: goblin.url, roots: home("bob"), sampling });
    const common = ["a_add", "a_roots", "a_touch", "a_whoami"];
    expect(await names(ada.client)).toEqual(common);
    expect(await names(bob.client)).toEqual(["a_add", "a_roots", "a_sample", "a_touch", "a_whoami"]);
    expect(await call(bob.client, "a_sample")).toBe("sampled");
    await expect(call(ada.client, "a_sample")).rejects.toMatchObject({ code: -32602 });
  });

  test("changes for this session only, which alone is told", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada"), sampling });
    const bob = await connectV1({ url: goblin.url, roots: home("bob"), sampling });
    await Promise.all([names(ada.client), names(bob.client)]);
    await call(ada.client, "a_add", { name: "mine" });
    await until(async () => (await names(ada.client)).includes("a_mine"), { what: "ada's own tool" });
    await until(async () => (await uris(ada.client)).includes("a+asking://mine"), { what: "ada's own resource" });
    expect(new Set(changes(ada.notifications))).toEqual(
      new Set(["notifications/tools/list_changed", "notifications/resources/list_changed"]),
    );
    expect(await call(ada.client, "a_mine")).toBe(`mine of ${await pidOf(ada.client)}`);
    expect((await ada.client.readResource({ uri: "a+asking://mine" })).contents).toMatchObject([{ text: "mine" }]);
    // Bob's server has nothing of it, and nobody else's list did change.
    expect(await names(bob.client)).not.toContain("a_mine");
    expect(await uris(bob.client)).toEqual(["a+asking://common"]);
    await expect(call(bob.client, "a_mine")).rejects.toMatchObject({ code: -32602 });
    await expect(bob.client.readResource({ uri: "a+asking://mine" })).rejects.toThrow("Resource not found");
    expect(changes(bob.notifications)).toEqual([]);
    expect(goblin.gateway.snapshot().tools.find("a_mine")).toBeUndefined();
  });

  test("can be subscribed to by this session, and its updates reach nobody else", async () => {
    const goblin = await startGoblin({ mcpServers: { a: asking } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    const bob = await connectV1({ url: goblin.url, roots: home("bob") });
    await bob.client.subscribeResource({ uri: "a+asking://common" });
    await call(ada.client, "a_add", { name: "mine" });
    await until(async () => (await uris(ada.client)).includes("a+asking://mine"), { what: "ada's own resource" });
    await ada.client.subscribeResource({ uri: "a+asking://mine" });
    await call(ada.client, "a_touch", { name: "mine" });
    await call(ada.client, "a_touch", { name: "common" });
    await call(bob.client, "a_touch", { name: "common" });
    const updates = (notifications: readonly { method: string; params?: unknown }[]): unknown[] =>
      notifications.filter(({ method }) => method === "notifications/resources/updated").map(({ params }) => params);
    await until(() => updates(ada.notifications).length > 0 && updates(bob.notifications).length > 0, {
      what: "both updates",
    });
    expect(updates(ada.notifications)).toEqual([{ uri: "a+asking://mine" }]);
    expect(updates(bob.notifications)).toEqual([{ uri: "a+asking://common" }]);
  });

  test("is gone with the connection", async () => {
    const goblin = await startGoblin({ mcpServers: { a: { ...asking, share: "session" } } });
    const ada = await connectV1({ url: goblin.url, roots: home("ada") });
    await call(ada.client, "a_add", { name: "mine" });
    await until(async () => (await names(ada.client)).includes("a_mine"), { what: "ada's own tool" });
    const bob = await connectV1({ url: goblin.url, roots: home("bob") });
    expect(await names(bob.client)).not.toContain("a_mine");
    await goblin.gateway.servers.roster.get("a")?.backend.restart();
    expect(await names(ada.client)).not.toContain("a_mine");
  });
});
