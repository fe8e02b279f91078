import { describe, expect, test } from "vitest";
import { type EventSink, Outbox } from "../../../src/session/outbox.ts";

const note = (n: number): string => `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":${n}}}`;
const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const answer = (n: number, pad = ""): string => `{"jsonrpc":"2.0","id":${n},"result":{"pad":"${pad}"}}`;

const struck: string[] = [];
const config = { current: { limits: { unreadBytes: 67_108_864 } } };
const unread = { config, onLimit: (limit: string) => void struck.push(limit) };

/** A stream that takes `room` events before it is full. */
function sink(room = Number.POSITIVE_INFINITY) {
  const events: [string, string][] = [];
  const state = { room, ended: 0, cuts: 0 };
  const made: EventSink = {
    write(id, data) {
      if (state.room <= 0) return false;
      state.room--;
      events.push([id, data]);
      return true;
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
    const outbox = new Outbox("7", unread);
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
    const outbox = new Outbox("0", unread);
    const { sink: stream, events, state } = sink(1);
    outbox.open(stream, undefined);
    for (const n of [1, 2, 3]) outbox.push(note(n));
    expect(events).toHaveLength(1);
    state.room = 2;
    outbox.drained();
    expect(events.map(([id]) => id)).toEqual(["0-1", "0-2", "0-3"]);
  });

  test("a stream that comes back gets what its client has not seen, once", () => {
    const outbox = new Outbox("0", unread);
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
    const outbox = new Outbox("0", unread);
    const first = sink();
    outbox.open(first.sink, undefined);
    outbox.push(note(1));
    const second = sink();
    outbox.open(second.sink, lastEventId);
    expect(second.events).toEqual([]);
  });

  test("a stream that was replaced cannot close the new one", () => {
    const outbox = new Outbox("0", unread);
    const first = sink();
    const second = sink();
    outbox.open(first.sink, undefined);
    outbox.open(second.sink, undefined);
    outbox.closed(first.sink);
    expect(outbox.isOpen).toBe(true);
  });

  test("says a change that nobody heard yet only once, but every one that was heard again", () => {
    const outbox = new Outbox("0", unread);
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
    const outbox = new Outbox("0", unread);
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
    const outbox = new Outbox("0", unread);
    for (let n = 1; n <= 3000; n++) outbox.push(note(n));
    const { sink: stream, events } = sink();
    outbox.open(stream, undefined);
    expect([events.length, events[0]![0], outbox.lost]).toEqual([1024, "0-1977", 1976]);
  });

  test("never gives up an answer that was not yet written, however large", () => {
    const outbox = new Outbox("s", unread);
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
    const outbox = new Outbox("s", unread);
    const slow = sink(0);
    outbox.open(slow.sink, undefined);
    const pad = "x".repeat(8_000_000);
    struck.length = 0;
    for (let n = 1; n <= 8; n++) outbox.push(answer(n, pad));
    expect([slow.state.cuts, struck]).toEqual([0, []]);
    outbox.push(answer(9, pad));
    expect(struck).toEqual(["unreadBytes"]);
    expect([slow.state.cuts, outbox.isOpen]).toEqual([1, false]);
    for (let n = 10; n <= 30; n++) outbox.push(answer(n, pad));
    const later = sink();
    outbox.open(later.sink, undefined);
    expect(later.events.length).toBeLessThanOrEqual(9);
    expect(outbox.lost).toBe(30 - later.events.length);
    expect(JSON.parse(later.events.at(-1)![1]).id).toBe(30);
  });

  test("cuts the stream of a client that lets too many notifications wait", () => {
    const outbox = new Outbox("s", unread);
    const slow = sink(0);
    outbox.open(slow.sink, undefined);
    for (let n = 1; n <= 4096; n++) outbox.push(note(n));
    expect(slow.state.cuts).toBe(0);
    outbox.push(note(0));
    expect(slow.state.cuts).toBe(1);
  });

  test("while nobody listens, notifications are given up before answers", () => {
    const outbox = new Outbox("s", unread);
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
});
