/**
 * A server that quotes its own key in an error: the client gets the error as it was, without the
 * key.
 */
import { afterEach, expect, test } from "vitest";
import { Masker } from "../../src/observe/telemetry/masker.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";

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

test("what is left is JSON, wherever the secret stands", () => {
  const masker = new Masker();
  masker.hide(["n123456", "7654321", 'quo"ted', "back\\slash"]);
  const value = { a: "\n123456", b: 7654321, c: ["x7654321x"], 'quo"ted': "back\\slash", d: "back\\\\slash" };
  expect(JSON.parse(masker.json(JSON.stringify(value)))).toEqual({
    a: "\n123456",
    b: 7654321,
    c: ["x[hidden]x"],
    "[hidden]": "[hidden]",
    d: "back\\\\slash",
  });
  const text = '{"nothingReceived": 1}';
  expect(masker.json(text)).toBe(text);
});
