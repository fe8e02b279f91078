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

function callOf(party: string): Call {
  const client = { key: party, party } as Client;
  return new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
}

function begin(pending: Pending, party: string): { id: number; call: Call } {
  const [id, call] = [pending.nextId(), callOf(party)];
  pending.add(id, new Flight(call), () => {});
  return { id, call };
}

test("a call that was given up counts until its late answer, or for ten minutes", () => {
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
