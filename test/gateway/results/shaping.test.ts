/** Results that are cut, refused, or shaped: fields left out. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { startHostile } from "../../fixtures/hostile.ts";
import { connectV1, connectV2, disposeAll } from "../../fixtures/peers.ts";
import { type Given, rows, session, textResult } from "./scene.ts";

const outputSchema = { type: "object", properties: { items: { type: "array" } }, required: ["items"] };
const results: Record<string, object> = {
  cut: { over: "cut", maxTokens: 200 },
  refuse: { over: "error", maxTokens: 200 },
  pick: { pick: ["items[].{id,title}", "total"] },
  drop: { drop: ["**.html"] },
  all: { over: "cut", maxTokens: 200, drop: ["**.html"] },
};

let url: string;
let client: Awaited<ReturnType<typeof session>>;
/** The answer to a call of this tool that returns this JSON, as text. */
let shaped: (tool: string, text: string) => Promise<string>;

beforeAll(async () => {
  const tools = Object.keys(results).map((name) => ({ name, inputSchema: { type: "object" }, outputSchema }));
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools }),
      "tools/call": ({ id, params }: Given, response: Given) => {
        const { text, result } = params.arguments;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(`{"jsonrpc":"2.0","id":${id},"result":${text ?? JSON.stringify(result)}}`);
      },
    },
  });
  const overrides = Object.fromEntries(Object.entries(results).map(([name, rules]) => [name, { results: rules }]));
  const goblin = await startGoblin({ metaTools: {}, mcpServers: { web: { ...server.entry, tools: { overrides } } } });
  url = goblin.url;
  client = await session(url);
  shaped = async (tool, text) => {
    const { text: answer } = await client.client.call("tools/call", { name: `web_${tool}`, arguments: { text } }, 5);
    expect(answer.startsWith('{"jsonrpc":"2.0","id":5,"result":')).toBe(true);
    return answer.slice('{"jsonrpc":"2.0","id":5,"result":'.length, -1);
  };
});
afterAll(disposeAll);

describe("cut", () => {
  test("sends the beginning, and says what is missing", async () => {
    const answer = await client.tool("web_cut", {
      result: { ...textResult("word ".repeat(1000)), isError: true, _meta: { a: 1 } },
    });
    expect(answer).toEqual({
      content: [
        { type: "text", text: expect.stringMatching(/^(word ){100,150}…$/) },
        {
          type: "text",
          text: "The result of web_cut is too long: about 987 tokens (6 kB), and at most 200 are shown. It is cut here: the rest is missing. Ask for less: a filter, a smaller page, fewer fields.",
        },
      ],
      isError: true,
      _meta: { a: 1 },
    });
  });

  test("keeps whole blocks while they fit, images always, and no structured content", async () => {
    const image = { type: "image", data: "AAAA".repeat(3000), mimeType: "image/png" };
    const texts = ["short", "word ".repeat(1000), "never shown"].map((text) => ({ type: "text", text }));
    const answer = await client.tool("web_cut", {
      result: { content: [...texts, image], structuredContent: { items: rows(100) } },
    });
    expect(answer.content.map(({ type, text }: Given) => (type === "text" ? text.slice(0, 9) : type))).toEqual([
      "short",
      "word word",
      "image",
      "The resul",
    ]);
    expect(answer.structuredContent).toBeUndefined();
  });

  test("shows the beginning of structured content that has no text", async () => {
    const answer = await client.tool("web_cut", { result: { structuredContent: { items: rows(100) } } });
    expect(answer.content[0].text).toMatch(/^\{"items":\[\{"id":0,"title":"Issue number 0".*…$/);
    expect(answer.content).toHaveLength(2);
  });
});

test("error: an error with the size and the remedy, which says that the tool has run", async () => {
  const answer = await client.tool("web_refuse", {
    result: { ...textResult("word ".repeat(1000)), isError: false, _meta: { a: 1 } },
  });
  expect(answer).toEqual({
    content: [
      {
        type: "text",
        text: "The result of web_refuse is too long: about 987 tokens (6 kB), and at most 200 are shown. The tool has run, but its result is not shown. Ask for less: a filter, a smaller page, fewer fields.",
      },
    ],
    isError: true,
    _meta: { a: 1 },
  });
});

describe("fields", () => {
  const value = '{"total":12345678901234567890,"items":[{"id":1.0,"title":"é\\u00e9","html":"<p>"},{"id":-0}]}';

  test("pick and drop leave everything else as it was written, in structured content and in JSON text", async () => {
    expect(await shaped("pick", `{"content":[],"structuredContent":${value} ,"x":1e400}`)).toBe(
      '{"content":[],"structuredContent":{"total":12345678901234567890,"items":[{"id":1.0,"title":"é\\u00e9"},{"id":-0}]} ,"x":1e400}',
    );
    const text = JSON.stringify(value);
    expect(await shaped("drop", `{"content":[{"annotations":{"a":1},"type":"text","text":${text}}]}`)).toBe(
      `{"content":[{"annotations":{"a":1},"type":"text","text":${JSON.stringify(value.replace(',"html":"<p>"', ""))}}]}`,
    );
  });

  test.each([
    '{"content":[{"type":"text","text":"not { json"}]}',
    '{"content":[{"type":"text","text":"{\\"a\\":1} and more"}]}',
    '{"content":[{"type":"text","text":"[1,2"}],"structuredContent":{"a" : 1}}',
    '{"content":[{"type":"image","data":"{}","mimeType":"x"}],"structuredContent":5}',
    '{"content" : "odd"}',
    "{}",
    "[]",
    "null",
  ])("%s stays as it is", async (text) => {
    expect(await shaped("drop", text)).toBe(text);
  });
});

test("what is shaped first may be short enough then", async () => {
  const value = { items: rows(2).map((row) => ({ ...row, html: "word ".repeat(500) })) };
  const answer = await client.tool("web_all", {
    result: { content: [], structuredContent: value },
  });
  expect(answer).toEqual({ content: [], structuredContent: { items: rows(2) } });
});

test.each([
  ["v1", () => connectV1({ url })],
  ["v2 legacy", () => connectV2({ url })],
  ["v2 modern", () => connectV2({ url, era: "modern" })],
])("clients of the SDK %s accept every shape", async (_name, connect) => {
  const { client: sdk } = await connect();
  const { tools } = await sdk.listTools();
  // A shaped result may not fit the schema any more.
  expect(tools.filter((tool) => tool.outputSchema)).toEqual([]);
  const value = { items: rows(100), total: 1 };
  const result = { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  const kinds: unknown[] = [];
  for (const name of Object.keys(results)) {
    const answer = (await sdk.callTool({ name: `web_${name}`, arguments: { result } })) as Given;
    kinds.push([name, answer.content.length, answer.structuredContent !== undefined, answer.isError === true]);
  }
  expect(kinds).toEqual([
    ["cut", 2, false, false],
    ["refuse", 1, false, true],
    ["pick", 1, true, false],
    ["drop", 1, true, false],
    ["all", 2, false, false],
  ]);
});
