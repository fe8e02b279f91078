/**
 * `goblin stdio --attach` as clients run it: the built program as a child of real SDK clients, into
 * gateways that run, die, restart, or must be started first.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { PROGRAM } from "../fixtures/command.ts";
import { connectV1, connectV2, disposeAll, onDispose, startScripted, until } from "../fixtures/peers.ts";
import { commandOf, isRunning } from "../fixtures/processes.ts";
import { type ServeHome, serveHome, startServe } from "../fixtures/serve.ts";
import { isThorough } from "../fixtures/thorough.ts";

afterEach(disposeAll);

const RESTARTED = /stopped before it answered/;

/** The command and the environment of a client's entry. */
function entry(home: ServeHome, more: { args?: string[]; env?: Record<string, string> } = {}) {
  const args = [PROGRAM, "stdio", "--attach", ...(more.args ?? ["--config", home.configFile])];
  const env = { ...process.env, XDG_STATE_HOME: join(home.folder, "state"), ...more.env } as Record<string, string>;
  return { command: process.execPath, args, env, cwd: home.folder };
}

interface RunningRecord {
  readonly pid: number;
  readonly url: string;
  readonly isBackground: boolean;
}

function records(home: ServeHome): RunningRecord[] {
  const folder = join(home.folder, "state", "goblin", "gateways");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as RunningRecord);
}

/** A config whose gateway nobody runs; one that a client starts ends with the test. */
async function idleHome(config: Record<string, unknown>): Promise<ServeHome> {
  const home = await serveHome({});
  home.write({ ...config, gateway: { port: home.port, ...(config["gateway"] as object) } });
  onDispose(() => {
    for (const { pid } of records(home)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  });
  return home;
}

/** A client that is nothing but lines. */
function lineClient(home: ServeHome, more: Parameters<typeof entry>[1] = {}) {
  const { command, args, env, cwd } = entry(home, more);
  const child = spawn(command, args, { env, cwd });
  onDispose(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  let err = "";
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  child.stdin.on("error", () => {});
  return {
    child,
    lines,
    errors: () => err,
    send: (value: unknown) =>
      void child.stdin.write(
        `${typeof value === "string" ? value : JSON.stringify({ jsonrpc: "2.0", ...(value as object) })}\n`,
      ),
    exited: new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code))),
    answer: (id: number) => until(() => lines.find((line) => line.includes(`"id":${id},`)), { what: `answer ${id}` }),
  };
}

const hello = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "lines", version: "1" } },
};

test("clients of every generation use the running gateway through the pipe", async () => {
  const one = await startScripted({ name: "one" });
  const home = await serveHome({ mcpServers: { one: one.entry } });
  await startServe(home);
  const elicitation = () => ({ action: "accept", content: { name: "Ada" } });
  const v1 = await connectV1({ ...entry(home), elicitation });
  const v2 = await connectV2({ ...entry(home), elicitation });
  const modern = await connectV2({ ...entry(home), elicitation, era: "modern" });
  for (const { client } of [v1, v2, modern]) {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("one_echo");
    const asked = await client.callTool({ name: "one_ask", arguments: { kind: "elicitation" } });
    expect(JSON.stringify(asked)).toContain("Ada");
  }
  const seen: number[] = [];
  const params = { name: "one_progress", arguments: { steps: 3, ms: 1 } };
  await v1.client.callTool(params, undefined, { onprogress: ({ progress }) => seen.push(progress) });
  expect(seen).toEqual([1, 2, 3]);
  const { resources } = await v1.client.listResources();
  const uri = resources[0]!.uri;
  await v1.client.subscribeResource({ uri });
  await v1.client.callTool({ name: "one_touch", arguments: { uri: uri.replace(/^one\+/, "") } });
  await until(() => v1.notifications.some(({ method }) => method === "notifications/resources/updated"));
  const stop = new AbortController();
  const slow = v1.client.callTool({ name: "one_sleep", arguments: { ms: 600_000 } }, undefined, {
    signal: stop.signal,
  });
  await one.waitFor(({ message }) => message?.params?.name === "sleep");
  stop.abort();
  await expect(slow).rejects.toThrow();
  await one.waitFor(({ message }) => message?.method === "notifications/cancelled");
  expect((await one.events("start")).length).toBe(1);
});

test("bytes pass unchanged, in both directions", async () => {
  const one = await startScripted({ name: "one" });
  const home = await serveHome({ mcpServers: { one: one.entry } });
  await startServe(home);
  const client = lineClient(home);
  client.send(hello);
  await client.answer(0);
  client.send({ method: "notifications/initialized" });
  const text = '{"content":[],"structuredContent":{"n":12345678901234567890,"e":1.50e3,"u":"\\u00e9é"}}';
  client.send(
    `{"id" : 1,"params":{"arguments":{"text":${JSON.stringify(text)}}, "name":"one_raw"},"method":"tools/call","jsonrpc":"2.0"}`,
  );
  expect(await client.answer(1)).toContain(text);
  client.send("not json");
  await until(() => client.lines.some((line) => line.includes("-32700")));
  client.child.stdin.end();
  expect(await client.exited).toBe(0);
});

