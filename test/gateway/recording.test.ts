/**
 * The flight recorder: what it writes, what it never writes, how much, and what happens to calls
 * when the disk fails.
 */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { CurrentRecording } from "../../src/admin/api/live/schema.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { exchangesOf } from "../../src/observe/recording/exchanges.ts";
import type { Frame } from "../../src/observe/recording/frame.ts";
import { framesOf, indexOf, segmentsOf } from "../../src/observe/recording/read.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { parsePrometheus, valueIn } from "../fixtures/prometheus.ts";

afterEach(disposeAll);

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "goblin-record-"));
  onDispose(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function start(more: Record<string, unknown> = {}, server: { env?: object } = {}) {
  const dir = join(folder(), "recordings");
  const scripted = await startScripted({ name: "one" });
  const entry = { ...scripted.entry, ...server };
  const goblin = await startGoblin({ mcpServers: { one: entry }, record: { dir }, ...more });
  const raw = rawHttp(goblin.url);
  return { dir, goblin, raw, scripted };
}

/** Ends the gateway, so that everything is written. */
async function recorded(goblin: { gateway: { close(): Promise<void> } }, dir: string): Promise<Frame[]> {
  await goblin.gateway.close();
  return [...framesOf(dir)];
}

test("frames of both sides, with call, principal, server, direction and time", async () => {
  const { dir, goblin, raw } = await start({
    gateway: { auth: { clients: { ada: { token: "ada-token-ada-token" } } } },
  });
  raw.headers["authorization"] = "Bearer ada-token-ada-token";
  await raw.initialize();
  const params = { name: "one_echo", arguments: { text: "hi" }, _meta: { progressToken: 7 } };
  const before = Date.now();
  const { message } = await raw.call("tools/call", params);
  const frames = await recorded(goblin, dir);
  const [asked] = frames.filter(
    ({ side, dir: way, method }) => side === "client" && way === "in" && method === "tools/call",
  );
  expect(asked).toMatchObject({ who: "ada", session: expect.any(String), call: expect.any(String) });
  expect(JSON.parse(asked!.message!)).toMatchObject({ method: "tools/call", params });
  expect(asked!.t).toBeGreaterThanOrEqual(before - 1);
  const answer = frames.find(({ side, dir: way, call }) => side === "client" && way === "out" && call === asked!.call)!;
  expect(answer).toMatchObject({ server: "one", outcome: "ok", who: "ada" });
  expect(answer.ms).toBeGreaterThan(0);
  expect(JSON.parse(answer.message!).result).toEqual(message.result);
  const sent = frames.find(({ side, dir: way, call }) => side === "server" && way === "out" && call === asked!.call)!;
  expect(JSON.parse(sent.message!)).toMatchObject({ method: "tools/call", params: { name: "echo" } });
  const [exchange] = exchangesOf(frames, "one").filter(({ method }) => method === "tools/call");
  expect(JSON.parse(exchange!.answer!)).toEqual(message.result);
  // The handshake of the server is there too, from the first byte on.
  expect(exchangesOf(frames, "one").map(({ method }) => method)).toContain("tools/list");
  expect(Object.keys(indexOf(dir).servers ?? {})).toEqual(["one"]);
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test("no secret is written, however it is spelled", async () => {
  const env = { API_KEY: "hush-hush-key" };
  const token = "client-token-client-token";
  const { dir, goblin, raw } = await start({ gateway: { auth: { tokens: [token] } } }, { env });
  raw.headers["authorization"] = `Bearer ${token}`;
  await raw.initialize();
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";
  const secrets = ["hush-hush-key", "pa55word", token, "s3cret-in-a-list", jwt, "twice-told", "sk-abcdefghijklmnop"];
  const args = {
    text: `the key is hush-hush-key and ${token}`,
    password: "pa55word",
    "x-api-key": "pa55word",
    tokens: ["s3cret-in-a-list"],
    note: jwt,
    deep: { list: [{ Authorization: `Bearer ${token}` }] },
    other: "sk-abcdefghijklmnop",
  };
  await raw.call("tools/call", { name: "one_echo", arguments: args });
  const spelled = (text: string): string =>
    [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  // With escapes, and as a member that comes twice.
  await raw.post(
    `{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"one_echo","arguments":{"${spelled("password")}":"pa55word","t":"${spelled("hush-hush-key")}"}}}`,
  );
  await raw.post(
    '{"jsonrpc":"2.0","id":91,"method":"tools/call","params":{"name":"one_echo","arguments":{"a":{"password":"twice-told"},"a":1}}}',
  );
  const frames = await recorded(goblin, dir);
  expect(frames.filter(({ masked }) => masked).length).toBeGreaterThan(5);
  const written = readdirSync(dir)
    .map((name) => readFileSync(join(dir, name), "utf8"))
    .join("\n");
  // As text, and as values behind any escapes.
  const values = written.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  for (const secret of secrets) expect([secret, values.includes(secret)]).toEqual([secret, false]);
  expect(written).not.toMatch(/authorization["\\]*:["\\]*Bearer/i);
});

test("what is no secret keeps its exact bytes: large numbers, spaces, token counts, schemas", async () => {
  const { dir, goblin, raw } = await start();
  await raw.initialize();
  const text =
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"one_echo", "arguments":{"big":12345678901234567890,"maxTokens":5,"x":1.0}}}';
  await raw.post(text);
  const frames = await recorded(goblin, dir);
  const asked = frames.find(
    ({ side, dir: way, method }) => side === "client" && way === "in" && method === "tools/call",
  );
  expect(asked!.message).toContain(
    '"params":{"name":"one_echo", "arguments":{"big":12345678901234567890,"maxTokens":5,"x":1.0}}',
  );
  expect(asked!.masked).toBeUndefined();
  expect(indexOf(dir).text).toContain('"inputSchema"');
});

test("a server cannot forge a line of the recording", async () => {
  const { dir, goblin, raw } = await start();
  await raw.initialize();
  // Not JSON: if it were taken as it is, it would become members of the line.
  const forged = '{"jsonrpc":"2.0"},"who":"admin","call":"forged","x":{}';
  await raw.call("tools/call", { name: "one_garbage", arguments: { text: forged } }).catch(() => {});
  const frames = await recorded(goblin, dir);
  expect(frames.some(({ message }) => message?.startsWith(forged))).toBe(true);
  expect(frames.some(({ who, call }) => who === "admin" || call === "forged")).toBe(false);
  for (const file of segmentsOf(dir)) {
    for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
  }
});

test("only the servers that are asked for, and only sizes if told", async () => {
  const two = await startScripted({ name: "two" });
  const dir = folder();
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({
    mcpServers: { one: one.entry, two: two.entry },
    record: { dir, servers: ["tw*"], bodies: false },
  });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "not recorded" } });
  await raw.call("tools/call", { name: "two_echo", arguments: { text: "only its size" } });
  const frames = await recorded(goblin, dir);
  expect(new Set(frames.map(({ server }) => server))).toEqual(new Set(["two"]));
  expect(frames.every(({ message, bytes }) => message === undefined && bytes! > 0)).toBe(true);
  const written = segmentsOf(dir)
    .map((file) => readFileSync(file, "utf8"))
    .join("");
  expect(written).not.toMatch(/only its size|not recorded/);
  expect(frames.filter(({ side }) => side === "client")).toHaveLength(2);
});

