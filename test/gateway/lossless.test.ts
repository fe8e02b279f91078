/**
 * Passing through loses nothing: what a server writes arrives as the same text, and what a client
 * writes reaches the server as the same text, but for the name. Values that JavaScript cannot hold
 * (integers past 2^53, -0, 1.0, duplicate keys) included.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type RawHttp, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { helloOf, stdioClient } from "../fixtures/stdio.ts";

const NUMBERS = [
  "0",
  "-0",
  "1.0",
  "1e2",
  "-1E-7",
  "9007199254740993",
  "-9223372036854775808",
  "1".repeat(40),
  "0.1000",
];
const KEYS = ["__proto__", "constructor", "", "type", "text", "_meta", "id", "result", "error", "name", "uri", "x-new"];
const STRINGS = [
  "",
  "\u2028\u2029",
  "😀",
  "\ud800",
  'a"b\\c',
  '"}}',
  '},"jsonrpc":"2.0","id":1}',
  "\\u0041",
  "tab\there",
];

/** A string as JSON text, with escapes that no serialiser would choose. */
const stringText = fc
  .tuple(fc.oneof(fc.constantFrom(...STRINGS), fc.string({ unit: "binary", maxLength: 8 })), fc.boolean())
  .map(([value, odd]) => {
    const text = JSON.stringify(value);
    return odd ? text.replace(/[a-z/](?=[^\\]*$)/, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`) : text;
  });
const keyText = fc.oneof(
  fc.constantFrom(...KEYS.map((key) => JSON.stringify(key)), '"na\\u006de"', '"\\u0075ri"'),
  stringText,
);
const space = fc.constantFrom("", "", "", " ", "\t ");

const { value: valueText } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "false", ...NUMBERS),
    stringText,
    fc.tuple(fc.array(tie("value"), { maxLength: 3 }), space).map(([items, s]) => `[${s}${items.join(`${s},`)}${s}]`),
    tie("object"),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(keyText, tie("value")), { maxLength: 4 }), space)
    .map(([members, s]) => `{${s}${members.map(([key, value]) => `${key}${s}:${s}${value}`).join(`${s},${s}`)}${s}}`),
}));
const objectText = valueText.filter((text) => text.startsWith("{"));

/** Now and then so large that the answer is passed on without being read. */
const padding = fc.constantFrom("", "", "", `,"padding":"${"x".repeat(20_000)}"`);
const block = fc.oneof(
  fc.tuple(stringText, valueText).map(([text, extra]) => `{"type":"text","text":${text},"x-extra":${extra}}`),
  fc.tuple(keyText, valueText).map(([key, value]) => `{"type":"hologram/2031",${key}:${value}}`),
  valueText.map((meta) => `{"type":"resource_link","uri":"nobody:///knows","name":"n","_meta":{"a":${meta}}}`),
);
const resultText = fc
  .tuple(fc.array(block, { maxLength: 3 }), objectText, objectText, valueText, padding)
  .map(
    ([blocks, meta, structured, extra, pad]) =>
      `{"content":[${blocks.join(",")}],"_meta":${meta},"structuredContent":${structured},"x-new":${extra}${pad}}`,
  );

let goblin: RunningGoblin;
let client: RawHttp;
const backends: Record<string, Scripted> = {};
const ids = ["stdio", "json", "stream", "sse"];

beforeAll(async () => {
  backends["stdio"] = await startScripted({ transport: "stdio", name: "stdio" });
  backends["json"] = await startScripted({ transport: "http", name: "json", script: { http: { framing: "json" } } });
  backends["stream"] = await startScripted({ transport: "http", name: "stream", script: { http: { framing: "sse" } } });
  backends["sse"] = await startScripted({ transport: "sse", name: "sse" });
  const mcpServers = Object.fromEntries(Object.entries(backends).map(([id, { entry }]) => [id, entry]));
  goblin = await startGoblin({ mcpServers });
  client = rawHttp(goblin.url);
  await client.initialize();
});
afterAll(disposeAll);

let lastId = 1000;

/**
 * Sends params as they are; answers what stands around the id in the answer, and the rest of its
 * text.
 */
async function sent(method: string, params: string) {
  const id = ++lastId;
  const { text } = await client.post(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
  const head = `{"jsonrpc":"2.0","id":${id},`;
  expect(text.slice(0, head.length)).toBe(head);
  return text.slice(head.length, -1);
}

describe.each(ids)("a server over %s", (id) => {
  test("its results arrive as the text that it wrote", async () => {
    await fc.assert(
      fc.asyncProperty(resultText, async (result) => {
        const given = JSON.stringify({ text: result });
        const wanted = result.replaceAll('"uri":"nobody:///knows"', `"uri":"${id}+nobody:///knows"`);
        expect(await sent("tools/call", `{"name":"${id}_raw","arguments":${given}}`)).toBe(`"result":${wanted}`);
      }),
      { numRuns: 60 },
    );
  });

  test("its errors keep code, message, data and what else they have", async () => {
    await fc.assert(
      fc.asyncProperty(stringText, objectText, valueText, async (message, data, extra) => {
        const error = (given: string): string =>
          `{"code":-32050,"message":${message},"x-new":${extra},"data":${given}}`;
        const given = JSON.stringify({ error: error(data) });
        const named = data.replace(/^\{/, /^\{\s*\}$/.test(data) ? `{"serverId":"${id}"` : `{"serverId":"${id}",`);
        expect(await sent("tools/call", `{"name":"${id}_raw","arguments":${given}}`)).toBe(`"error":${error(named)}`);
      }),
      { numRuns: 30 },
    );
  });

  test("the arguments of a call reach it as the text that the client wrote", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(objectText, objectText, async (args, meta) => {
        const params = (name: string): string =>
          `{"_meta":${meta},"na\\u006de" : "${name}","arguments":${args}, "x-new":1.0}`;
        await sent("tools/call", params(`${id}_echo`));
        seen.add(params("echo"));
      }),
      { numRuns: 30 },
    );
    const texts = (await backends[id]!.received("tools/call")).flatMap(({ raw }) => (raw === undefined ? [] : [raw]));
    const got = new Set(texts.map((text: string) => text.slice(text.indexOf('"params":') + 9, -1)));
    for (const params of seen) expect(got).toContain(params);
    expect(await backends[id]!.events("violation")).toEqual([]);
  });
});

test("tool definitions are listed as the text that the server wrote, but for the name", async () => {
  const definition = (name: string, extra: string): string =>
    `{"x-a":9007199254740993 , "name" :"${name}","inputSchema":{"type":"object","x":-0},"x-b":${extra}}`;
  await fc.assert(
    fc.asyncProperty(fc.array(valueText, { minLength: 1, maxLength: 5 }), async (extras) => {
      const tools = extras.map((extra, i) => definition(`t${i}`, extra));
      const text = `{"tools":[${tools.join(" ,")}]}`;
      backends["stdio"]!.setScript({ rules: [{ method: "tools/list", do: "result", text }] });
      await backends["stdio"]!.control("set_tools");
      const wanted = extras.map((extra, i) => definition(`stdio_t${i}`, extra)).join(",");
      await until(async () => (await sent("tools/list", "{}")).includes(wanted), { what: wanted });
    }),
    { numRuns: 8 },
  );
});

test("a JSON body with line breaks arrives whole over every way out", async () => {
  const result = '{\n  "content": [],\r\n\t"n": 1.0\n}';
  const given = JSON.stringify({ text: result });
  expect(await sent("tools/call", `{"name":"json_raw","arguments":${given}}`)).toBe(`"result":${result}`);
  // An event has one line for its data; line breaks between JSON tokens may become spaces there.
  const answer = await client.send({
    headers: { accept: "text/event-stream" },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"json_raw","arguments":${given}}}`,
  });
  expect(answer.events.map(({ data }) => data)).toEqual([
    '{"jsonrpc":"2.0","id":1,"result":{   "content": [],  \t"n": 1.0 }}',
  ]);
});

test("over stdin and stdout too, with line separators of Unicode inside of strings", async () => {
  const { input, lines, answer } = stdioClient(goblin.gateway);
  input.write(`${JSON.stringify(helloOf(0))}\r\n`);
  await answer(0);
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const result = '{"content":[],"odd":"a\u2028b\u2029c","n":9007199254740993}';
  const params = `{"name":"sse_raw","arguments":{"ignored":"\u2028","text":${JSON.stringify(result)}}}`;
  const text = Buffer.from(`{"jsonrpc":"2.0","id":"one","method":"tools/call","params":${params}}\n`);
  // Cut inside of a character.
  input.write(text.subarray(0, text.indexOf(0xe2) + 1));
  input.write(text.subarray(text.indexOf(0xe2) + 1));
  await answer("one");
  expect(lines[1]).toBe(`{"jsonrpc":"2.0","id":"one","result":${result}}`);
});
