/**
 * `goblin serve` as a process: it follows its config file, ends as it should, and leaves nothing
 * behind.
 */
import { writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { descendants, isRunning } from "../../fixtures/processes.ts";
import { serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(disposeAll);

async function ready(origin: string): Promise<void> {
  await until(async () => (await fetch(`${origin}/ready`)).ok, { what: "/ready" });
}

function postReload(origin: string): Promise<Response> {
  return fetch(`${origin}/api/reload`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
}

describe("goblin serve and its config file", () => {
  it("follows an edit, a SIGHUP and POST /api/reload; a broken edit is reported and changes nothing", async () => {
    const one = await startScripted({ name: "one" });
    const two = await startScripted({ name: "two" });
    const home = await serveHome({ mcpServers: { one: one.entry } });
    const goblin = await startServe(home);
    await ready(goblin.origin);
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const names = async (): Promise<string[]> =>
      (await raw.call("tools/list")).message.result.tools.map((tool: { name: string }) => tool.name);

    home.write({ mcpServers: { one: one.entry, two: two.entry } });
    await until(async () => (await names()).includes("two_echo"), { what: "the new server's tools" });

    home.write('{ "mcpServerz": {} }');
    await until(() => goblin.log().includes("The config is not valid"), { what: "a report of the broken edit" });
    expect(goblin.log()).toContain("mcpServerz");
    const refused = await postReload(goblin.origin);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("mcpServerz");
    expect(await names()).toContain("two_echo");

    // Written in place, and read before the watcher would look.
    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { two: two.entry } }));
    const reloaded = await postReload(goblin.origin);
    expect(await reloaded.json()).toEqual({ added: [], removed: ["one"], changed: [] });
    expect(await names()).not.toContain("one_echo");

    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { two: { ...two.entry, prefix: "zwei_" } } }));
    goblin.signal("SIGHUP");
    await until(async () => (await names()).includes("zwei_echo"), { what: "the new prefix" });
    expect(await two.events("start")).toHaveLength(1);
  });
});

describe("the end of goblin serve", () => {
  it("finishes calls under way, ends streams, closes its servers, exits 0", async () => {
    const slow = await startScripted({ name: "slow", script: { start: { grandchild: true } } });
    const goblin = await startServe(await serveHome({ mcpServers: { slow: slow.entry } }));
    await ready(goblin.origin);
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const stream = await raw.stream({ verb: "GET" });
    const children = descendants(goblin.pid);
    expect(children.length).toBeGreaterThanOrEqual(2);
    const call = raw.call("tools/call", { name: "slow_sleep", arguments: { ms: 800 } });
    await slow.waitFor((record) => record.message?.params?.name === "sleep");
    goblin.signal("SIGTERM");
    await until(
      async () =>
        await fetch(`${goblin.origin}/health`).then(
          () => false,
          () => true,
        ),
      { what: "new connections to be refused" },
    );
    expect((await call).message.result.content).toEqual([{ type: "text", text: "slept 800" }]);
    expect(await goblin.exited).toBe(0);
    await until(() => stream.ended);
    await until(() => children.every((pid) => !isRunning(pid)), { what: "the end of all children" });
  });

  it("gives up what does not finish within timeouts.drainMs, with an error", async () => {
    const slow = await startScripted({ name: "slow" });
    const home = await serveHome({ mcpServers: { slow: slow.entry }, timeouts: { drainMs: 300 } });
    const goblin = await startServe(home);
    await ready(goblin.origin);
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const call = raw.call("tools/call", { name: "slow_sleep", arguments: { ms: 20_000 } });
    await slow.waitFor((record) => record.message?.params?.name === "sleep");
    goblin.signal("SIGINT");
    expect((await call).message.error).toMatchObject({ message: "The gateway is shutting down" });
    expect(await goblin.exited).toBe(0);
    await slow.waitFor((record) => record.event === "cancelled");
  });

  it("ends at once at a second signal, and takes its children along", async () => {
    const slow = await startScripted({ name: "slow", script: { start: { stubborn: true, grandchild: true } } });
    const goblin = await startServe(await serveHome({ mcpServers: { slow: slow.entry } }));
    await ready(goblin.origin);
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const call = raw.call("tools/call", { name: "slow_sleep", arguments: { ms: 20_000 } });
    call.catch(() => {});
    await slow.waitFor((record) => record.message?.params?.name === "sleep");
    const children = descendants(goblin.pid);
    goblin.signal("SIGTERM");
    // Two signals at once would be one.
    const isClosed = () =>
      fetch(`${goblin.origin}/health`).then(
        () => false,
        () => true,
      );
    await until(isClosed, { what: "the end of listening" });
    goblin.signal("SIGTERM");
    expect(await goblin.exited).toBe(1);
    await expect(call).rejects.toThrow();
    await until(() => children.every((pid) => !isRunning(pid)), { what: "the end of all children" });
  });

  it("ends while servers are still starting, and leaves no process", async () => {
    const hung = await startScripted({ name: "hung", script: { rules: [{ method: "initialize", do: "hang" }] } });
    const goblin = await startServe(await serveHome({ mcpServers: { hung: hung.entry } }));
    await hung.waitFor((record) => record.message?.method === "initialize");
    const children = descendants(goblin.pid);
    expect(children.length).toBeGreaterThanOrEqual(1);
    goblin.signal("SIGTERM");
    expect(await goblin.exited).toBe(0);
    await until(() => children.every((pid) => !isRunning(pid)), { what: "the end of all children" });
  });

  it("is followed by its children when it is killed, since their stdin ends", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startServe(await serveHome({ mcpServers: { one: one.entry } }));
    await ready(goblin.origin);
    const children = descendants(goblin.pid);
    goblin.signal("SIGKILL");
    await goblin.exited;
    await until(() => children.every((pid) => !isRunning(pid)), { what: "the end of all children" });
  });

  it("of goblin stdio comes with the end of stdin", async () => {
    const one = await startScripted({ name: "one" });
    const home = await serveHome({ mcpServers: { one: one.entry } });
    const { client, close } = await connectV1({
      command: process.execPath,
      args: ["bin/goblin.js", "stdio", "--config", home.configFile],
    });
    expect((await client.listTools()).tools.length).toBeGreaterThanOrEqual(0);
    await one.waitFor((record) => record.event === "initialized");
    await close();
    await one.waitFor((record) => record.event === "exit");
  });
});
