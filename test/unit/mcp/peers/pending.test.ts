/**
 * Whose a message without a hint is: no call that the server may still speak for is forgotten
 * before its time, however many there are.
 */
import { afterEach, expect, test, vi } from "vitest";
import { Pending } from "../../../../src/mcp/peers/pending.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

afterEach(() => vi.useRealTimers());

const gone: Answer = { ok: true, raw: "{}" };

/** A client with a session; `account`: its address or principal. */
function callOf(party: string, account = party): Call {
  const client = { key: party, party, account, hasSession: true } as Client;
  return new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
}

function begin(pending: Pending, party: string, account?: string): { id: number; call: Call } {
  return send(pending, callOf(party, account));
}

function send(pending: Pending, call: Call): { id: number; call: Call } {
  const id = pending.nextId();
  pending.add(id, new Flight(call), () => {});
  return { id, call };
}

test("a call that was given up counts for ten minutes, or until its late answer, against other accounts", () => {
  vi.useFakeTimers();
  const pending = new Pending();
  const first = begin(pending, "ada");
  const second = begin(pending, "ada");
  for (const { id } of [first, second]) pending.abandon(id, gone);
  const { call } = begin(pending, "bob");
  expect(pending.origin()).toBe("several");
  expect(pending.unexpectedAnswerReason(first.id)).toBeUndefined();
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(9 * 60_000);
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(60_000);
  expect(pending.origin()).toBe(call);
});

test("a call that was given up counts for five seconds against other clients of its account (C1)", () => {
  vi.useFakeTimers();
  const pending = new Pending();
  pending.abandon(begin(pending, "ada", "10.0.0.1").id, gone);
  const { call } = begin(pending, "bob", "10.0.0.1");
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(4999);
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(1);
  expect(pending.origin()).toBe(call);
});

test("a client without a session is known by its account and by what it says it is (C1)", () => {
  let requests = 0;
  const request = (account: string, name: string): Call => {
    const key = `request:${++requests}`;
    const client = { key, party: key, account, hasSession: false, info: { name } } as unknown as Client;
    return new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
  };
  const origins = (account: string, name: string) => {
    const pending = new Pending();
    pending.abandon(send(pending, request("10.0.0.1", "editor")).id, gone);
    const { call } = send(pending, request(account, name));
    return pending.origin() === call ? "its own" : pending.origin();
  };
  expect(origins("10.0.0.1", "editor")).toBe("its own");
  expect(origins("10.0.0.1", "terminal")).toBe("several");
  expect(origins("10.0.0.2", "editor")).toBe("several");
});

test("however many calls an account gave up, only other accounts wait (C1)", () => {
  vi.useFakeTimers();
  const pending = new Pending();
  for (let n = 0; n < 1100; n++) pending.abandon(begin(pending, `ada ${n}`, "10.0.0.1").id, gone);
  vi.advanceTimersByTime(5000);
  const { id, call } = begin(pending, "bob", "10.0.0.1");
  expect(pending.origin()).toBe(call);
  pending.settle(id, gone);
  begin(pending, "eve", "10.0.0.2");
  expect(pending.origin()).toBe("several");
});

test("where more accounts gave up calls than can be remembered, nobody can tell for as long", () => {
  vi.useFakeTimers();
  const pending = new Pending();
  for (let n = 0; n < 1200; n++) pending.abandon(begin(pending, `client ${n}`).id, gone);
  for (let id = 1; id <= 1200; id++) pending.unexpectedAnswerReason(id);
  const { call } = begin(pending, "client 1");
  vi.advanceTimersByTime(599_999);
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(1);
  expect(pending.origin()).toBe(call);
});

test("where more were given up than can be remembered, nobody can tell for as long", () => {
  vi.useFakeTimers();
  const pending = new Pending();
  pending.abandon(begin(pending, "ada").id, gone);
  vi.advanceTimersByTime(60_000);
  for (let n = 0; n < 1000; n++) pending.abandon(begin(pending, "bob").id, gone);
  const { call } = begin(pending, "bob");
  expect(pending.origin()).toBe("several");
  for (let id = 2; id <= 1001; id++) pending.unexpectedAnswerReason(id);
  expect(pending.origin()).toBe("several");
  vi.advanceTimersByTime(9 * 60_000);
  expect(pending.origin()).toBe(call);
});

test("where there was never another party, no number of calls makes it unclear", () => {
  const pending = new Pending();
  for (let n = 0; n < 1100; n++) pending.abandon(begin(pending, "ada").id, gone);
  expect([pending.origin(), pending.audience()]).toEqual(["none", { party: "ada" }]);
  const { call } = begin(pending, "ada");
  expect(pending.origin()).toBe(call);
});
