/** The gateway's own tasks by themselves: what is kept of them, for how long, and what survives. */
import { EventEmitter } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ApprovalRecord } from "../../../../src/auth/approvals/record.ts";
import { ephemeralSealer } from "../../../../src/core/session/continuity.ts";
import { HeldTasks, type HeldTasksParts } from "../../../../src/core/session/held/held-tasks.ts";
import { relatedResult } from "../../../../src/core/session/held/task-text.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { ANYONE } from "../../../../src/mcp/protocol/principal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sealer = ephemeralSealer();
const MINUTE = 60_000;

function book(limits = { heldCalls: 8, heldBytes: 1000 }, recordOf: HeldTasksParts["recordOf"] = () => undefined) {
  const sessions = Object.assign(new EventEmitter(), { get: () => undefined });
  const tasks = { rename: () => {}, listen: async () => undefined };
  const parts = { sessions, sealer, tasks, limits: () => limits, timeoutMs: () => 5 * MINUTE, recordOf };
  return new HeldTasks(parts as unknown as HeldTasksParts);
}

function clientOf(name: string): Client {
  return { key: name, account: name, taskOwner: name, hasSession: false, who: ANYONE, visibility: undefined } as Client;
}

let count = 0;

/** Returns the id of a task of this client. */
async function begin(held: HeldTasks, client: Client, ttlMs?: number) {
  const call = new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
  const created = held.watch(call, { ttlMs });
  call.whenHeld!({ approval: `a${++count}`, message: "Waiting" });
  const { taskId } = JSON.parse(String((await created).raw)) as { taskId: string };
  return { call, taskId };
}

const text = (length: number) => ({ ok: true, raw: `"${"x".repeat(length - 2)}"` }) as const;

test("results are bounded for each account and overall: who needs room loses its own oldest", async () => {
  const held = book();
  const [me, you] = [clientOf("me"), clientOf("you")];
  const yours = await begin(held, you);
  held.ended(yours.call, text(200));
  const mine = [];
  for (let i = 0; i < 20; i++) {
    const task = await begin(held, me);
    held.ended(task.call, text(100));
    mine.push(task);
    expect(held.keptBytes).toBeLessThanOrEqual(1000);
  }
  // One place is another's: half of the seven others, rounded up.
  const left = mine.filter(({ taskId }) => held.find(taskId, me));
  expect(left).toEqual(mine.slice(-4));
  expect([held.size, held.keptBytes]).toEqual([5, 600]);
  expect(held.find(yours.taskId, you)?.answer?.raw).toHaveLength(200);
  const large = await begin(held, me);
  held.ended(large.call, text(900));
  const state = held.find(large.taskId, me)!;
  expect([state.status, state.message]).toEqual([
    "failed",
    expect.stringContaining("the call has run, but its result of 900 characters is too large to be kept for a task"),
  ]);
  expect(held.find(yours.taskId, you)?.status).toBe("completed");
});

test("the positions in an owner's list tell nothing of others' tasks", async () => {
  const held = book();
  const [me, you] = [clientOf("me"), clientOf("you")];
  for (const client of [you, me, you, you, me, me]) await begin(held, client);
  expect(held.page("me", 0, 2)).toMatchObject({ page: [{ number: 1 }, { number: 2 }], more: true });
  expect(held.page("me", 2, 2)).toMatchObject({ page: [{ number: 3 }], more: false });
});

test("streams for one task are bounded, and each gets a long result in a turn of its own", async () => {
  vi.useRealTimers();
  const held = book({ heldCalls: 8, heldBytes: 10_000_000 });
  const me = clientOf("me");
  const { call, taskId } = await begin(held, me);
  const told: string[] = [];
  const stops: ((() => void) | undefined)[] = [];
  for (let i = 0; i < 40; i++) stops.push(await held.listen(taskId, me, (params) => told.push(params)));
  expect(stops.filter(Boolean)).toHaveLength(32);
  held.ended(call, text(1_000_000));
  stops[5]!();
  const turns: number[] = [];
  while (told.length < 31) {
    const before = told.length;
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(told.length - before);
  }
  expect(Math.max(...turns)).toBe(1);
  expect(told.every((params) => params.length > 1_000_000)).toBe(true);
});

/** Collects garbage. */
async function collect() {
  vi.useRealTimers();
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
}

