import { expect, test } from "vitest";
import { KeptStreams } from "../../../src/front/legacy/kept-streams.ts";
import { Outbox } from "../../../src/mcp/outbound/outbox.ts";
import { UnreadBudget } from "../../../src/mcp/outbound/unread-budget.ts";

const MB = 1024 * 1024;
const budget = new UnreadBudget({ most: () => 1024 * MB, onLimit: () => {} });

function finished(bytes: number): Outbox {
  const outbox = new Outbox({ budget, name: "s" });
  outbox.push("x".repeat(bytes));
  outbox.finish();
  return outbox;
}

test("finished streams keep a bounded amount together: the oldest go, the newest stays", () => {
  const kept = new KeptStreams();
  const forgotten: number[] = [];
  const keep = (n: number, outbox: Outbox) => kept.keep(outbox, () => forgotten.push(n));
  const outboxes = [1, 2, 3, 4].map((n) => {
    const outbox = finished(8 * MB);
    keep(n, outbox);
    return outbox;
  });
  expect(forgotten).toEqual([]);
  keep(5, finished(8 * MB));
  expect([forgotten, outboxes[0]!.bytes]).toEqual([[1], 0]);
  kept.drop(outboxes[2]!);
  kept.drop(outboxes[2]!);
  expect(forgotten).toEqual([1, 3]);
  const large = finished(64 * MB);
  keep(6, large);
  expect([forgotten, large.bytes]).toEqual([[1, 3, 2, 4, 5], 64 * MB]);
});
