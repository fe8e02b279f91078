/** A result that is too long is kept; the client gets a preview, a link, and a tool to read it. */
import { existsSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { startHostile } from "../../fixtures/hostile.ts";
import { connectV1, connectV2, disposeAll } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";
import { type Given, idIn, linkIn, rows, session, startScene, textResult } from "./scene.ts";

afterEach(disposeAll);

const spill = { results: { over: "spill", maxTokens: 500, preview: 120 } };

describe("the answer", () => {
  test("has the size, a preview of JSON, a link and everything but the content", async () => {
    const { goblin } = await startScene(spill);
    const client = await session(goblin.url);
    const list = { total: 400, items: rows(400), next: null };
    const answer = await client.returning({
      content: [{ type: "text", text: JSON.stringify(list) }],
      structuredContent: list,
      isError: false,
      _meta: { "x.y/z": 12 },
      "x-own": [1],
    });
    const id = idIn(answer);
    expect(answer).toEqual({
      content: [
        {
          type: "text",
          text: expect.stringMatching(
            /^The result of web_raw is too long: about 6\d{3} tokens \(56 kB\), and at most 500 are shown\. All of it is kept for 60 min as goblin:\/\/result\/[\w-]{22}: read parts of it with the tool read_result and \{"id":"[\w-]{22}"\}, besides path, from, count or grep\.$/,
          ),
        },
        { type: "text", text: expect.any(String) },
        {
          type: "resource_link",
          uri: `goblin://result/${id}`,
          name: "web_raw result",
          mimeType: "application/json",
          size: expect.any(Number),
        },
      ],
      isError: false,
      _meta: { "x.y/z": 12 },
      "x-own": [1],
    });
    expect(answer.content[1].text).toBe(
      [
        "Structure: { total: number, items: { id: number, title: string, labels: string[2] }[400], next: null }",
        'items[0] = {"id":0,"title":"Issue number 0","labels":["bug","urgent"]}',
        'items[1] = {"id":1,"title":"Issue number 1","labels":["bug","urgent"]}',
        'items[2] = {"id":2,"title":"Issue number 2","labels":["bug","urgent"]}',
        'items[3] = {"id":3,"title":"Issue number 3","labels":["bug","urgent"]}',
        'items[4] = {"id":4…',
      ].join("\n"),
    );
  });

  test("shows the first lines of a text, and keeps images and the mark of an error", async () => {
    const { goblin } = await startScene(spill);
    const client = await session(goblin.url);
    const text = Array.from({ length: 2000 }, (_, i) => `line ${i} of the log`).join("\n");
    const image = { type: "image", data: "AAAA".repeat(5000), mimeType: "image/png" };
    const answer = await client.returning({ content: [{ type: "text", text }, image], isError: true });
    expect(answer.isError).toBe(true);
    expect(answer.content.map(({ type }: Given) => type)).toEqual(["text", "text", "resource_link", "image"]);
    expect(answer.content[1].text).toMatch(/^line 0 of the log\nline 1 of the log\n/);
    expect(answer.content[2].mimeType).toBe("text/plain");
    expect(answer.content[3]).toEqual(image);
  });

  test("is the result itself, byte for byte, within the limit and of images", async () => {
    const { goblin } = await startScene(spill);
    const client = await session(goblin.url);
    const short = ' {"content" : [ {"type":"text","text":"12345678901234567890 \\u00e9"} ],"n":1e400,"n":-0}';
    expect((await client.client.call("tools/call", { name: "web_raw", arguments: { text: short } })).text).toContain(
      short.trim(),
    );
    const image = { content: [{ type: "image", data: "AAAA".repeat(50_000), mimeType: "image/png" }] };
    expect(await client.returning(image)).toEqual(image);
  });

  test("has no link for clients whose version has none", async () => {
    const { goblin } = await startScene(spill);
    const client = await session(goblin.url, undefined, "2025-03-26");
    const answer = await client.returning(textResult("word ".repeat(5000)));
    expect(answer.content.map(({ type }: Given) => type)).toEqual(["text", "text"]);
    const { result } = await client.read(`goblin://result/${idIn(answer)}`);
    expect(result.contents[0].text).toBe("word ".repeat(5000));
  });

  test("comes through call_tool and in batches too", async () => {
    const { goblin } = await startScene({ ...spill, metaTools: { enabled: ["call_tool", "read_result"] } });
    const client = await session(goblin.url, undefined, "2025-03-26");
    const result = textResult("word ".repeat(5000));
    const args = { name: "web_raw", arguments: { result } };
    const through = await client.tool("call_tool", args);
    expect(through.content[0].text).toMatch(/^The result of web_raw is too long/);
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: args }));
    const { json } = await client.client.post(batch);
    expect(json.map((message: Given) => message.result.content[0].text)).toEqual([
      expect.stringMatching(/^The result of web_raw is too long/),
      expect.stringMatching(/^The result of web_raw is too long/),
    ]);
  });
});

