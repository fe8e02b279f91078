/**
 * What a server listed last outlives the gateway: the next start shows it at once, calls wait for
 * the server, and the server's own lists replace it.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway } from "../../../src/app/gateway.ts";
import { createLogger, type LogLine } from "../../../src/observe/telemetry/logger.ts";
import { openKeptLists } from "../../../src/upstream/servers/lists/kept-lists.ts";
import { commandHome, PROGRAM } from "../../fixtures/command.ts";
import { parseWithFixed } from "../../fixtures/fixed.ts";
import { connectV1, disposeAll, onDispose, type Scripted, startScripted, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

let env: Record<string, string>;
let folder: string;

beforeEach(async () => {
  const state = await mkdtemp(join(tmpdir(), "goblin-kept-"));
  onDispose(() => rm(state, { recursive: true, force: true }));
  env = { XDG_STATE_HOME: state };
  folder = join(state, "goblin", "lists");
});
afterEach(disposeAll);

/** A gateway with the state folder of this test. It waits for lists so long that a wait is seen. */
async function run(mcpServers: Record<string, unknown>, config: Record<string, unknown> = {}) {
  const parsed = parseWithFixed({ mcpServers, gateway: { port: 0 }, lists: { waitMs: 3_600_000 }, ...config });
  const logs: LogLine[] = [];
  const stream = { write: (): void => {} };
  const log = createLogger({ level: "debug", format: "json", stream, tap: (line) => logs.push(line) });
  const kept = await openKeptLists(env, log);
  const gateway = createGateway({ config: parsed, log, kept });
  const close = onDispose(() => gateway.close());
  const { url } = await gateway.listen();
  return { gateway, url, logs, close };
}

/** Runs a gateway until the server is ready, and ends it. */
async function runOnce(server: Scripted, entry: Record<string, unknown> = {}): Promise<void> {
  const { gateway, close } = await run({ [server.name]: { ...server.entry, ...entry } });
  await gateway.start();
  expect(gateway.servers.isUsable(server.name)).toBe(true);
  await close();
}

const files = (): string[] => readdirSync(folder).map((name) => join(folder, name));
const HANGS = { rules: [{ method: "initialize", do: "hang", onStart: 2 }] };

describe("after a restart", () => {
  test("lists and instructions are there while the server starts, and a call waits for it", async () => {
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    one.setScript({ start: { delayMs: 1000 } });
    const { url } = await run({ one: one.entry });
    const { client, notifications } = await connectV1({ url });
    expect(client.getInstructions()).toContain("Instructions of one");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("one_greet");
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain("one+text:///hello");
    const [called, read] = await Promise.all([
      client.callTool({ name: "one_echo", arguments: { text: "x" } }),
      client.readResource({ uri: "one+text:///hello" }),
      client.subscribeResource({ uri: "one+text:///hello" }),
    ]);
    expect(called.structuredContent).toEqual({ text: "x" });
    expect(read.contents[0]?.uri).toBe("one+text:///hello");
    // The server lists the same again, so nobody need hear of it.
    await client.ping();
    expect(notifications.filter(({ method }) => method.endsWith("list_changed"))).toEqual([]);
  });

  test("a server that lists otherwise now replaces what was kept", async () => {
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    const now = { name: "fresh", inputSchema: { type: "object" } };
    one.setScript({ start: { delayMs: 500 }, lists: { tools: [now] } });
    const { gateway, url } = await run({ one: one.entry });
    expect(gateway.snapshot().tools.find("one_echo")).toBeDefined();
    const changes: string[] = [];
    gateway.catalog.watch({ key: "anyone", visibility: undefined }, (kinds) => changes.push(...kinds));
    const { client } = await connectV1({ url });
    await expect(client.callTool({ name: "one_echo", arguments: { text: "x" } })).rejects.toThrow(/not found/);
    expect(changes).toEqual(["tools"]);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("one_echo");
    await until(() => readFileSync(files()[0]!, "utf8").includes('"fresh"'));
  });

  test("every byte of a definition is kept", async () => {
    const text = '{"name":"odd","inputSchema":{"type":"object"},"x":[12345678901234567890,-0,1.0,"\\u00e9"]}';
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    const [file] = files();
    writeFileSync(file!, readFileSync(file!, "utf8").replace('"tools":[', `"tools":[${text},`));
    one.setScript(HANGS);
    const { url } = await run({ one: one.entry });
    const { text: listed } = await stateless(url).call("tools/list");
    expect(listed).toContain('"x":[12345678901234567890,-0,1.0,"\\u00e9"]');
  });

  test("a client without sessions is told not to cache what is not confirmed", async () => {
    const one = await startScripted({ name: "one", era: "modern", transport: "http", script: { ttlMs: 60_000 } });
    await runOnce(one);
    one.setScript({ rules: [{ method: "server/discover", do: "hang" }] });
    const { url } = await run({ one: one.entry });
    const { message } = await stateless(url).call("tools/list");
    expect(message.result).toMatchObject({ ttlMs: 0 });
    expect(JSON.stringify(message.result)).toContain("one_echo");
  });

  test("what the config hides stays hidden", async () => {
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    one.setScript(HANGS);
    const { url } = await run({ one: { ...one.entry, tools: { deny: ["echo"] } } });
    const { text } = await stateless(url).call("tools/list");
    expect(text).toContain("one_add");
    expect(text).not.toContain("one_echo");
  });

  test("through the command, for a client that starts the gateway", async () => {
    const home = commandHome();
    const one = await startScripted({ name: "one" });
    const config = home.write("config.json", { mcpServers: { one: one.entry } });
    const target = { command: process.execPath, args: [PROGRAM, "stdio", "--config", config] };
    const first = await connectV1({ ...target, env: home.env as Record<string, string> });
    await first.client.listTools();
    await until(() => readdirSync(join(home.env["HOME"]!, ".local/state/goblin/lists")).length === 1);
    await first.close();
    one.setScript({ rules: [{ method: "initialize", do: "hang" }] });
    const { client } = await connectV1({ ...target, env: home.env as Record<string, string> });
    expect(client.getInstructions()).toContain("Instructions of one");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  });
});

