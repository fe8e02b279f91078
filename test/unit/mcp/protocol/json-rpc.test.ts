import { describe, expect, test } from "vitest";
import { GoblinError } from "../../../../src/mcp/protocol/errors.ts";
import {
  answerOf,
  answerText,
  classify,
  failure,
  notificationText,
  paramsText,
  rawText,
  requestText,
  withErrorCode,
  withErrorData,
} from "../../../../src/mcp/protocol/json-rpc.ts";

const kindOf = (text: string) => classify(JSON.parse(text), text);

describe("classify", () => {
  test.each([
    ['{"jsonrpc":"2.0","id":1,"method":"m"}', { kind: "request", id: 1, method: "m", params: {} }],
    ['{"jsonrpc":"2.0","id":"1","method":"m","params":{"a":1}}', { kind: "request", id: "1", params: { a: 1 } }],
    ['{"jsonrpc":"2.0","id":-3,"method":"m"}', { kind: "request", id: -3 }],
    ['{"jsonrpc":"2.0","method":"m"}', { kind: "notification", method: "m" }],
    ['{"jsonrpc":"2.0","id":1,"result":null}', { kind: "response", id: 1 }],
    ['{"jsonrpc":"2.0","id":"x","error":{}}', { kind: "response", id: "x" }],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}', { kind: "invalid", id: null }],
    ['{"jsonrpc":"2.0","id":1e400,"method":"m"}', { kind: "invalid", id: null }],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', { kind: "invalid", id: null }],
    ['{"jsonrpc":"2.0","id":true,"result":{}}', { kind: "invalid", id: null }],
    ['{"jsonrpc":"2.0","id":4}', { kind: "invalid", id: 4 }],
    ['{"jsonrpc":"2.0","id":4,"method":{}}', { kind: "invalid", id: 4 }],
    ['{"jsonrpc":"2.0","id":4,"method":"m","params":"p"}', { kind: "invalid", id: 4 }],
    ['{"id":4,"method":"m"}', { kind: "invalid", id: 4 }],
    ["[]", { kind: "invalid", id: null }],
    ["null", { kind: "invalid", id: null }],
  ])("%s", (text, wanted) => {
    expect(kindOf(text)).toMatchObject(wanted);
  });
});

test("messages are written around raw JSON", () => {
  expect(requestText(7, "m", '{"n":1.0}')).toBe('{"jsonrpc":"2.0","id":7,"method":"m","params":{"n":1.0}}');
  expect(notificationText("m")).toBe('{"jsonrpc":"2.0","method":"m"}');
  expect(notificationText("m", "{}")).toBe('{"jsonrpc":"2.0","method":"m","params":{}}');
  expect(answerText("a", { ok: true, raw: '{"n":-0}' })).toBe('{"jsonrpc":"2.0","id":"a","result":{"n":-0}}');
  expect(answerText(null, { ok: true, raw: Buffer.from("{}") })).toBe('{"jsonrpc":"2.0","id":null,"result":{}}');
  expect(paramsText('{"params": {"n":1.0} ,"x":1}')).toBe('{"n":1.0}');
  expect(paramsText('{"jsonrpc":"2.0"}')).toBe("{}");
});

describe("answers of a server", () => {
  test.each([
    ["a result", '{"id":1,"result":{"n":9007199254740993}}', { ok: true, raw: '{"n":9007199254740993}' }],
    ["a result that is null", '{"id":1,"result":null}', { ok: true, raw: "null" }],
    ["a result beside a null error", '{"result":{},"error":null}', { ok: true, raw: "{}" }],
    ["an error beside a null result", '{"result":null,"error":{"code":-1,"message":"m"}}', { ok: false, code: -1 }],
    [
      "an error",
      '{"error":{"code":-5,"message":"m","data":[1.0],"x":2}}',
      { ok: false, code: -5, raw: '{"code":-5,"message":"m","data":[1.0],"x":2}' },
    ],
    [
      "an error without a code",
      '{"error":{"message":"m","code":"E_BAD"}}',
      { ok: false, code: -32603, raw: '{"message":"m","code":-32603}' },
    ],
    ["an empty error", '{"error":{}}', { ok: false, code: -32603, raw: '{"message":"Unknown error","code":-32603}' }],
  ])("%s", (_, text, wanted) => {
    expect(answerOf(text)).toMatchObject(wanted);
  });

  test.each(["null", '"text"', "[]", "5"])("an error that is %s is still an error", (error) => {
    const answer = answerOf(`{"error":${error}}`);
    expect(answer).toMatchObject({ ok: false, code: -32603 });
    expect(JSON.parse(answer.raw as string)).toMatchObject({ code: -32603, message: expect.any(String) });
  });
});

describe("error data", () => {
  const error = (data: string) => answerOf(`{"error":{"code":-5,"message":"m"${data}}}`) as ReturnType<typeof failure>;

  test.each([
    ["", '{"data":{"serverId":"s"},"code":-5,"message":"m"}'],
    [',"data":null', '{"code":-5,"message":"m","data":{"serverId":"s"}}'],
    [',"data":{}', '{"code":-5,"message":"m","data":{"serverId":"s"}}'],
    [',"data":{"n":1.0}', '{"code":-5,"message":"m","data":{"serverId":"s","n":1.0}}'],
    [',"data":{"serverId":"its own"}', '{"code":-5,"message":"m","data":{"serverId":"its own"}}'],
    [',"data":"text"', '{"code":-5,"message":"m","data":"text"}'],
  ])("%s gets the server's id where it can", (data, wanted) => {
    expect(withErrorData(error(data), { serverId: "s" }).raw).toBe(wanted);
  });

  test("another code replaces the number only", () => {
    expect(withErrorCode(error(',"data":{"n":1.0}'), -32602)).toMatchObject({
      code: -32602,
      raw: '{"code":-32602,"message":"m","data":{"n":1.0}}',
    });
  });
});

test("a failure says its code in words, its number and what belongs to it", () => {
  const error = new GoblinError("TOOL_NOT_FOUND", "Tool not found: x", { data: { near: ["y"] } });
  expect(failure(error, { requestId: "r" })).toEqual({
    ok: false,
    code: -32602,
    symbol: "TOOL_NOT_FOUND",
    raw: '{"code":-32602,"message":"Tool not found: x","data":{"code":"TOOL_NOT_FOUND","near":["y"],"requestId":"r"}}',
  });
  expect(failure(new Error("odd"))).toMatchObject({ code: -32603, symbol: "INTERNAL_ERROR" });
  expect(failure("odd")).toMatchObject({ raw: '{"code":-32603,"message":"odd","data":{"code":"INTERNAL_ERROR"}}' });
});

test("the raw value as text", () => {
  expect(rawText(Buffer.from('{"a":"é}"}'))).toBe('{"a":"é}"}');
  expect(rawText('{"a":1}')).toBe('{"a":1}');
});
