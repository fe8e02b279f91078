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

const MARKED = { type: "string", "x-mcp-header": "Region" };
const taking = (name: string, schema: Record<string, unknown>) => ({
  name,
  inputSchema: { type: "object", ...schema },
});

test("a declaration that no chain of properties leads to is not valid (C12)", async () => {
  const nested = { type: "object", properties: { b: MARKED } };
  const tools = [
    taking("good-deep", { properties: { a: nested } }),
    taking("good-name", { properties: { "x-mcp-header": { type: "string" } } }),
    taking("good-data", { properties: { a: { type: "object", default: { "x-mcp-header": "Region" } } } }),
    taking("bad-items", { properties: { a: { type: "array", items: MARKED } } }),
    taking("bad-items-below", { properties: { a: { type: "array", items: nested } } }),
    taking("bad-prefix", { properties: { a: { type: "array", prefixItems: [MARKED] } } }),
    taking("bad-any", { properties: { a: { anyOf: [MARKED, { type: "integer" }] } } }),
    taking("bad-root-all", { allOf: [{ properties: { a: MARKED } }] }),
    taking("bad-more", { additionalProperties: MARKED }),
    taking("bad-pattern", { patternProperties: { "^a": MARKED } }),
    taking("bad-defs", { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: MARKED } }),
    taking("bad-else", { if: {}, else: { properties: { a: MARKED } } }),
    taking("bad-root", { "x-mcp-header": "Region" }),
  ];
  const server = await startScripted({ transport: "http", era: "modern", name: "s", script: { lists: { tools } } });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  const { client } = await connectV1({ url: goblin.url });
  const names = (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith("s_"));
  expect(names).toEqual(["s_good-data", "s_good-deep", "s_good-name"]);
});
