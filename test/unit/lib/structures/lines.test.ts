import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eachLine, idAtEdges, LineSplitter } from "../../../../src/lib/structures/lines.ts";

function split(chunks: readonly Buffer[], cap = 1000) {
  const lines: string[] = [];
  const overflows: [string, string][] = [];
  const splitter = new LineSplitter({
    cap,
    line: (line) => lines.push(line.toString("utf8")),
    overflow: (head, tail) => overflows.push([head, tail]),
  });
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, overflows };
}

/** The bytes, cut at these places. */
function cutUp(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((to, i) => bytes.subarray(sorted[i], to));
}

test("lines come out the same however the bytes are cut", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\u2028", "\t", "\r"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(), { maxLength: 12 }), (lines, places) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      expect(split(cutUp(bytes, places)).lines).toEqual(lines.map((text) => text.replace(/\r$/, "")));
    }),
    { numRuns: 500 },
  );
});

test("what has no end yet is kept, not reported", () => {
  expect(split([Buffer.from("one\ntwo")]).lines).toEqual(["one"]);
});

test("a line over the cap is dropped as a whole, however it is cut; the ones around it are not", () => {
  const long = `{"jsonrpc":"2.0","id":7,${"x".repeat(300)}"end"}`;
  const bytes = Buffer.from(`before\n${long}\nafter\n`);
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 8 }), (places) => {
      const { lines, overflows } = split(cutUp(bytes, places), 100);
      expect(lines).toEqual(["before", "after"]);
      expect(overflows).toHaveLength(1);
      const [head, tail] = overflows[0]!;
      expect(tail.endsWith('x"end"}')).toBe(true);
      if (places.length === 0) expect(head.startsWith('{"jsonrpc":"2.0","id":7,xxx')).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a line of exactly the cap passes", () => {
  expect(split([Buffer.from(`${"x".repeat(100)}\n${"y".repeat(101)}\n`)], 100).lines).toEqual(["x".repeat(100)]);
});

test("the id of a dropped answer is read from its edges, if it is there", () => {
  expect(idAtEdges('{"jsonrpc":"2.0","id":12,"result":{', "xx}}")).toBe(12);
  expect(idAtEdges('{"result":{', 'x},"jsonrpc":"2.0","id":13}')).toBe(13);
  expect(idAtEdges('{"jsonrpc":"2.0","id":"text","result":{', "xx}}")).toBeUndefined();
  expect(idAtEdges('{"jsonrpc":"2.0","method":"m","params":{', "}}")).toBeUndefined();
});

test("a stream's lines end at line feeds alone, also the last one, and then its end is told", async () => {
  const told: (string | undefined)[] = [];
  const text = Buffer.from('"a\u2028b"\r\n"ü\u2029"\nlast');
  const pieces = [text.subarray(0, 4), text.subarray(4, 13), text.subarray(13)];
  await new Promise<void>((resolve) => {
    eachLine(
      Readable.from(pieces),
      (line) => told.push(line),
      () => resolve(void told.push(undefined)),
    );
  });
  expect(told).toEqual(['"a\u2028b"', '"ü\u2029"', "last", undefined]);
});
