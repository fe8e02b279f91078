import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { masked } from "../../src/observe/telemetry/audit-mask.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

function lines(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

async function start(log: Record<string, unknown>) {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "audit.jsonl");
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({
    mcpServers: { one: { ...server.entry, tools: { overrides: { sleep: { timeoutMs: 300 } } } } },
    log: { audit: file, ...log },
  });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  return { file, goblin, raw };
}

it("writes one line for each call, with its outcome", async () => {
  const before = Date.now();
  const { file, goblin, raw } = await start({});
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "secret text" } });
  await raw.call("tools/call", { name: "one_tool_error", arguments: {} });
  await raw.call("tools/call", { name: "one_fail", arguments: { code: -32123 } });
  await raw.call("tools/call", { name: "one_sleep", arguments: { ms: 5000 } });
  await raw.call("tools/call", { name: "nobody_knows", arguments: {} });
  await raw.call("resources/read", { uri: "one+text:///hello" });
  await raw.call("tools/list");
  await goblin.gateway.close();
  const audited = lines(file);
  expect(audited.map(({ method, name, server, outcome, code }) => [method, name, server, outcome, code])).toEqual([
    ["tools/call", "one_echo", "one", "ok", undefined],
    ["tools/call", "one_tool_error", "one", "tool-error", undefined],
    ["tools/call", "one_fail", "one", "error", -32123],
    ["tools/call", "one_sleep", "one", "timeout", "TIMEOUT"],
    ["tools/call", "nobody_knows", undefined, "error", "TOOL_NOT_FOUND"],
    ["resources/read", "one+text:///hello", "one", "ok", undefined],
  ]);
  const [first] = audited;
  expect(first).toMatchObject({ client: { name: "raw" }, requestBytes: 54 });
  expect(first!["answerBytes"]).toBeGreaterThan(50);
  expect(first!["durationMs"]).toBeGreaterThan(0);
  const time = Date.parse(String(first!["time"]));
  expect([before <= time, time <= Date.now()]).toEqual([true, true]);
  expect(readFileSync(file, "utf8")).not.toContain("secret text");
});

it("writes arguments if asked to, without secrets, and follows a rotated file", async () => {
  const { file, goblin, raw } = await start({ auditArguments: true });
  const given = { text: "hello", value: { apiKey: "abc", list: ["Bearer abcdef", "plain"] } };
  await raw.call("tools/call", { name: "one_echo", arguments: given });
  await until(() => lines(file).length === 1);
  expect(lines(file)[0]!["arguments"]).toEqual({ text: "hello", value: { apiKey: "***", list: ["***", "plain"] } });
  renameSync(file, `${file}.1`);
  goblin.gateway.reopenLogs();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "second" } });
  await goblin.gateway.close();
  expect(lines(`${file}.1`)).toHaveLength(1);
  expect(lines(file).map((line) => line["arguments"])).toEqual([{ text: "second" }]);
});

it("masks what is named or looks like a secret", () => {
  expect(
    masked({
      password: "p",
      db_password: { nested: "p" },
      token: 1,
      "X-Api-Key": "k",
      Authorization: "Basic x",
      passage: "kept",
      monkey: "kept",
      key: "kept",
      note: "use ghp_abcdefghijklmnop now",
    }),
  ).toEqual({
    password: "***",
    db_password: "***",
    token: "***",
    "X-Api-Key": "***",
    Authorization: "***",
    passage: "kept",
    monkey: "kept",
    key: "kept",
    note: "***",
  });
});
