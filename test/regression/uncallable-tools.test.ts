/**
 * A tool whose `x-mcp-header` is not valid cannot be called at a server that wants arguments in
 * headers. It is not listed there, and the log says why. A server with a handshake has no such
 * headers.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const tool = (name: string, header: unknown) => ({
  name,
  inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": header } } },
});
const script = { lists: { tools: [tool("good", "Region"), tool("bad", "not a header"), tool("none", 7)] } };

test.each([
  ["modern", ["s_good"]],
  ["legacy", ["s_bad", "s_good", "s_none"]],
] as const)("a %s server over HTTP lists %s", async (era, expected) => {
  const server = await startScripted({ transport: "http", era, name: "s", script });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  const { client } = await connectV1({ url: goblin.url });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).filter((name) => name.startsWith("s_"))).toEqual(expected);
  const logged = goblin.logs.filter(({ msg }) => msg.startsWith("A tool is left out"));
  expect(logged.map((line) => line.extra?.["tool"])).toEqual(era === "modern" ? ["bad", "none"] : []);
});