test.runIf(isThorough)(
  "ten clients that start at once get one gateway, which ends when they have gone",
  async () => {
    const one = await startScripted({ name: "one" });
    const home = await idleHome({ mcpServers: { one: one.entry } });
    const args = ["--config", home.configFile, "--stop-when-idle", "0.01"];
    const clients = await Promise.all(Array.from({ length: 10 }, () => connectV1(entry(home, { args }))));
    for (const { client } of clients) {
      const { content } = await client.callTool({ name: "one_echo", arguments: { text: "hi" } });
      expect(JSON.stringify(content)).toContain("hi");
    }
    expect((await one.events("start")).length).toBe(1);
    const [running, ...others] = records(home);
    expect(others).toEqual([]);
    expect(running).toMatchObject({ isBackground: true, url: `http://127.0.0.1:${home.port}` });
    await Promise.all(clients.map(({ close }) => close()));
    await until(() => !isRunning(running!.pid), { what: "the gateway to end" });
    expect(records(home)).toEqual([]);
  },
  120_000,
);

test("after kill -9 of the gateway under load, clients go on with the next one", async () => {
  const one = await startScripted({ name: "one" });
  const home = await serveHome({ mcpServers: { one: one.entry } });
  const first = await startServe(home);
  const v1 = await connectV1(entry(home));
  const modern = await connectV2({ ...entry(home), era: "modern" });
  const { resources } = await v1.client.listResources();
  const uri = resources[0]!.uri;
  await v1.client.subscribeResource({ uri });
  const calls = Array.from({ length: 20 }, (_, n) =>
    (n % 2 ? v1 : modern).client.callTool({ name: "one_sleep", arguments: { ms: 600_000 } }).catch((error) => error),
  );
  await until(async () => (await one.received("tools/call")).length === 20);
  first.signal("SIGKILL");
  await first.exited;
  // Sent to nobody, so it waits for the next gateway.
  for (const failed of await Promise.all(calls)) expect(String(failed)).toMatch(RESTARTED);
  const waits = [v1, modern].map(({ client }) => client.callTool({ name: "one_echo", arguments: { text: "later" } }));
  await startServe(home);
  for (const { content } of await Promise.all(waits)) expect(JSON.stringify(content)).toContain("later");
  await until(() => v1.notifications.some(({ method }) => method === "notifications/tools/list_changed"));
  await v1.client.callTool({ name: "one_touch", arguments: { uri: uri.replace(/^one\+/, "") } });
  await until(() => v1.notifications.some(({ method }) => method === "notifications/resources/updated"));
  expect((await one.received("tools/call")).filter(({ message }) => message.params.name === "sleep").length).toBe(20);
});

test("in a restart, running calls are answered and new requests wait for the next gateway", async () => {
  const one = await startScripted({ name: "one" });
  const home = await serveHome({ mcpServers: { one: one.entry } });
  const first = await startServe(home);
  const v1 = await connectV1({ ...entry(home), elicitation: () => held });
  let release: (answer: unknown) => void = () => {};
  const held = new Promise((resolve) => {
    release = resolve;
  });
  const running = v1.client.callTool({ name: "one_ask", arguments: { kind: "elicitation" } });
  await one.waitFor(({ message }) => message?.method === "elicitation/create");
  first.signal("SIGTERM");
  await until(
    () =>
      fetch(first.origin).then(
        () => false,
        () => true,
      ),
    { what: "the gateway to accept no more" },
  );
  const later = v1.client.callTool({ name: "one_echo", arguments: { text: "later" } });
  release({ action: "accept", content: { name: "Ada" } });
  expect(JSON.stringify(await running)).toContain("Ada");
  await first.exited;
  await startServe(home);
  expect(JSON.stringify(await later)).toContain("later");
});

test.runIf(isThorough)(
  "a gateway that a client started comes back after kill -9, and makes way for the user's own",
  async () => {
    const one = await startScripted({ name: "one" });
    const home = await idleHome({ mcpServers: { one: one.entry } });
    const { client } = await connectV1(entry(home));
    const [first] = records(home);
    process.kill(first!.pid, "SIGKILL");
    const echo = () => client.callTool({ name: "one_echo", arguments: { text: "on" } });
    await until(() => echo().catch(() => undefined));
    const [second] = records(home);
    expect(second).toMatchObject({ isBackground: true });
    expect(second!.pid).not.toBe(first!.pid);
    const own = await startServe(home);
    await until(() => !isRunning(second!.pid), { what: "the gateway in the background to end" });
    await until(() => echo().catch(() => undefined));
    expect(records(home)).toMatchObject([{ pid: own.pid, isBackground: false }]);
  },
);

