/**
 * A second "name" in the params must not get a denied tool past the gateway to a server that reads
 * the first one.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("a server never sees an identifier that the gateway did not resolve", async () => {
  const server = await startScripted({ transport: "stdio", name: "one" });
  const entry = { ...server.entry, prefix: "", tools: { deny: ["add"] } };
  const goblin = await startGoblin({ mcpServers: { one: entry } });
  const http = rawHttp(goblin.url);
  await http.initialize();
  const body =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","name":"echo","arguments":{"a":1}}}';
  await http.send({ body });
  const [seen] = await server.received("tools/call");
  expect(JSON.stringify(seen)).not.toContain('"add"');
});
