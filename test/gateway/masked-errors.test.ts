/**
 * A server that quotes its own key in an error: the client gets the error as it was, without the
 * key.
 */
import { afterEach, expect, test } from "vitest";
import { Output, type OutputParts } from "../../src/core/calls/stages/output.ts";
import type { Route } from "../../src/core/routing/resolve.ts";
import type { Flight } from "../../src/mcp/protocol/flight.ts";
import { Masker } from "../../src/observe/telemetry/masker.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const KEY = 'sk-live-"1234567"';

const SERVER = `
  let rest = "";
  const out = (text) => process.stdout.write(text + "\\n");
  process.stdin.on("data", (chunk) => {
    const lines = (rest += chunk).split("\\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      const said = JSON.stringify("bad key " + process.env.KEY);
      const result = method === "initialize" ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : method === "tools/list" ? { tools: ["fail", "tell"].map((name) => ({ name, inputSchema: { type: "object" } })) }
        : params?.name === "tell" ? { content: [{ type: "text", text: "bad key " + process.env.KEY }] } : undefined;
      if (result) out(JSON.stringify({ jsonrpc: "2.0", id, result }));
      else out('{"jsonrpc":"2.0","id":' + id + ',"error":{"code":-32001,"message":' + said + ',"data":{"n":12345678901234567890,"tried":[' + said + '],"e":"\\\\u00e9"}}}');
    }
  });`;

test("the message and the data are masked and otherwise as they came; a result is the server's own affair", async () => {
  const one = { command: process.execPath, args: ["-e", SERVER], env: { KEY } };
  const { url } = await startGoblin({ mcpServers: { one } });
  const client = rawHttp(url);
  await client.initialize();
  const { text, message } = await client.call("tools/call", { name: "one_fail" });
  expect(text).not.toContain("1234567\\");
  expect(message.error).toMatchObject({
    code: -32001,
    message: "bad key [hidden]",
    data: { tried: ["bad key [hidden]"] },
  });
  expect(text).toContain('"n":12345678901234567890,');
  expect(text).toContain(String.raw`"e":"\u00e9"`);
  const told = await client.call("tools/call", { name: "one_tell" });
  expect(told.message.result.content[0].text).toBe(`bad key ${KEY}`);
});

test("the key is hidden in errors, kept calls and the log if the server escapes it as .NET and PHP do (A-M2)", async () => {
  const key = "ab+cd/ef+12";
  const escaped = SERVER.replace(
    'JSON.stringify("bad key " + process.env.KEY)',
    'JSON.stringify("bad key " + process.env.KEY).replaceAll("+", "\\\\u002B").replaceAll("/", "\\\\/")',
  ).replace("else out(", "else console.error(said), out(");
  const one = { command: process.execPath, args: ["-e", escaped], env: { KEY: key } };
  const goblin = await startGoblin({ mcpServers: { one } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const { text, message } = await client.call("tools/call", { name: "one_fail" });
  expect(message.error).toMatchObject({ message: "bad key [hidden]", data: { tried: ["bad key [hidden]"] } });
  const { items } = (await (await fetch(`${goblin.origin}/api/calls`)).json()) as { items: { requestId: string }[] };
  const kept = await (await fetch(`${goblin.origin}/api/calls/${items.at(-1)!.requestId}`)).text();
  expect(kept).toContain("bad key [hidden]");
  await until(() => goblin.logs.some(({ msg }) => msg.includes("bad key")));
  const log = JSON.stringify(goblin.logs);
  for (const shown of [text, kept, log]) expect(shown.replaceAll("\\", "")).not.toMatch(/u002B|ab\+cd/);
});

test("what is left is JSON, wherever the secret stands", () => {
  const masker = new Masker();
  masker.hide(["n123456", "7654321", 'quo"ted', "back\\slash"]);
  const value = { a: "\n123456", b: 7654321, c: ["x7654321x"], 'quo"ted': "back\\slash", d: "back\\\\slash" };
  expect(JSON.parse(masker.json(JSON.stringify(value)))).toEqual({
    a: "\n123456",
    b: 7654321,
    c: ["x[hidden]x"],
    "[hidden]": "[hidden]",
    // JSON of it, in a string.
    d: "[hidden]",
  });
  const text = '{"nothingReceived": 1}';
  expect(masker.json(text)).toBe(text);
});

test("a large error is masked while the gateway goes on with other work", async () => {
  const masker = new Masker();
  masker.hide(["hunter2-hunter2"]);
  const output = new Output({ masker } as OutputParts);
  const flight = { call: { method: "tools/call", requestId: "r1" } } as Flight;
  const message = `${"\\".repeat(500_000)} the key is \\u0068unter2-hunter2`;
  const raw = JSON.stringify({ code: -32001, message });
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const answer = await output.leave(flight, { serverId: "one" } as Route, { ok: false, code: -32001, raw });
  isDone = true;
  expect(JSON.parse(String(answer.raw))).toEqual({
    code: -32001,
    message: `${"\\".repeat(500_000)} the key is [masked secret]`,
    data: { serverId: "one" },
  });
  expect(turns).toBeGreaterThan(2);
});
