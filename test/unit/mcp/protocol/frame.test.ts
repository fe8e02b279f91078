import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toModern } from "../../../../src/front/modern/result.ts";
import { type Frame, readFrame } from "../../../../src/mcp/protocol/frame.ts";
import { answerText, rawText } from "../../../../src/mcp/protocol/json-rpc.ts";

const read = (text: string): Frame => readFrame(Buffer.from(text));
const PAD = "é".repeat(20_000);

/**
 * A response with small or large result, in the two orders that servers write, with odd spacing,
 * with members that follow.
 */
const shapes: Record<string, (id: number, result: string) => string> = {
  "id first": (id, result) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
  "result first": (id, result) => `{"result":${result},"jsonrpc":"2.0","id":${id}}`,
  "result first, id before the version": (id, result) => `{"result":${result},"id":${id},"jsonrpc":"2.0"}`,
  "version, result, id": (id, result) => `{"jsonrpc":"2.0","result":${result},"id":${id}}`,
  spaced: (id, result) => `{ "jsonrpc": "2.0", "id": ${id}, "result": ${result} }`,
};

describe.each(Object.entries(shapes))("%s", (_, shape) => {
  test.each([
    ["small", ""],
    ["large", PAD],
  ])("a %s result comes out as it is", (_size, pad) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.dictionary(fc.string(), fc.jsonValue()), (id, value) => {
        const result = JSON.stringify({ ...value, pad, n: 0 }).replace(/"n":0\}$/, '"n":9007199254740993}');
        const frame = read(shape(id, result));
        if (frame.kind !== "response" || !frame.answer.ok) throw new Error("not an answer");
        expect(frame.id).toBe(id);
        expect(rawText(frame.answer.raw)).toBe(result);
        expect(JSON.parse(answerText("client", frame.answer))).toEqual({
          jsonrpc: "2.0",
          id: "client",
          result: JSON.parse(result),
        });
      }),
      { numRuns: pad ? 20 : 50 },
    );
  });

  test.each(['"},\\"jsonrpc\\":\\"2.0\\",\\"id\\":9}"', '"\\"}}"', '{"id":9,"jsonrpc":"2.0","result":{}}'])(
    "text in the result that looks like an envelope is only text: %s",
    (odd) => {
      for (const pad of ["", PAD]) {
        const result = `{"pad":"${pad}","odd":${odd}}`;
        const frame = read(shape(5, result));
        if (frame.kind !== "response" || !frame.answer.ok) throw new Error("not an answer");
        expect([frame.id, rawText(frame.answer.raw)]).toEqual([5, result]);
      }
    },
  );
});

test.each(["", PAD])("members after the result do not become part of it", (pad) => {
  const frame = read(`{"jsonrpc":"2.0","id":3,"result":{"pad":"${pad}"},"x-trace":{"a":1}}`);
  if (frame.kind !== "response" || !frame.answer.ok) throw new Error("not an answer");
  expect(rawText(frame.answer.raw)).toBe(`{"pad":"${pad}"}`);
  expect(JSON.parse(answerText(1, frame.answer)).result).toEqual({ pad });
});

test.each(["", PAD])("errors, requests and notifications of any size are read as what they are", (pad) => {
  expect(read(`{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"${pad}"}}`)).toMatchObject({
    kind: "response",
    id: 4,
    answer: { ok: false, code: -1 },
  });
  expect(read(`{"jsonrpc":"2.0","id":4,"method":"m","params":{"pad":"${pad}"}}`)).toMatchObject({
    kind: "request",
    id: 4,
  });
  expect(read(`{"jsonrpc":"2.0","method":"m","params":{"pad":"${pad}"}}`)).toMatchObject({ kind: "notification" });
  expect(read(`{"jsonrpc":"2.0","id":"text","result":{"pad":"${pad}"}}`)).toMatchObject({
    kind: "response",
    id: "text",
  });
});

