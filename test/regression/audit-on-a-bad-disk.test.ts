/**
 * The audit log when its file takes nothing, takes a part, or grows: no descriptor and no line is
 * lost without a count, and no client makes its lines long.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { parsePrometheus } from "../fixtures/prometheus.ts";

afterEach(disposeAll);

const FULL = "/dev/full";
const hasFull = existsSync(FULL) && existsSync("/proc/self/fd");

async function start(log: (folder: string) => Record<string, unknown>, name = "raw") {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, log: log(folder) });
  const raw = rawHttp(goblin.url);
  const clientInfo = { name, version: "1" };
  const { headers } = await raw.call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  raw.headers = { "mcp-session-id": headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-06-18" };
  const echo = (text: string) => raw.call("tools/call", { name: "one_echo", arguments: { text } });
  const said = (words: string) => goblin.logs.filter(({ msg }) => String(msg).includes(words));
  return { folder, file: join(folder, "audit.jsonl"), goblin, raw, echo, said };
}

interface Line {
  readonly name?: string;
  readonly client: { readonly name: string };
  readonly arguments: { readonly text: string };
}

function lines(file: string): Line[] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const texts = (file: string): string[] => lines(file).map((line) => line.arguments.text);
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(2, "0"));

function descriptorsOn(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;
}

test.runIf(hasFull)("a full disk costs no descriptor and no line that can wait", async () => {
  const { file, goblin, echo, said } = await start((folder) => {
    symlinkSync(FULL, join(folder, "audit.jsonl"));
    return { audit: join(folder, "audit.jsonl"), auditArguments: true };
  });
  for (const text of numbered(1, 30)) {
    await echo(text);
    goblin.gateway.reopenLogs();
  }
  await until(() => said("The audit log cannot be written").length > 0);
  expect(descriptorsOn(FULL)).toBeLessThanOrEqual(1);
  expect(said("The audit log cannot be written")).toHaveLength(1);
  expect(said("Audit lines are lost")).toEqual([]);
  rmSync(file);
  await echo("31");
  goblin.gateway.reopenLogs();
  await until(() => lines(file).length === 31);
  expect(texts(file)).toEqual(numbered(1, 31));
  await until(() => said("The audit log is written again").length > 0);
  expect(said("The audit log is written again")).toMatchObject([{ extra: { lost: 0 } }]);
});

test.runIf(hasFull)("lines that cannot wait are counted, and said once", async () => {
  const { goblin, echo, said } = await start(() => ({ audit: FULL, auditArguments: true }));
  // Five of them are more than may wait.
  for (let i = 0; i < 7; i++) await echo("x".repeat(4_000_000));
  const page = parsePrometheus(await (await fetch(`${goblin.origin}/metrics`)).text());
  const [sample] = page.get("mcpAuditLinesLostTotal")!.samples;
  expect(sample!.value).toBe(2);
  expect(said("Audit lines are lost")).toHaveLength(1);
});

test.runIf(hasFull)("lines that wait in vain until the end are counted as lost", async () => {
  const { goblin, echo, said } = await start(() => ({ audit: FULL }));
  await echo("1");
  await goblin.gateway.close();
  expect(said("Audit lines are lost")).toHaveLength(1);
  await until(() => descriptorsOn(FULL) === 0, { what: "the log to be closed" });
});

test("a folder that is not there yet is waited for", async () => {
  const { folder, echo } = await start((folder) => ({
    audit: join(folder, "later", "audit.jsonl"),
    auditArguments: true,
  }));
  await echo("1");
  await echo("2");
  mkdirSync(join(folder, "later"));
  const file = join(folder, "later", "audit.jsonl");
  await until(() => lines(file).length === 2);
  expect(texts(file)).toEqual(["1", "2"]);
});

test("what a client calls itself, its methods and what it asks for are cut", async () => {
  const { file, goblin, raw, echo } = await start(
    (folder) => ({ audit: join(folder, "audit.jsonl") }),
    `${"n".repeat(198)}😀${"n".repeat(1_000_000)}`,
  );
  await echo("1");
  await raw.call("tools/call", { name: "t".repeat(100_000) });
  await raw.call("resources/read", { uri: `one+${"u".repeat(100_000)}` });
  await raw.call("resources/read", { uri: { deep: "u".repeat(100_000) } });
  await goblin.gateway.close();
  const audited = lines(file);
  expect(audited.map(({ name }) => name)).toEqual([
    "one_echo",
    `${"t".repeat(199)}…`,
    `one+${"u".repeat(195)}…`,
    undefined,
  ]);
  const { name } = audited[0]!.client;
  expect(name).toMatch(/^n+…?$/);
  expect(name.length).toBeLessThanOrEqual(200);
  expect(statSync(file).size).toBeLessThan(4 * 1_000);
});

test("a file that is full is renamed, of those some are kept, and nobody else reads them", async () => {
  const { folder, file, goblin, echo } = await start((folder) => ({
    audit: join(folder, "audit.jsonl"),
    auditArguments: true,
    auditMaxBytes: 1_000,
    auditKeep: 2,
  }));
  for (const text of numbered(1, 20)) await echo(text);
  await goblin.gateway.close();
  const names = ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"];
  expect(readdirSync(folder).sort()).toEqual(names);
  for (const name of names) {
    const { size, mode } = statSync(join(folder, name));
    expect(size).toBeLessThanOrEqual(1_000);
    expect(mode & 0o777).toBe(0o600);
  }
  const kept = [`${file}.2`, `${file}.1`, file].flatMap(texts);
  expect(kept.length).toBeGreaterThan(3);
  expect(kept).toEqual(numbered(21 - kept.length, 20));
});

test("a file that cannot be renamed grows on, and a link to one stays a link", async () => {
  const { folder, file, goblin, echo, said } = await start((folder) => {
    mkdirSync(join(folder, "elsewhere", "real.jsonl.1", "taken"), { recursive: true });
    symlinkSync(join(folder, "elsewhere", "real.jsonl"), join(folder, "audit.jsonl"));
    return { audit: join(folder, "audit.jsonl"), auditArguments: true, auditMaxBytes: 1_000, auditKeep: 1 };
  });
  for (const text of numbered(1, 10)) await echo(text);
  await until(() => said("The audit log cannot be rotated").length > 0);
  rmSync(join(folder, "elsewhere", "real.jsonl.1"), { recursive: true });
  for (const text of numbered(11, 20)) await echo(text);
  await goblin.gateway.close();
  expect(readlinkSync(file)).toBe(join(folder, "elsewhere", "real.jsonl"));
  const kept = [join(folder, "elsewhere", "real.jsonl.1"), file].flatMap(texts);
  expect(kept).toEqual(numbered(21 - kept.length, 20));
});