describe("clients of the SDKs", () => {
  const raw = {
    name: "raw",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { items: { type: "array" } }, required: ["items"] },
  };
  const methods = {
    "tools/list": () => ({ tools: [raw] }),
    "tools/call": ({ params }: Given) => params.arguments.result,
  };

  test.each([
    ["v1", (url: string) => connectV1({ url })],
    ["v2 legacy", (url: string) => connectV2({ url })],
    ["v2 modern", (url: string) => connectV2({ url, era: "modern" })],
  ])("%s accept a kept result of a tool with an output schema, and read it", async (_name, connect) => {
    const server = await startHostile({ methods });
    const goblin = await startGoblin({ ...spill, metaTools: {}, mcpServers: { web: server.entry } });
    const { client } = await connect(goblin.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, outputSchema }) => [name, outputSchema])).toEqual([
      ["read_result", undefined],
      ["web_raw", undefined],
    ]);
    const value = { items: rows(300) };
    const result = { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    const answer = (await client.callTool({ name: "web_raw", arguments: { result } })) as Given;
    expect(answer.structuredContent).toBeUndefined();
    const { contents } = await client.readResource({ uri: linkIn(answer).uri });
    expect(contents.map((content: Given) => [content.mimeType, JSON.parse(content.text)])).toEqual([
      ["text/plain", value],
      ["application/json", value],
    ]);
    const part = (await client.callTool({
      name: "read_result",
      arguments: { id: idIn(answer), path: "items[7].title" },
    })) as Given;
    expect(part.content).toEqual([{ type: "text", text: '"Issue number 7"' }]);
  });
});

describe("resources/read", () => {
  test("gives text, data, embedded resources and structured content as the server sent them", async () => {
    const { goblin, folder } = await startScene(spill);
    const client = await session(goblin.url);
    const filler = "\\u00e9\\n\\ud83d\\ude00 ".repeat(1000);
    const answer = await client.returningText(
      `{"content":[{"type":"text","text":"${filler}"},{"type":"image","data":"aGk=","mimeType":"image/png"},` +
        '{"type":"resource","resource":{"uri":"x:///a","text":"b","n":12345678901234567890}},' +
        '{"type":"resource_link","uri":"x:///c","name":"c"}],"structuredContent":{"n":12345678901234567890}}',
    );
    const uri = `goblin://result/${idIn(answer)}`;
    const { text } = await client.client.call("resources/read", { uri }, 77);
    expect(text).toBe(
      `{"jsonrpc":"2.0","id":77,"result":{"contents":[{"uri":"${uri}","mimeType":"text/plain","text":"${filler}"},` +
        `{"uri":"${uri}","mimeType":"image/png","blob":"aGk="},` +
        '{"uri":"web+x:///a","text":"b","n":12345678901234567890},' +
        `{"uri":"${uri}","mimeType":"application/json","text":"{\\"type\\":\\"resource_link\\",\\"uri\\":\\"web+x:///c\\",\\"name\\":\\"c\\"}"},` +
        `{"uri":"${uri}","mimeType":"application/json","text":"{\\"n\\":12345678901234567890}"}]}}`,
    );
    // It is small enough for memory.
    expect(existsSync(folder)).toBe(false);
  });

  test("works without a session", async () => {
    const { goblin } = await startScene(spill);
    const client = stateless(goblin.url);
    const result = textResult("word ".repeat(5000));
    const { message } = await client.call("tools/call", { name: "web_raw", arguments: { result } });
    expect(message.result.resultType).toBe("complete");
    const read = await client.call("resources/read", { uri: linkIn(message.result).uri });
    expect(read.message.result.contents).toEqual([
      { uri: linkIn(message.result).uri, mimeType: "text/plain", text: "word ".repeat(5000) },
    ]);
  });
});

describe("where it is on", () => {
  test("a tool's settings replace the gateway's, key by key", async () => {
    const overrides = { echo: { results: { over: "pass" } }, big: { results: { maxTokens: 100_000 } } };
    const { goblin } = await startScene(
      { results: { over: "spill", maxTokens: 500 } },
      { entry: { tools: { overrides } } },
    );
    const client = await session(goblin.url);
    const text = "word ".repeat(5000);
    expect((await client.returning(textResult(text))).content).toHaveLength(3);
    expect((await client.tool("web_echo", { text })).structuredContent).toEqual({ text });
    expect((await client.tool("web_big", { bytes: 10_000 })).content[0].text).toHaveLength(10_000);
  });

  test("read_result is listed only where a visible tool may spill, and cannot be called elsewhere", async () => {
    const { goblin } = await startScene({
      profiles: { few: { servers: ["*"], tools: { allow: ["echo"] } } },
      mcpServers: {},
    });
    expect(await (await session(goblin.url)).names()).not.toContain("read_result");
    await disposeAll();
    const overrides = { raw: { results: { over: "spill" } } };
    const scene = await startScene(
      { profiles: { few: { servers: ["*"], tools: { allow: ["echo"] } } } },
      { entry: { tools: { overrides } } },
    );
    const all = await session(scene.goblin.url);
    expect(await all.names()).toContain("read_result");
    const few = await session(`${scene.goblin.url}/p/few`);
    expect(await few.names()).toEqual(["web_echo"]);
    expect((await few.call("tools/call", { name: "read_result", arguments: { id: "x" } })).error.message).toBe(
      "Tool not found: read_result",
    );
  });

  test("the default passes everything on, byte for byte, with its output schema", async () => {
    const { goblin } = await startScene({});
    const client = await session(goblin.url);
    const text = `{"content":[{"type":"text","text":"${"word ".repeat(50_000)}"}] , "structuredContent" : {"a": 1.0}}`;
    const answer = await client.client.call("tools/call", { name: "web_raw", arguments: { text } }, 9);
    expect(answer.text).toBe(`{"jsonrpc":"2.0","id":9,"result":${text}}`);
    const { tools } = (await client.call("tools/list")).result;
    expect(tools.find(({ name }: Given) => name === "web_add").outputSchema.required).toEqual(["sum"]);
  });
});