describe.each([
  ["small", ""],
  ["large", PAD],
])("a %s answer that can be read in two ways", (_, pad) => {
  const result = `{"pad":"${pad}"}`;

  test.each([
    [[3, 700], `{"jsonrpc":"2.0","id":3,"result":${result},"id":700}`],
    [[700, 3], `{"result":${result},"id":700,"jsonrpc":"2.0","id":3}`],
    [[700, 3], `{"result":${result},"\\u0069\\u0064":700,"jsonrpc":"2.0","id":3}`],
    [[3], `{"jsonrpc":"2.0","id":3,"result":{},"result":${result}}`],
    [[3], `{"result":${result},"result":{},"jsonrpc":"2.0","id":3}`],
    [[3], `{"jsonrpc":"2.0","id":3,"error":{"code":1},"error":{"code":2,"data":${result}}}`],
    [[3], `{"result":${result},"jsonrpc":"2.0","jsonrpc":"2.0","id":3}`],
    [[3], `{"jsonrpc":"2.1","id":3,"result":${result}}`],
    [[3], `{"jsonrpc":"2.0","id":3,"pad":${result}}`],
  ])("is nobody's, and says whose it may be: %j", (ids, text) => {
    expect(read(text)).toMatchObject({ kind: "broken", ids });
  });

  test.each([
    `{"jsonrpc":"2.0","id":3,"result":${result}}}`,
    `{"jsonrpc":"2.0","id":3,"result":${result}},{"id":4}`,
    `{"jsonrpc":"2.0","id":03,"result":${result}}`,
    `{"result":${result},"jsonrpc":"2.0","id":03}`,
    `{"result":${result},"jsonrpc":"2.0","id":3}]`,
    `{"jsonrpc":"2.0","id":3,"result":{"a":tru,"pad":${result}}}`,
    `{"result":{"a":"\u0001","pad":${result}},"jsonrpc":"2.0","id":3}`,
    `{"jsonrpc":"2.0","id":3,"result":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)},"pad":${result}}}`,
    `{"method":"m","jsonrpc":"2.0","params":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)},"pad":${result}}}`,
  ])("is no message if it is no JSON", (text) => {
    expect(() => read(text)).toThrow();
  });

  test.each([
    ['{"jsonrpc":"2.0","id":3,"result":{"x":"', '"}}'],
    ['{"result":{"x":"', '"},"jsonrpc":"2.0","id":3}'],
    ['{"jsonrpc":"2.0","method":"m","params":{"x":"', '"}}'],
    ['{"jsonrpc":"2.0","id":3,"result":{"x":"\ufffd', '"}}'],
  ])("is no message if it is no UTF-8: %s", (head, tail) => {
    const bytes = (odd: number[]) => Buffer.concat([Buffer.from(head + pad), Buffer.from(odd), Buffer.from(tail)]);
    expect(() => readFrame(bytes([0xff]))).toThrow();
    expect(() => readFrame(bytes([0xed, 0xa0, 0x80]))).toThrow();
    expect(() => readFrame(bytes([0xef, 0xbf, 0xbd]))).not.toThrow();
  });
});

test("a result of blanks is no member before the ones that are put in", () => {
  const frame = read(`{"jsonrpc":"2.0","id":3,"result":{${" ".repeat(30_000)}}}`);
  if (frame.kind !== "response" || !frame.answer.ok) throw new Error("not an answer");
  const marks = { method: "tools/call", identity: "{}", hints: { ttlMs: 0, cacheScope: "private" as const } };
  const marked = toModern(frame.answer, marks);
  expect(JSON.parse(answerText(1, marked)).result.resultType).toBe("complete");
});

test("what is no message is invalid, what is no JSON throws", () => {
  expect(read("[]").kind).toBe("invalid");
  expect(read('{"id":1,"method":"m"}').kind).toBe("invalid");
  expect(read('{"id":null,"error":{}}').kind).toBe("invalid");
  expect(read('{"id":1,"result":{}}').kind).toBe("broken");
  expect(() => read("{")).toThrow();
  expect(() => read("")).toThrow();
});
