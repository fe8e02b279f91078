import { describe, expect, test } from "vitest";
import { Outbox, type Sink } from "../../../../src/mcp/outbound/outbox.ts";
import { UnreadBudget } from "../../../../src/mcp/outbound/unread-budget.ts";

const note = (n: number): string => `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":${n}}}`;
const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const answer = (n: number, pad = ""): string => `{"jsonrpc":"2.0","id":${n},"result":{"pad":"${pad}"}}`;

const struck: string[] = [];
const config = { current: { limits: { unreadBytes: 67_108_864 } } };
const budget = () => UnreadBudget.of({ config, onLimit: (limit) => void struck.push(limit) });

/** A stream that takes `room` events before it is full. */
function sink(room = Number.POSITIVE_INFINITY) {
  const events: [id: string, text: string][] = [];
  const state = { room, ended: 0, cuts: 0 };
  const made: Sink = {
    get isFull() {
      return state.room <= 0;
    },
    write(text, id) {
      if (state.room <= 0) throw new Error("written to while it is full");
      state.room--;
      events.push([id ?? "", text]);
    },
    end: () => {
      state.ended++;
    },
    cut: () => void state.cuts++,
  };
  return { sink: made, events, state };
}

describe("an outbox", () => {
  test("numbers its events and keeps their order", () => {
    const outbox = new Outbox({ name: "7", budget: budget() });
    const { sink: stream, events } = sink();
    outbox.push(note(1));
    outbox.open(stream, undefined);
    outbox.push(note(2));
    expect(events).toEqual([
      ["7-1", note(1)],
      ["7-2", note(2)],
    ]);
  });

  test("keeps what a full stream does not take until there is room", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    const { sink: stream, events, state } = sink(1);
    outbox.open(stream, undefined);
    for (const n of [1, 2, 3]) outbox.push(note(n));
    expect(events).toHaveLength(1);
    state.room = 2;
    outbox.drained();
    expect(events.map(([id]) => id)).toEqual(["0-1", "0-2", "0-3"]);
  });

  test("a stream that comes back gets what its client has not seen, once", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    const first = sink();
    outbox.open(first.sink, undefined);
    for (const n of [1, 2, 3]) outbox.push(note(n));
    outbox.closed(first.sink);
    expect(outbox.isOpen).toBe(false);
    outbox.push(note(4));
    const second = sink();
    outbox.open(second.sink, "0-1");
    expect(second.events.map(([id]) => id)).toEqual(["0-2", "0-3", "0-4"]);
    const third = sink();
    outbox.open(third.sink, undefined);
    expect([third.events, second.state.ended]).toEqual([[], 1]);
  });

  test.each(["1-1", "0-x", "", "0", "0-99999999999999999999"])("%j names no event of this stream", (lastEventId) => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    const first = sink();
    outbox.open(first.sink, undefined);
    outbox.push(note(1));
    const second = sink();
    outbox.open(second.sink, lastEventId);
    expect(second.events).toEqual([]);
  });

  test("a stream that was replaced cannot close the new one", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    const first = sink();
    const second = sink();
    outbox.open(first.sink, undefined);
    outbox.open(second.sink, undefined);
    outbox.closed(first.sink);
    expect(outbox.isOpen).toBe(true);
  });

  test("says a change that nobody heard yet only once, but every one that was heard again", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    for (let i = 0; i < 5; i++) outbox.push(changed);
    outbox.push(note(1));
    outbox.push(note(1));
    const { sink: stream, events } = sink();
    outbox.open(stream, undefined);
    expect(events.map(([, data]) => data)).toEqual([changed, note(1), note(1)]);
    outbox.push(changed);
    outbox.push(changed);
    expect(events.filter(([, data]) => data === changed)).toHaveLength(3);
  });

  test("ends its stream after the last event, also when that has to wait", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    const { sink: stream, events, state } = sink(1);
    outbox.open(stream, undefined);
    outbox.push(note(1));
    outbox.push(answer(1));
    outbox.finish();
    expect(state.ended).toBe(0);
    state.room = 1;
    outbox.drained();
    expect([events.length, state.ended]).toEqual([2, 1]);
  });

  test("holds a bounded number of notifications: the oldest go", () => {
    const outbox = new Outbox({ name: "0", budget: budget() });
    for (let n = 1; n <= 3000; n++) outbox.push(note(n));
    const { sink: stream, events } = sink();
    outbox.open(stream, undefined);
    expect([events.length, events[0]![0], outbox.lost]).toEqual([1024, "0-1977", 1976]);
  });

  test("never gives up an answer that was not yet written, however large", () => {
    const outbox = new Outbox({ name: "s", budget: budget() });
    const { sink: stream, events, state } = sink(1);
    outbox.open(stream, undefined);
    const pad = "x".repeat(3_000_000);
    outbox.push(note(0));
    for (const n of [1, 2, 3, 4]) {
      outbox.push(answer(n, pad));
      outbox.push(note(n));
    }
    state.room = 100;
    outbox.drained();
    const ids = events.map(([, data]) => JSON.parse(data).id).filter((id) => id !== undefined);
    expect(ids).toEqual([1, 2, 3, 4]);
    outbox.push(note(9));
    expect(events.at(-1)![1]).toBe(note(9));
  });

  test("cuts the stream of a client that does not read, and holds a bounded amount for it", () => {
    const outbox = new Outbox({ name: "s", budget: budget() });
    const slow = sink(0);
    outbox.open(slow.sink, undefined);
    const pad = "x".repeat(8_000_000);
    struck.length = 0;
    for (let n = 1; n <= 9; n++) outbox.push(answer(n, pad));
    expect([slow.state.cuts, struck]).toEqual([0, []]);
    outbox.push(answer(10, pad));
    expect(struck).toEqual(["unreadBytes"]);
    expect([slow.state.cuts, outbox.isOpen]).toEqual([1, false]);
    for (let n = 11; n <= 30; n++) outbox.push(answer(n, pad));
    const later = sink();
    outbox.open(later.sink, undefined);
    expect(later.events.length).toBeLessThanOrEqual(9);
    expect(outbox.lost).toBe(30 - later.events.length);
    expect(JSON.parse(later.events.at(-1)![1]).id).toBe(30);
  });

  test("cuts the stream of a client that lets too many notifications wait", () => {
    const outbox = new Outbox({ name: "s", budget: budget() });
    const slow = sink(0);
    outbox.open(slow.sink, undefined);
    for (let n = 1; n <= 4096; n++) outbox.push(note(n));
    expect(slow.state.cuts).toBe(0);
    outbox.push(note(0));
    expect(slow.state.cuts).toBe(1);
  });

  test("while nobody listens, notifications are given up before answers", () => {
    const outbox = new Outbox({ name: "s", budget: budget() });
    const pad = "x".repeat(3_000_000);
    outbox.push(answer(1, pad));
    for (let n = 0; n < 1500; n++) outbox.push(note(n));
    outbox.push(answer(2, pad));
    const { sink: stream, events } = sink();
    outbox.open(stream, undefined);
    const ids = events.map(([, data]) => JSON.parse(data).id).filter((id) => id !== undefined);
    expect(ids).toEqual([1, 2]);
    expect(events.length).toBeLessThanOrEqual(1024);
  });

  test("without a name, events have no ids and nothing is kept that was written", () => {
    const outbox = new Outbox({ budget: budget() });
    const first = sink(1);
    outbox.open(first.sink);
    for (const n of [1, 2, 3]) outbox.push(note(n));
    first.state.room = 1;
    outbox.drained();
    expect(first.events).toEqual([
      ["", note(1)],
      ["", note(2)],
    ]);
    expect(outbox.bytes).toBe(note(3).length);
    outbox.closed(first.sink);
    outbox.push(note(4));
    expect(outbox.bytes).toBe(0);
  });

  test("keeps the order when a stream says that it has room while it is written to", () => {
    const outbox = new Outbox({ name: "s", budget: budget() });
    const { sink: stream, events } = sink();
    const eager: Sink = {
      ...stream,
      isFull: false,
      write(text, id) {
        stream.write(text, id);
        outbox.drained();
      },
    };
    for (const n of [1, 2, 3]) outbox.push(answer(n));
    outbox.open(eager);
    expect(events.map(([id]) => id)).toEqual(["s-1", "s-2", "s-3"]);
  });

  test("is under one budget with the others of its client", () => {
    const shared = budget();
    const pad = "x".repeat(30_000_000);
    const streams = [1, 2, 3, 4].map((n) => {
      const { sink: stream, state } = sink(1);
      const outbox = new Outbox({ name: `s${n}`, budget: shared });
      outbox.open(stream);
      outbox.push(answer(n, pad));
      return { outbox, state };
    });
    // Each took one answer that nobody has read; the fourth finds too much unread.
    expect(streams.map(({ state }) => state.cuts)).toEqual([0, 0, 0, 1]);
    expect(streams.map(({ outbox }) => outbox.isOpen)).toEqual([true, true, true, false]);
    const first = streams[0]!;
    first.state.room = 1;
    first.outbox.drained();
    const { sink: stream, events } = sink();
    streams[3]!.outbox.open(stream);
    expect(events.map(([id]) => id)).toEqual(["s4-1"]);
  });

  test("that was written to a client which reads counts for nothing", () => {
    const shared = budget();
    const pad = "x".repeat(30_000_000);
    for (let n = 1; n <= 10; n++) {
      const { sink: stream, state } = sink();
      const outbox = new Outbox({ name: `s${n}`, budget: shared });
      outbox.open(stream);
      outbox.push(answer(n, pad));
      outbox.finish();
      expect([state.cuts, state.ended]).toEqual([0, 1]);
    }
  });
});