test("the folder keeps to maxBytes, and the oldest part goes first", async () => {
  const { dir, goblin, raw } = await start({});
  await raw.initialize();
  const { config } = parseConfig(
    JSON.stringify({ ...JSON.parse("{}"), mcpServers: {}, record: { dir, maxBytes: 65_536 } }),
    { file: "test.json", env: {} },
  );
  // Another config, so the recorder starts anew with less room.
  goblin.gateway.reload({
    ...config,
    servers: goblin.gateway.servers.ids().map((id) => goblin.gateway.servers.config(id)!),
  });
  await until(() => goblin.logs.filter(({ msg }) => msg === "Recording").length === 2);
  for (let i = 0; i < 60; i++) {
    await raw.call("tools/call", { name: "one_echo", arguments: { text: `${i} ${"x".repeat(1000)}` } });
    if (i % 10 === 9) await until(() => lastText(dir).includes(`"text":"${i} `));
  }
  const frames = await recorded(goblin, dir);
  const total = segmentsOf(dir).reduce((sum, file) => sum + statSync(file).size, 0);
  expect(total).toBeLessThanOrEqual(65_536 + 8192);
  const texts = frames.map(({ message }) => message ?? "").join();
  expect(texts).toContain('"text":"59 ');
  expect(texts).not.toContain('"text":"0 x');
});

