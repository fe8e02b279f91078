import fc from "fast-check";
import { expect, test } from "vitest";
import { EventStream } from "../../../../src/lib/http-client/event-stream.ts";

function read(text: string, places: readonly number[] = [], cap = 1000) {
  const events: (string | undefined)[][] = [];
  const retries: number[] = [];
  const overflows: string[] = [];
  const stream = new EventStream({
    cap,
    event: ({ event, data, id }) => events.push([event, data.toString("utf8"), id]),
    retry: (ms) => retries.push(ms),
    overflow: (head) => overflows.push(head),
  });
  const bytes = Buffer.from(text);
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  sorted.slice(1).forEach((to, i) => {
    stream.push(bytes.subarray(sorted[i], to));
  });
  return { events, retries, overflows };
}

test("events, ids, comments, retry and both line endings, however the bytes are cut", () => {
  const text = [
    ": hello\n\n",
    "retry: 1500\nid: 1\ndata: é one\n\n",
    "event: endpoint\r\ndata:/messages?x=1\r\n\r\n",
    "data: first\ndata:\ndata:  third\nid: 2\n\n",
    "event: lonely\n\n",
    "unknown: field\ndata\n\n",
    "retry: soon\ndata: unfinished",
  ].join("");
  const wanted = {
    events: [
      ["message", "é one", "1"],
      ["endpoint", "/messages?x=1", "1"],
      ["message", "first\n\n third", "2"],
      ["message", "", "2"],
    ],
    retries: [1500],
    overflows: [],
  };
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), (places) => {
      expect(read(text, places)).toEqual(wanted);
    }),
  );
});

test("an event over the cap is dropped, in one line or in many; the next one arrives", () => {
  const line = read(`data: {"id":5,${"x".repeat(200)}\n\ndata: ok\n\n`, [], 100);
  expect(line.events).toEqual([["message", "ok", undefined]]);
  expect(line.overflows).toHaveLength(1);
  expect(line.overflows[0]).toMatch(/^\{"id":5,x/);
  const many = read(`${`data: ${"y".repeat(60)}\n`.repeat(5)}\ndata: ok\n\n`, [], 100);
  expect(many.events).toEqual([["message", "ok", undefined]]);
  expect(many.overflows).toHaveLength(1);
});

test("empty lines count: an event of nothing but them is dropped at the cap, and its start is reported once", () => {
  expect(read(`${"data:\n".repeat(100)}\n`, [], 100).events).toEqual([["message", "\n".repeat(99), undefined]]);
  const { events, overflows } = read(`${"data:\n".repeat(5000)}\ndata: ok\n\n`, [], 100);
  expect(events).toEqual([["message", "ok", undefined]]);
  expect(overflows).toEqual(["\n".repeat(96)]);
});

test("an id that is too long for a header is dropped, and an event's name is cut", () => {
  const { events } = read(`id: ${"i".repeat(5000)}\nevent: ${"e".repeat(5000)}\ndata: x\n\n`, [], 10_000);
  expect(events).toEqual([["e".repeat(256), "x", undefined]]);
});