test("nothing is kept of the request of a task that is over, however it ended", async () => {
  const held = book();
  const ends: readonly ((call: Call) => void)[] = [
    (call) => held.ended(call, text(10)),
    (call) => call.cancel("client"),
    (call) => held.ended(call, { ok: true, raw: '{"task":{"taskId":"web+x.1"}}' }),
  ];
  const calls: WeakRef<Call>[] = [];
  for (const end of ends) {
    await (async () => {
      // As with clients without a session, who are asked through the call.
      let own: Call | undefined;
      const client = { ...clientOf("me"), ask: async () => ({ ok: true, raw: own!.text }) } as Client;
      const call = new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
      own = call;
      const created = held.watch(call, { give: () => void call.text });
      call.whenHeld!({ approval: `a${++count}`, message: "Waiting" });
      await created;
      end(call);
      held.ended(call, { ok: false, raw: "{}", code: 1 });
      calls.push(new WeakRef(call));
    })();
  }
  await collect();
  expect(held.size).toBe(3);
  expect(calls.map((call) => call.deref())).toEqual([undefined, undefined, undefined]);
});

test("a short result does not keep the long message that it came in", async () => {
  const held = book({ heldCalls: 400, heldBytes: 100_000 });
  const me = clientOf("me");
  await collect();
  const before = process.memoryUsage();
  for (let i = 0; i < 60; i++) {
    const [one, two] = [await begin(held, me), await begin(held, me)];
    const message = Buffer.alloc(1_000_000, "x");
    held.ended(one.call, { ok: true, raw: message.toString("latin1").slice(0, 100) });
    held.ended(two.call, { ok: true, raw: message.subarray(0, 100) });
  }
  await collect();
  const after = process.memoryUsage();
  expect(held.size).toBe(120);
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  expect(grown).toBeLessThan(20_000_000);
});

test("a task lasts as long as a person may take, and ten minutes more when it is over", async () => {
  const held = book();
  const me = clientOf("me");
  const [short, long, running] = [
    await begin(held, me, 1),
    await begin(held, me, 60 * MINUTE),
    await begin(held, me, 10 ** 12),
  ];
  const shown = () => [short, long, running].map(({ taskId }) => held.find(taskId, me)?.ttlMs);
  expect(shown()).toEqual([15 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE]);
  vi.advanceTimersByTime(14 * MINUTE);
  held.ended(short.call, text(10));
  held.ended(long.call, text(10));
  expect(shown()).toEqual([24 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE]);
  vi.advanceTimersByTime(10 * MINUTE + 1);
  expect(shown()).toEqual([undefined, 60 * MINUTE, 24 * 60 * MINUTE]);
  vi.advanceTimersByTime(24 * 60 * MINUTE);
  // One that still runs does not end by that: it is given ten minutes more each time.
  expect(shown()).toEqual([undefined, undefined, 24 * 60 * MINUTE + 30 * MINUTE]);
  expect(held.keptBytes).toBe(0);
});

test.each([
  [{ state: "ended", ended: "restart" }, "failed", "the gateway stopped while it waited. It was not run. Do not try"],
  [{ state: "denied", words: "no" }, "failed", "a person denied it (no). It was not run. Do not try it again"],
  [{ state: "ended", ended: "cancelled" }, "cancelled", "Cancelled by the client"],
  [{ state: "allowed" }, "failed", "It was not run. It was approved: call it again."],
  [{ state: "allowed", runs: 1, outcome: "ok" }, "failed", "It was run (outcome: ok). Do not simply repeat it"],
] as const)("of an earlier process: %o", async (record, status, words) => {
  const [me, you] = [clientOf("me"), clientOf("you")];
  const { taskId } = await begin(book(), me);
  const approval = `a${count}`;
  const proposedAt = Date.now() - 1000;
  const subject = { shownName: "web_add" };
  const times = { proposedAt, expiresAt: proposedAt + 5 * MINUTE };
  const later = book(undefined, (id) =>
    id === approval ? ({ id, subject, runs: 0, ...times, ...record } as unknown as ApprovalRecord) : undefined,
  );
  expect(later.find(taskId, me)).toMatchObject({ status, message: expect.stringContaining(words) });
  expect(later.find(taskId, you)).toBeUndefined();
  vi.advanceTimersByTime(15 * MINUTE);
  expect(later.find(taskId, me)).toBeUndefined();
});

test.each([
  ['{"a":1}', '{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}},"a":1}'],
  ["{}", '{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}'],
  ['{"_meta":{"x":1},"a":1}', '{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"x":1},"a":1}'],
  ['{"a":1,"_meta":null}', '{"a":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}'],
])("a result says whose it is: %s", async (text, marked) => {
  vi.useRealTimers();
  expect(await relatedResult("t", text)).toBe(marked);
});
