/**
 * A result as 2026-07-28 has it: what is missing is put in front, what is there stays where it is,
 * and who answered is always the gateway.
 */
import { describe, expect, test } from "vitest";
import { toModern } from "../../../src/front/modern/result.ts";
import { rawText } from "../../../src/mcp/protocol/json-rpc.ts";

const ME = '{"name":"goblin"}';
const KEY = "io.modelcontextprotocol/serverInfo";
const INFO = `"${KEY}":${ME}`;
const HINTS = { ttlMs: 5, cacheScope: "private" } as const;

function marked(method: string, raw: string | Buffer): string {
  const answer = toModern({ ok: true, raw }, { method, identity: ME, hints: HINTS });
  return answer.ok ? rawText(answer.raw) : "";
}

describe("a result", () => {
  test.each([
    ["nothing", "tools/call", "{}", `{"resultType":"complete","_meta":{${INFO}}}`],
    ["text instead of members", "tools/call", '"text"', '"text"'],
    ["a list instead of members", "tools/call", '["resultType"]', '["resultType"]'],
    ["no marks", "tools/call", '{"content":[]}', `{"resultType":"complete","_meta":{${INFO}},"content":[]}`],
    ["its kind", "tools/call", '{"resultType":"x","content":[]}', `{"_meta":{${INFO}},"resultType":"x","content":[]}`],
    [
      "questions, which nobody may keep",
      "resources/read",
      '{"resultType":"input_required","inputRequests":{}}',
      `{"_meta":{${INFO}},"resultType":"input_required","inputRequests":{}}`,
    ],
    [
      "the word elsewhere",
      "tools/call",
      '{"a":"\\"resultType\\""}',
      `{"resultType":"complete","_meta":{${INFO}},"a":"\\"resultType\\""}`,
    ],
    [
      "its own meta",
      "tools/call",
      '{"a":1, "_meta": {"b":2} }',
      `{"resultType":"complete","a":1, "_meta": {${INFO},"b":2} }`,
    ],
    [
      "another's name",
      "tools/call",
      `{"_meta":{"${KEY}":{"name":"x"},"b":2}}`,
      `{"resultType":"complete","_meta":{${INFO},"b":2}}`,
    ],
    [
      "invalid meta",
      "tools/call",
      '{"resultType":"complete","_meta":null}',
      `{"resultType":"complete","_meta":{${INFO}}}`,
    ],
    [
      "meta twice",
      "tools/call",
      '{"_meta":{"a":1},"_meta":{"b":2}}',
      `{"resultType":"complete","_meta":{${INFO},"a":1},"_meta":{${INFO},"b":2}}`,
    ],
    [
      "no hints",
      "resources/read",
      '{"contents":[]}',
      `{"resultType":"complete","ttlMs":5,"cacheScope":"private","_meta":{${INFO}},"contents":[]}`,
    ],
    [
      "one hint",
      "resources/read",
      '{"ttlMs":9,"resultType":"complete"}',
      `{"cacheScope":"private","_meta":{${INFO}},"ttlMs":9,"resultType":"complete"}`,
    ],
    [
      "all",
      "resources/read",
      `{"_meta":{},"ttlMs":9,"cacheScope":"public","resultType":"complete"}`,
      `{"_meta":{${INFO}},"ttlMs":9,"cacheScope":"public","resultType":"complete"}`,
    ],
  ])("that has %s", (_, method, given, expected) => {
    expect(marked(method, given)).toBe(expected);
    expect(marked(method, Buffer.from(given))).toBe(expected);
  });
});
