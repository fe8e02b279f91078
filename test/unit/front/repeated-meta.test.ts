/** A `_meta` that repeats is not parsed again, and nobody can tell. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forgetMeta, type MetaConnection, parseMessage } from "../../../src/front/bodies/repeated-meta.ts";
import { memberSpan } from "../../../src/lib/json/json-text.ts";
import { classify, requestParams } from "../../../src/mcp/protocol/json-rpc.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  "io.modelcontextprotocol/clientInfo": { name: "client", version: "1.0.0" },
};
const TEXT = JSON.stringify(META);

const request = (params: string, id = 1): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;

/** A connection that knows the `_meta`, at the end of its params. */
function knowing(): MetaConnection {
  const connection: MetaConnection = {};
  parseMessage(request(`{"name":"a","_meta":${TEXT}}`), connection);
  return connection;
}

test("a repeated _meta is shared and its place is known, whatever else differs", () => {
  const connection = knowing();
  const texts = [
    request(`{"name":"a","_meta":${TEXT}}`),
    request(`{"name":"another","arguments":{"n":12345678901234567890,"t":"\\u00e9\\n"},"_meta":${TEXT}}`, 1000),
    // Not where it was, neither from the start nor from the end: learned again.
    request(`{"_meta":${TEXT},"name":"a"}`),
    request(`{"_meta":${TEXT},"name":"another"}`),
  ];
  const parsed = texts.map((text) => parseMessage(text, connection));
  expect(parsed.map(({ value }) => value)).toEqual(texts.map((text) => JSON.parse(text)));
  expect(parsed.map(({ metaAt }) => metaAt !== undefined)).toEqual([true, true, false, true]);
  const metas = parsed.map(({ value }) => (value as { params: { _meta: unknown } }).params._meta);
  expect(metas[1]).toBe(metas[0]);
  expect(Object.isFrozen(metas[0])).toBe(true);
  for (const { text, metaAt } of parsed) if (metaAt) expect(text.slice(metaAt.start, metaAt.end)).toBe(TEXT);
});

describe("the same characters elsewhere are not taken for it", () => {
  const messages = {
    "an argument": request(`{"name":"a","_meta":null,"arguments":{"_meta":${TEXT}}}`),
    "an argument, at the same place": `{"jsonrpc":"2.0","id":1,"params":{"name":"a","_meta":null,"arguments":{"_meta":${TEXT}}}`,
    "beside the params": `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":null},"x":{"_meta":${TEXT}}}`,
    "another member": request(`{"name":"a","_meto":${TEXT}}`),
    "a second _meta": request(`{"_meta":{"a":1},"_meta":${TEXT}}`),
    "params in a list": `{"jsonrpc":"2.0","id":1,"method":"x","params":[{"_meta":${TEXT}}]}`,
    "a list of messages": `[{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":${TEXT}}}]`,
  };
  test.each(Object.entries(messages))("%s", (_, text) => {
    const connection = knowing();
    const both = [attempt(() => parseMessage(text, connection).value), attempt(() => JSON.parse(text))];
    expect(both[0]).toEqual(both[1]);
  });

  const broken = {
    "a part of a number": request(`{"name":"a","_meta":${TEXT}.5}`).slice(0, -3).concat("}}"),
    "an end that is missing": request(`{"name":"a","_meta":${TEXT}}`).slice(0, -1),
    "a start that is missing": request(`{"name":"a","_meta":${TEXT}}`).slice(1),
    "a brace too many": `${request(`{"name":"a","_meta":${TEXT}}`)}}`,
    "a comma too many": request(`{"name":"a",,"_meta":${TEXT}}`),
  };
  test.each(Object.entries(broken))("%s is an error about the message itself", (_, text) => {
    const connection = knowing();
    const message = attempt(() => JSON.parse(text));
    expect(message).toBeInstanceOf(SyntaxError);
    expect(attempt(() => parseMessage(text, connection))).toEqual(message);
  });
});

