/**
 * A large message is read in slices, with the result of reading it at once: no step parses or scans
 * more than a part of it, whatever it is made of.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposeUris, exposeUrisInSlices } from "../../../../src/core/routing/rewrite.ts";
import { scanInSlices, scanValue } from "../../../../src/lib/json/json-scan.ts";
import { elementsInSlices, includesInSlices, membersInSlices } from "../../../../src/lib/json/json-slices.ts";
import { elementSpans, memberSpan } from "../../../../src/lib/json/json-text.ts";
import { finish, type Sliced } from "../../../../src/lib/timing/slices.ts";
import { type Frame, readFrame, readLargeFrame } from "../../../../src/mcp/protocol/frame.ts";
import { rawText } from "../../../../src/mcp/protocol/json-rpc.ts";
import { runs, variants } from "../../../fixtures/thorough.ts";

const MB = 1024 * 1024;

/** What a server may fill megabytes with. */
const dense: Record<string, string> = {
  arrays: "[],",
  objects: '{"uri":"a:b"},',
  numbers: "1,",
  strings: '"",',
  escapes: '"\\\\\\"\\u00e9",',
  "line breaks": '"é",\n\t',
  "a long string": `"${"x".repeat(300_000)}\\n${"é".repeat(100_000)}",`,
};
const filled = (part: string, bytes: number): string => `[${part.repeat(Math.ceil(bytes / part.length))}0]`;

function steps(work: Sliced<unknown>): number {
  let count = 0;
  for (let step = work.next(); !step.done; step = work.next()) count++;
  return count;
}

/** Makes answers in bytes and in text comparable. */
function plain(read: () => Frame): unknown {
  try {
    const frame = read();
    if (frame.kind !== "response" || !frame.answer.ok) return frame;
    return { ...frame, answer: { ok: true, raw: rawText(frame.answer.raw) } };
  } catch {
    return "not JSON";
  }
}

const kinds = variants(["objects", "escapes", "a long string"], ["arrays", "numbers", "strings", "line breaks"]);

describe.each(kinds)("%s", (kind) => {
  const part = dense[kind]!;
  const list = filled(part, 2 * MB);

  it("are scanned in parts, to the same end", () => {
    for (const text of [list, `{"a":${list},"b" : [ ] }`]) {
      const bytes = Buffer.from(text);
      const end = scanValue(bytes, 0);
      expect(end).toBe(bytes.length);
      expect(finish(scanInSlices(bytes, 0))?.end).toBe(end);
    }
    const bytes = Buffer.from(list);
    expect(steps(scanInSlices(bytes, 0))).toBeGreaterThanOrEqual(2);
    bytes[bytes.length - 2] = 44;
    expect(finish(scanInSlices(bytes, 0))).toBeUndefined();
  });

  it("are a result in every order of members, and are never parsed", () => {
    for (const text of [
      `{"jsonrpc":"2.0","id":7,"result":{"content":${list}}}`,
      `{"id":7, "result" : {"content":${list}}, "jsonrpc":"2.0"}`,
      `{"\\u0072esult":{"content":${list}},"id":7,"jsonrpc":"2.0"}`,
    ]) {
      const frame = finish(readLargeFrame(Buffer.from(text)));
      if (frame.kind !== "response" || !frame.answer.ok) throw new Error(`${frame.kind}`);
      expect(frame.id).toBe(7);
      expect(Buffer.isBuffer(frame.answer.raw)).toBe(true);
      expect(rawText(frame.answer.raw)).toBe(`{"content":${list}}`);
    }
  });

  it("are looked through for members, elements and URIs like a small text", () => {
    const text = `{"a":1,"content":${list},"b":{"uri":"x"}}`;
    expect(finish(membersInSlices(text, 0, ["content", "b", "c"]))).toEqual([
      memberSpan(text, 0, "content"),
      memberSpan(text, 0, "b"),
      undefined,
    ]);
    const { start } = memberSpan(text, 0, "content")!;
    expect(finish(elementsInSlices(text, start, 100))).toEqual(elementSpans(text, start, 100));
    const expose = (_id: string, uri: string): string => `s+${uri}`;
    const context = { serverId: "s", resources: { expose, exposeUnlisted: expose } };
    expect(finish(exposeUrisInSlices(text, "tools/call", context))).toBe(exposeUris(text, "tools/call", context));
    expect(finish(includesInSlices(text, ['"b":{'])) && !finish(includesInSlices(text, ['"nothing"']))).toBe(true);
  });
});

it("anything but a result that has too many values is refused instead of parsed", () => {
  const list = filled("[],", 2 * MB);
  const reason = expect.stringContaining("too many values");
  const read = (text: string) => finish(readLargeFrame(Buffer.from(text)));
  expect(read(`{"jsonrpc":"2.0","id":7,"error":{"code":1,"data":${list}}}`)).toEqual({
    kind: "broken",
    ids: [7],
    reason,
  });
  expect(read(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":${list}}}`)).toEqual({
    kind: "broken",
    ids: [],
    reason,
  });
  expect(read(list)).toEqual({ kind: "broken", ids: [], reason });
  const text = `{"jsonrpc":"2.0","method":"m","params":{"x":"${"x".repeat(2 * MB)}"}}`;
  expect(read(text)).toMatchObject({ kind: "notification", method: "m" });
});

it("reads every message like the reader of small ones", () => {
  const member = fc.constantFrom(
    '"jsonrpc":"2.0"',
    '"id":1',
    '"id":"x"',
    '"result":{"a":[1,{"result":2}]}',
    '"result":null',
    '"result":[]',
    '"error":{"code":1,"message":"m"}',
    '"error":null',
    '"method":"m"',
    '"params":{}',
    '"x":"\\"result\\":{}"',
    "1",
  );
  const text = fc.oneof(
    fc.array(member, { maxLength: 6 }).map((members) => `{${members.join(",")}}`),
    fc.array(member, { maxLength: 3 }).map((members) => ` [{${members.join(" , ")}} ] `),
    fc.json(),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (message) => {
      const bytes = Buffer.from(message);
      expect(plain(() => finish(readLargeFrame(bytes)))).toEqual(plain(() => readFrame(bytes)));
    }),
    { numRuns: runs(500, 2000) },
  );
});
