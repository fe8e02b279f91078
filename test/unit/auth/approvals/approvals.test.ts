/** The store by itself: what it keeps, and what a disk that fails does to an answer. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { Approvals } from "../../../../src/auth/approvals/approvals.ts";
import { Ledger, openLedger } from "../../../../src/auth/approvals/ledger.ts";
import { subjectOf } from "../../../../src/auth/approvals/subject.ts";
import { ANYONE } from "../../../../src/mcp/protocol/principal.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

const settings = { timeoutMs: 60_000, progressMs: 10_000, heldCalls: 10, heldBytes: 10_000_000 };
/** A gateway without a page, a lock or an API. */
const alone = { pageOf: () => undefined, lockOf: () => undefined, isAlone: () => true };

function store(ledger?: Ledger, limits = {}): Approvals {
  const made = new Approvals({
    settings: () => ({ ...settings, ...limits }),
    show: (args) => args,
    opened: ledger && { lines: [], create: () => ledger },
    ...alone,
    onLimit: () => {},
    warn: () => {},
  });
  made.begin();
  onDispose(() => made.close());
  return made;
}

function held(approvals: Approvals, text: string, account = "a") {
  const asked = { params: JSON.stringify({ arguments: { text } }), rule: "r", reason: undefined, revision: "1" };
  const client = { key: "s", hasSession: true, info: {} };
  const names = { serverId: "web", kind: "tool" as const, name: "x", shownName: "web_x" };
  const { subject, args } = subjectOf({ client, who: ANYONE, asked, ...names });
  const record = approvals.hold({ subject, args, bytes: args.length, account, tell: () => {}, end: () => {} });
  return { subject, record };
}

test("keeps all arguments while a call waits, and a part of long ones afterwards", async () => {
  const approvals = store();
  const { record } = held(approvals, "x".repeat(100_000));
  expect(record.shown.length).toBeGreaterThan(100_000);
  await approvals.deny({ id: record.id, by: ANYONE });
  expect(approvals.find(record.id)?.shown.length).toBeLessThan(20_000);
});

test("what 1000 calls keep while they wait, and afterwards, is counted and bounded", async () => {
  const approvals = store(undefined, { heldCalls: 4000, heldBytes: 33_554_432 });
  // 16 000 characters and 11 around them.
  const calls = Array.from({ length: 1000 }, () => held(approvals, "x".repeat(16_000)));
  expect([approvals.heldCount, approvals.heldBytes]).toEqual([1000, 16_011_000]);
  const shown = (): number => approvals.records().reduce((sum, record) => sum + record.shown.length, 0);
  expect(shown()).toBe(16_011_000);
  // Half of what others leave is this account's share; another one finds room.
  expect(() => held(approvals, "x".repeat(2_000_000))).toThrow("heldBytes is 33554432");
  expect([approvals.heldCount, approvals.heldBytes]).toEqual([1000, 16_011_000]);
  held(approvals, "x".repeat(2_000_000), "b");
  expect(approvals.heldBytes).toBe(18_011_011);
  for (const { record } of calls) approvals.end(record.id, "cancelled");
  expect([approvals.heldCount, approvals.heldBytes]).toEqual([1, 2_000_011]);
  // Of those that are over, the last 1001 are shown (one was held then), and of each a part.
  for (let i = 0; i < 1000; i++) approvals.end(held(approvals, "y".repeat(100_000)).record.id, "cancelled");
  expect(approvals.records()).toHaveLength(1002);
  expect(shown()).toBeLessThanOrEqual(1001 * 16_440 + 2_000_011);
  await approvals.close();
  expect([approvals.heldCount, approvals.heldBytes]).toEqual([0, 0]);
});

test("long arguments are not kept behind the part that is shown", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const approvals = store();
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100; i++) {
    const text = Buffer.alloc(1_000_000, "x").toString("latin1");
    approvals.end(held(approvals, text).record.id, "cancelled");
  }
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  expect(approvals.records()).toHaveLength(100);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
});

test("while nothing can be recorded, no more calls are held than lines can wait", async () => {
  const folder = mkdtempSync(join(tmpdir(), "approvals-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "later", "approvals.jsonl");
  const ledger = new Ledger({ file });
  const approvals = store(ledger);
  const hold = async (): Promise<void> => {
    approvals.end(held(approvals, "x").record.id, "cancelled");
    await ledger.settled();
  };
  let calls = 0;
  const many = (async () => {
    for (; calls < 2000; calls++) await hold();
  })();
  await expect(many).rejects.toThrow("approvals cannot be recorded now");
  expect(calls).toBeLessThan(1100);
  expect(approvals.heldCount).toBe(0);
  mkdirSync(join(folder, "later"));
  await expect(hold()).rejects.toThrow("approvals cannot be recorded now");
  await ledger.settled();
  await hold();
  expect(readFileSync(file, "utf8").split("\n").length).toBeGreaterThan(2000);
});

test("an answer that cannot be recorded does not count, not even after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "approvals-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "there", "approvals.jsonl");
  const approvals = store(new Ledger({ file }));
  const { record, subject } = held(approvals, "x");
  const allow = () => approvals.allow({ id: record.id, by: ANYONE, span: "hour" });
  await expect(allow()).rejects.toThrow("The answer cannot be recorded");
  expect([record.state, approvals.take(subject)]).toEqual(["held", undefined]);
  mkdirSync(join(folder, "there"));
  await approvals.close();
  expect(readFileSync(file, "utf8")).toContain('"event":"withdrawn"');
  const opened = await openLedger(file, () => {});
  const later = new Approvals({
    settings: () => settings,
    show: (args) => args,
    opened,
    ...alone,
    onLimit: () => {},
    warn: () => {},
  });
  later.begin();
  expect([later.grants(), later.take(subject)]).toEqual([[], undefined]);
  await later.close();
});