test.runIf(isThorough)("a gateway gets another port if somebody else has the config's", async () => {
  const other = createServer((_request, response) => response.end("a web page"));
  const one = await startScripted({ name: "one" });
  const home = await idleHome({ mcpServers: { one: one.entry } });
  await new Promise<void>((resolve) => other.listen(home.port, "127.0.0.1", resolve));
  onDispose(() => other.close());
  const { client } = await connectV1(entry(home));
  expect(JSON.stringify(await client.callTool({ name: "one_echo", arguments: { text: "hi" } }))).toContain("hi");
  expect(new URL(records(home)[0]!.url).port).not.toBe(String(home.port));
});

test("a pipe has the rights of its token, which nobody sees, and loses them with it", async () => {
  const one = await startScripted({ name: "one" });
  const servers = { mcpServers: { one: one.entry }, profiles: { few: { tools: { allow: ["one/echo"] } } } };
  const clients = { ada: { token: "ada-has-a-long-token" }, bob: { token: "bob-has-a-long-token", profile: "few" } };
  const home = await serveHome({ ...servers, gateway: { auth: { clients } } });
  await startServe(home);
  const own = lineClient(home);
  own.send(hello);
  expect(await own.answer(0)).toContain("serverInfo");
  expect(commandOf(own.child.pid!)).not.toContain("long-token");
  const bob = { GOBLIN_TOKEN: "bob-has-a-long-token" };
  const few = await connectV1(entry(home, { env: bob }));
  expect((await few.client.listTools()).tools.map(({ name }) => name)).toEqual(["one_echo"]);
  const wrong = lineClient(home, { env: { GOBLIN_TOKEN: "nobody-has-this-token" } });
  wrong.send(hello);
  expect(await wrong.exited).toBe(1);
  expect(wrong.errors()).toContain("The bearer token is not valid");
  home.write({ ...servers, gateway: { auth: { clients: { ada: clients.ada } } } });
  await until(
    () =>
      few.client.listTools().then(
        () => false,
        () => true,
      ),
    { what: "bob to be sent away" },
  );
});

test.runIf(isThorough)("--profile shows a part, and a profile that does not exist is named", async () => {
  const one = await startScripted({ name: "one" });
  const home = await serveHome({
    mcpServers: { one: one.entry },
    profiles: { few: { tools: { allow: ["one/echo"] } } },
  });
  await startServe(home);
  const args = ["--config", home.configFile, "--profile"];
  const few = await connectV1(entry(home, { args: [...args, "few"] }));
  expect((await few.client.listTools()).tools.map(({ name }) => name)).toEqual(["one_echo"]);
  const none = lineClient(home, { args: [...args, "none"] });
  none.send(hello);
  expect(await none.exited).toBe(1);
  expect(none.errors()).toContain("no such profile or server");
});

test("what hinders a client is said, to its user and to itself", async () => {
  const home = await idleHome({ mcpServers: {} });
  const away = lineClient(home, { args: ["--url", `http://127.0.0.1:${home.port}`] });
  away.send(hello);
  expect(await away.exited).toBe(1);
  expect(away.errors()).toContain(`no gateway is listening on http://127.0.0.1:${home.port}`);
  const untrusted = lineClient(home, { args: [], env: { HOME: home.folder } });
  untrusted.send(hello);
  expect(await untrusted.exited).toBe(1);
  expect(untrusted.errors()).toMatch(/could not start: .*trust/s);
  expect(untrusted.lines.join()).toContain("could not start");
  home.write("{ this is no JSON");
  const broken = lineClient(home);
  expect(await broken.exited).toBe(1);
  expect(broken.errors()).toMatch(/goblin\.json:1:/);
});

test("the tunnel is for pipes only", async () => {
  const home = await serveHome({ mcpServers: {} });
  await startServe(home);
  const ask = (target: string, host: string): Promise<string> =>
    new Promise((resolve) => {
      let text = "";
      const socket = connect(home.port, "127.0.0.1");
      socket.on("data", (chunk: Buffer) => {
        text += chunk;
        if (text.startsWith("HTTP/1.1 200")) socket.destroy();
      });
      socket.once("close", () => resolve(text.split("\r\n")[0]!));
      socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
  expect(await ask("attach.goblin:1", `127.0.0.1:${home.port}`)).toBe("HTTP/1.1 200 Attached");
  expect(await ask("example.com:443", `127.0.0.1:${home.port}`)).toBe("HTTP/1.1 405 Method Not Allowed");
  expect(await ask("attach.goblin:1", "evil.example")).toBe("HTTP/1.1 403 Forbidden");
});
