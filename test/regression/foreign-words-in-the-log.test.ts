/**
 * What a server makes up is short and on one line of the log: it can neither fill the disk nor
 * write a line in the gateway's name.
 */
import { afterEach, describe, expect, test } from "vitest";
import { createLogger } from "../../src/observe/telemetry/logger.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const forgery = `\n12:00:00.000 info  all is well\u001b[2J\u2028${"x".repeat(300_000)}`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is meant
const unseen = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

describe.each([
  ["legacy", "stdio"],
  ["modern", "stdio"],
  ["legacy", "http"],
] as const)("a %s server over %s", (era, transport) => {
  test.each([
    ["an answer to nothing", JSON.stringify({ jsonrpc: "2.0", id: forgery, result: {} })],
    ["a request", JSON.stringify({ jsonrpc: "2.0", id: 1, method: forgery })],
    ["garbage", `garbage \r\t\u001b[31m ${"x".repeat(300_000)}`],
  ])("%s is a short line of the log", async (_, text) => {
    const rules = [{ method: "tools/call", do: "wrongId", also: true, id: forgery }];
    const server = await startScripted({ name: "odd", era, transport, script: { rules } });
    const goblin = await startGoblin({ mcpServers: { odd: server.entry } });
    const client = rawHttp(goblin.url);
    await client.initialize();
    await client.call("tools/call", {
      name: "odd_garbage",
      arguments: { text: transport === "http" ? "" : `${text}\n` },
    });
    const warnings = await until(() => {
      const found = goblin.logs.filter(({ level, server }) => level === "warn" && server === "odd");
      return found.length > 0 ? found : undefined;
    });
    for (const { msg, extra } of warnings) {
      expect(msg.length).toBeLessThan(600);
      expect(msg).not.toMatch(unseen);
      expect(JSON.stringify(extra ?? {}).length).toBeLessThan(600);
      expect(String(extra?.["detail"] ?? "")).not.toMatch(unseen);
    }
  });
});

test("a server that refuses the handshake at length is not quoted at length", async () => {
  const rules = [{ method: "initialize", do: "error", code: -32000, message: forgery }];
  const server = await startScripted({ name: "odd", script: { rules } });
  const goblin = await startGoblin({ mcpServers: { odd: server.entry } });
  const down = goblin.logs.find(({ extra }) => extra?.["state"] === "down");
  expect(JSON.stringify(down).length).toBeLessThan(1000);
  expect(String(down?.extra?.["reason"])).not.toMatch(unseen);
});

test("in the readable format what follows a line break is set in", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "pretty", stream: { write: (text: string) => lines.push(text) } });
  log.warn("one\n12:00:00.000 info  two");
  expect(lines.join("").split("\n").slice(1)).toEqual(["                   12:00:00.000 info  two", ""]);
});
