/**
 * A running gateway follows its config: only what changed is touched, and nobody who uses the rest
 * notices.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/schema/config.ts";
import { parseWithFixed } from "../../fixtures/fixed.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

function configOf(file: Record<string, unknown>): Config {
  return parseWithFixed(file, { file: "test.json", env: {} });
}

async function toolNames(client: { listTools(): Promise<{ tools: { name: string }[] }> }): Promise<string[]> {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

describe("reload", () => {
  it("adds and removes servers, and tells clients", async () => {
    const one = await startScripted({ name: "one" });
    const two = await startScripted({ name: "two" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const { client, notifications } = await connectV1({ url: goblin.url });
    expect(await toolNames(client)).not.toContain("two_echo");
    const { diff, done } = goblin.gateway.reload(configOf({ mcpServers: { two: two.entry } }));
    await done;
    expect([diff.added.map(({ id }) => id), diff.removed]).toEqual([["two"], ["one"]]);
    const names = await toolNames(client);
    expect(names).toContain("two_echo");
    expect(names).not.toContain("one_echo");
    await until(() => notifications.some(({ method }) => method === "notifications/tools/list_changed"));
    // The removed server's process has been ended.
    await one.waitFor((record) => record.event === "exit");
    await expect(client.callTool({ name: "one_echo", arguments: {} })).rejects.toThrow("one_echo");
  });

  it("drains a removed server: a call under way is answered", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const { client } = await connectV1({ url: goblin.url });
    const slow = client.callTool({ name: "one_sleep", arguments: { ms: 500 } });
    await one.waitFor((record) => record.message?.method === "tools/call");
    goblin.gateway.reload(configOf({ mcpServers: {} }));
    expect(await toolNames(client)).not.toContain("one_sleep");
    expect((await slow).content).toEqual([{ type: "text", text: "slept 500" }]);
    await one.waitFor((record) => record.event === "exit");
  });

  it("replaces a changed server once the new one is synced; the old one finishes its calls", async () => {
    const server = await startScripted({ name: "one", script: { start: { delayMs: 300 } } });
    const goblin = await startGoblin({ mcpServers: { one: server.entry } });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const pidOf = async () =>
      (await raw.call("tools/call", { name: "one_whoami", arguments: {} })).message.result.structuredContent.pid;
    const before = await pidOf();
    const slow = raw.call("tools/call", { name: "one_sleep", arguments: { ms: 1500 } });
    await server.waitFor((record) => record.message?.params?.name === "sleep");
    const { done } = goblin.gateway.reload(
      configOf({ mcpServers: { one: { ...server.entry, env: { FIXTURE_GENERATION: "2" } } } }),
    );
    // While the new one starts, the old one answers, and everything stays listed.
    expect(await pidOf()).toBe(before);
    expect(goblin.gateway.snapshot().tools.find("one_echo")).toBeDefined();
    await done;
    const after = await pidOf();
    expect(after).not.toBe(before);
    expect((await slow).message.result.content).toEqual([{ type: "text", text: "slept 1500" }]);
    await server.waitFor((record) => record.event === "exit" && record.pid === before);
    expect(goblin.gateway.servers.status("one")?.state).toBe("ready");
  });

  it("moves subscriptions to the new connection, with one synthetic update", async () => {
    const server = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: server.entry } });
    const { client, notifications } = await connectV1({ url: goblin.url });
    await client.subscribeResource({ uri: "one+text:///hello" });
    const { done } = goblin.gateway.reload(
      configOf({ mcpServers: { one: { ...server.entry, env: { FIXTURE_GENERATION: "2" } } } }),
    );
    await done;
    const updates = () => notifications.filter(({ method }) => method === "notifications/resources/updated");
    await until(() => updates().length === 1);
    expect(updates()[0]!.params).toEqual({ uri: "one+text:///hello" });
    expect(await server.events("subscribe")).toHaveLength(2);
    await until(async () => (await server.events("exit")).length === 1);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates().length === 2);
  });

  it("does not touch the connection when only names or policies change", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const { client } = await connectV1({ url: goblin.url });
    await goblin.gateway.reload(
      configOf({ mcpServers: { one: { ...one.entry, prefix: "uno_", tools: { deny: ["add"] } } } }),
    ).done;
    const names = await toolNames(client);
    expect(names).toContain("uno_echo");
    expect(names).not.toContain("one_echo");
    expect(names).not.toContain("uno_add");
    expect(await one.events("start")).toHaveLength(1);
  });

  it("never touches a server whose entry did not change", async () => {
    const one = await startScripted({ name: "one" });
    const two = await startScripted({ name: "two" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry, two: two.entry } });
    const { client } = await connectV1({ url: goblin.url });
    const slow = client.callTool({ name: "one_sleep", arguments: { ms: 400 } });
    for (const generation of ["2", "3"]) {
      await goblin.gateway.reload(
        configOf({ mcpServers: { one: one.entry, two: { ...two.entry, env: { FIXTURE_GENERATION: generation } } } }),
      ).done;
    }
    expect((await slow).content).toEqual([{ type: "text", text: "slept 400" }]);
    expect(await one.events("start")).toHaveLength(1);
    expect(await one.received("initialize")).toHaveLength(1);
    expect(await two.events("start")).toHaveLength(3);
  });

  it("takes the newest of two quick edits of one server", async () => {
    const server = await startScripted({ name: "one", script: { start: { delayMs: 200 } } });
    const goblin = await startGoblin({ mcpServers: { one: server.entry } });
    const first = goblin.gateway.reload(
      configOf({ mcpServers: { one: { ...server.entry, env: { FIXTURE_G: "2" } } } }),
    );
    const second = goblin.gateway.reload(
      configOf({ mcpServers: { one: { ...server.entry, env: { FIXTURE_G: "3" } } } }),
    );
    await Promise.all([first.done, second.done]);
    const { client } = await connectV1({ url: goblin.url });
    const me = await client.callTool({ name: "one_whoami", arguments: {} });
    expect(me["structuredContent"]).toMatchObject({ env: { FIXTURE_G: "3" } });
    await until(async () => (await server.events("exit")).length >= 1, { what: "the end of the first" });
  });

  it("applies settings live: limits, tokens, timeouts, page size, log level", async () => {
    const server = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: server.entry } });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    expect((await raw.call("tools/list")).message.result.nextCursor).toBeUndefined();
    goblin.gateway.reload(
      configOf({
        mcpServers: { one: server.entry },
        lists: { pageSize: 2 },
        timeouts: { callMs: 150 },
        limits: { bodyBytes: 2000 },
        log: { level: "error" },
      }),
    );
    expect((await raw.call("tools/list")).message.result.nextCursor).toBeTypeOf("string");
    const late = await raw.call("tools/call", { name: "one_sleep", arguments: { ms: 5000 } });
    expect(late.message.error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", timeoutMs: 150 } });
    const large = await raw.post({ jsonrpc: "2.0", id: 9, method: "tools/list", params: { x: "x".repeat(3000) } });
    expect([large.status, large.json.id]).toEqual([200, 9]);
    expect(large.json.error.data).toMatchObject({ code: "LimitExceeded", limit: 2000 });
    const said = goblin.logs.length;
    await server.kill();
    await until(() => goblin.gateway.servers.status("one")?.restarts === 1);
    expect(goblin.logs.length).toBe(said);
    goblin.gateway.reload(
      configOf({ mcpServers: { one: server.entry }, gateway: { auth: { tokens: ["let-me-in"] } } }),
    );
    expect((await raw.call("tools/list")).status).toBe(401);
  });

  it("puts a changed server in place even if it does not start, and says why", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const { client } = await connectV1({ url: goblin.url });
    await goblin.gateway.reload(configOf({ mcpServers: { one: { command: "no-such-program-anywhere" } } })).done;
    const status = goblin.gateway.servers.status("one");
    expect(status?.state).toBe("down");
    expect(status?.reason).toContain("command not found");
    // What was listed stays for the grace period; calls say what is wrong.
    expect(await toolNames(client)).toContain("one_echo");
    await expect(client.callTool({ name: "one_echo", arguments: {} })).rejects.toThrow("command not found");
    await one.waitFor((record) => record.event === "exit");
  });
});