test("while a reload starts the recorder anew, every message is in one of the recordings", async () => {
  const { dir, goblin, raw } = await start({});
  await raw.initialize();
  const servers = goblin.gateway.servers.ids().map((id) => goblin.gateway.servers.config(id)!);
  const calls = 60;
  const made: Promise<unknown>[] = [];
  for (let i = 0; i < calls; i++) {
    made.push(raw.call("tools/call", { name: "one_echo", arguments: { text: `call-${i}-` } }));
    if (i % 20 === 10) {
      const text = JSON.stringify({ mcpServers: {}, record: { dir, maxBytes: 1_000_000 + i } });
      goblin.gateway.reload({ ...parseConfig(text, { file: "test.json", env: {} }).config, servers });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(made);
  const frames = await recorded(goblin, dir);
  const of = (side: string, way: string): string[] =>
    frames
      .filter((frame) => frame.side === side && frame.dir === way)
      .flatMap(({ message = "" }) => /call-(\d+)-/.exec(message)?.[1] ?? []);
  const all = Array.from({ length: calls }, (_, i) => String(i)).sort();
  for (const [side, way] of [
    ["client", "in"],
    ["server", "out"],
    ["server", "in"],
    ["client", "out"],
  ]) {
    expect(of(side!, way!).sort(), `${side} ${way}`).toEqual(all);
  }
  expect(readdirSync(dir).filter((name) => name.endsWith(".index.json"))).toHaveLength(4);
});

/** What is recorded; the oldest part may go while this looks. */
function lastText(dir: string): string {
  return segmentsOf(dir)
    .map((file) => textOf(file))
    .join("");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

test("a folder that cannot be written costs frames, which are counted, and no call", async () => {
  const place = folder();
  writeFileSync(join(place, "file"), "");
  const { goblin, raw } = await start({ record: { dir: join(place, "file", "recordings") } });
  await raw.initialize();
  for (let i = 0; i < 3; i++) {
    const { message } = await raw.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
    expect(message.result).toBeDefined();
  }
  await until(() => goblin.logs.some(({ msg }) => msg.startsWith("The recording cannot be written")));
  const lost = async () => {
    const page = parsePrometheus(await (await fetch(`${goblin.origin}/metrics`)).text());
    expect(valueIn(page, "mcpRecordedFramesTotal")).toBe(0);
    return valueIn(page, "mcpRecordedFramesLostTotal")!;
  };
  await until(async () => (await lost()) > 0);
});

test("a disk that takes frames again gets them", async () => {
  const place = folder();
  writeFileSync(join(place, "dir"), "");
  const { goblin, raw } = await start({ record: { dir: join(place, "dir") } });
  await raw.initialize();
  await until(() => goblin.logs.some(({ msg }) => msg.startsWith("The recording cannot be written")));
  rmSync(join(place, "dir"));
  await until(async () => {
    await raw.call("tools/call", { name: "one_echo", arguments: { text: "later" } });
    return goblin.logs.some(({ msg }) => msg === "The recording is written again");
  });
  const frames = await recorded(goblin, join(place, "dir"));
  expect(frames.map(({ message }) => message ?? "").join()).toContain("later");
});

test("a link that somebody put into the folder is not followed", async () => {
  const { dir, goblin, raw } = await start();
  await raw.initialize();
  await until(() => existsSync(dir) && readdirSync(dir).some((name) => name.endsWith(".index.json")));
  const run = readdirSync(dir)
    .find((name) => name.endsWith(".index.json"))!
    .replace(".index.json", "");
  const victim = join(folder(), "victim");
  writeFileSync(victim, "precious");
  chmodSync(victim, 0o600);
  symlinkSync(victim, join(dir, `${run}-000002.ndjson`));
  symlinkSync(victim, join(dir, `${run}.index.json.${process.pid}.new`));
  await goblin.gateway.close();
  expect(readFileSync(victim, "utf8")).toBe("precious");
});

test("through the API: for a while, to the gateway's own folder, and not beside the config's", async () => {
  const state = folder();
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } }, { env: { XDG_STATE_HOME: state } });
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(goblin.origin + path, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };
  expect((await api("GET", "/api/recording")).json).toEqual({ recording: null });
  expect((await api("POST", "/api/recording", { forMs: 5, dir: "/tmp" })).status).toBe(400);
  const begun = CurrentRecording.parse((await api("POST", "/api/recording", { forMs: 60_000 })).json).recording!;
  expect(begun).toMatchObject({ dir: join(state, "goblin", "recordings"), servers: ["*"], isConfigured: false });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "recorded" } });
  const ended = CurrentRecording.parse((await api("POST", "/api/recording/stop", {})).json).recording!;
  expect(ended.frames).toBeGreaterThanOrEqual(4);
  const calls = exchangesOf(framesOf(join(ended.dir, ended.run)));
  expect(calls.map(({ method }) => method)).toContain("tools/call");
  // Servers that connected before have their lists in the index.
  expect(indexOf(ended.dir).servers?.["one"]?.tools?.length).toBeGreaterThan(3);

  const always = await start();
  const answer = await fetch(`${always.goblin.origin}/api/recording`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ forMs: 60_000 }),
  });
  expect(answer.status).toBe(409);
});
