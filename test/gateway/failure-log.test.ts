/** What servers answer as errors is in the log, with its details and without secrets. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("a server's error is logged with its code, message and data", async () => {
  const rules = [
    {
      method: "tools/call",
      do: "error",
      code: -32050,
      message: "quota of s3cret-key\u001b[2J exceeded",
      data: { limit: 10 },
    },
  ];
  const server = await startScripted({ name: "one", script: { rules }, env: { KEY: "s3cret-key" } });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry } } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  await client.call("tools/call", { name: "one_echo", arguments: { text: "private" } });
  const line = await until(() => goblin.logs.find(({ msg }) => msg.startsWith("tools/call failed")));
  expect(line).toMatchObject({
    level: "info",
    server: "one",
    msg: "tools/call failed: quota of [hidden]\ufffd[2J exceeded",
    extra: { method: "tools/call", code: -32050, target: "echo" },
  });
  expect(line.extra?.["data"]).toContain('"limit":10');
  expect(JSON.stringify(line)).not.toContain("private");
});

test("a call that its server leaves unanswered is logged, and one that a client may not make is not", async () => {
  const server = await startScripted({ name: "one", script: { rules: [{ method: "tools/call", do: "crash" }] } });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  await client.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
  await client.call("tools/call", { name: "nothing" });
  const failures = goblin.logs.filter(({ msg }) => msg.includes("failed: "));
  expect(failures).toMatchObject([{ level: "warn", server: "one", extra: { code: "BACKEND_UNAVAILABLE" } }]);
});

test("a client that fails again and again does not fill the log", async () => {
  const rules = [{ method: "tools/call", do: "error", code: -32000, message: "no" }];
  const server = await startScripted({ name: "one", script: { rules } });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  for (let n = 0; n < 60; n++) await client.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
  expect(goblin.logs.filter(({ msg }) => msg.includes("failed: no"))).toHaveLength(30);
});