test("every message is what JSON.parse makes of it, and its params are found as without the known place", () => {
  const metas = fc.constantFrom(
    TEXT,
    TEXT.replace("1.0.0", "2.0.0"),
    `{"progressToken":7,${TEXT.slice(1)}`,
    ` { ${TEXT.slice(1)}`,
    "{}",
    "null",
    '"x"',
  );
  const member = fc.oneof(
    fc.tuple(fc.constantFrom("name", "uri", "arguments", "_meta", "x"), fc.json({ maxDepth: 2 })),
    fc.tuple(fc.constantFrom("_meta", "arguments"), metas),
    fc.tuple(
      fc.constant("arguments"),
      metas.map((meta) => `{"_meta":${meta}}`),
    ),
  );
  const params = fc
    .array(member, { maxLength: 4 })
    .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(",")}}`);
  const texts = fc.array(
    params.map((text) => request(text)),
    { minLength: 2, maxLength: 6 },
  );
  fc.assert(
    fc.property(texts, (all) => {
      const connection: MetaConnection = {};
      for (const text of [...all, ...all]) {
        const { value, metaAt } = parseMessage(text, connection);
        expect(value).toEqual(JSON.parse(text));
        expect(attempt(() => requestParams(text, metaAt))).toEqual(attempt(() => requestParams(text)));
        const message = classify(value, text, metaAt);
        if (message.kind !== "request" || !metaAt) continue;
        const at = memberSpan(text, 0, "params")!;
        expect(memberSpan(text, at.start, "_meta")).toEqual(metaAt);
      }
    }),
    { numRuns: 500 },
  );
});

test("a connection whose _meta always differs is left alone, and so are others without one", () => {
  const connection: MetaConnection = {};
  const own = (n: number): string => request(`{"name":"a","_meta":{"progressToken":${n},${TEXT.slice(1)}}`);
  for (let n = 1; n <= 10; n++) expect(parseMessage(own(n), connection).metaAt).toBeUndefined();
  expect(parseMessage(own(10), connection).metaAt).toBeUndefined();
  expect(parseMessage(own(10), connection).metaAt).toBeUndefined();
  const legacy: MetaConnection = {};
  parseMessage(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"text":"hello"}}}`,
    legacy,
  );
  expect(Object.getOwnPropertySymbols(legacy)).toEqual([]);
});

describe("what a connection keeps is bounded", () => {
  const metas = {
    "a long one": `{"a":"${"x".repeat(1100)}"}`,
    "many objects": `{"a":[${Array.from({ length: 60 }, () => "{}").join(",")}]}`,
    "many lists": `{"a":${"[".repeat(60)}${"]".repeat(60)}}`,
    "a list": `["${"x".repeat(100)}"]`,
  };
  test.each(Object.entries(metas))("%s is not remembered", (_, meta) => {
    const connection: MetaConnection = {};
    const text = request(`{"name":"a","_meta":${meta}}`);
    for (let n = 0; n < 3; n++) expect(parseMessage(text, connection).metaAt).toBeUndefined();
  });

  test("nothing stays where no other request is expected, and then it is learned again", () => {
    const connection = knowing();
    forgetMeta(connection);
    const text = request(`{"name":"a","_meta":${TEXT}}`);
    expect(parseMessage(text, connection).metaAt).toBeUndefined();
    expect(parseMessage(text, connection).metaAt).toBeDefined();
  });
});

test("a connection on which it is only a part of something else is left alone", () => {
  const connection = knowing();
  const elsewhere = request(`{"name":"a","_meta":null,"x":${TEXT}}`);
  for (let n = 0; n < 5; n++) expect(parseMessage(elsewhere, connection).value).toEqual(JSON.parse(elsewhere));
  expect(parseMessage(request(`{"name":"a","_meta":${TEXT}}`), connection).metaAt).toBeUndefined();
});

test("A-H1: a _meta that servers could read differently is never known, so that it is searched each time", () => {
  for (const twin of ['"ProgressToken":5', '"progress\\u0054oken":5,"progressToken":6']) {
    const connection: MetaConnection = {};
    const message = request(`{"name":"a","_meta":{${twin},${TEXT.slice(1)}}`);
    for (let n = 0; n < 3; n++) expect(parseMessage(message, connection).metaAt).toBeUndefined();
  }
});

test("a text that UTF-8 cannot carry is not taken for another", () => {
  const connection: MetaConnection = {};
  const message = (first: string): string => request(`{"_meta":{"a":"${first}${"p".repeat(70)}"}}`);
  for (const first of ["\ud800", "\ufffd", "\ud800"]) {
    expect(parseMessage(message(first), connection).value).toEqual(JSON.parse(message(first)));
  }
});

function attempt<T>(run: () => T): T | unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