describe("on disk", () => {
  test("only the user can read it, and it holds no secret of the config", async () => {
    const one = await startScripted({ name: "one", env: { API_KEY: "s3cret-of-the-config" } });
    await runOnce(one);
    const [file] = files();
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(file!, "utf8")).not.toContain("s3cret");
  });

  test("another way to reach the server does not get its lists", async () => {
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    const { gateway } = await run({ one: { command: "/no/such/program" } });
    expect(gateway.snapshot().tools.entries).toEqual([]);
  });

  test.each([
    ["broken", (text: string) => text.slice(0, -20)],
    ["of another format", (text: string) => text.replace('"version":1', '"version":0')],
    ["without a list", (text: string) => text.replace('"prompts":[', '"prompts":{},"x":[')],
    ["too large", (text: string) => text + " ".repeat(5 * 1024 * 1024)],
  ])("a file that is %s is ignored, said in the log, and replaced", async (_, spoil) => {
    const one = await startScripted({ name: "one" });
    await runOnce(one);
    const [file] = files();
    writeFileSync(file!, spoil(readFileSync(file!, "utf8")));
    const { gateway, logs } = await run({ one: one.entry });
    expect(gateway.snapshot().tools.entries).toEqual([]);
    expect(logs.filter(({ msg }) => msg.startsWith("The kept lists of this server cannot be used"))).toHaveLength(1);
    await gateway.start();
    await gateway.close();
    expect(JSON.parse(readFileSync(file!, "utf8"))).toMatchObject({ version: 1, server: "one" });
  });

  test("files of servers that are long gone are removed", async () => {
    mkdirSync(folder, { recursive: true });
    const [old, young] = [join(folder, "old.json"), join(folder, "young.json")];
    for (const file of [old, young]) writeFileSync(file, "{}");
    const then = (Date.now() - 40 * 24 * 3_600_000) / 1000;
    utimesSync(old, then, then);
    await run({});
    expect(files()).toEqual([young]);
  });

  test("a folder that cannot be used costs a warning only", async () => {
    writeFileSync(join(env["XDG_STATE_HOME"]!, "goblin"), "a file");
    const { logs, url } = await run({});
    expect(logs.map(({ msg }) => msg)).toContainEqual(expect.stringContaining("Lists will not survive a restart"));
    expect((await stateless(url).call("tools/list")).message.result).toBeDefined();
  });
});
