import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Journal, openJournal } from "../../../../src/core/session/journal.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "sessions.jsonl");
}

async function openAt(file: string): Promise<Journal> {
  const journal = await openJournal({ file, failed: () => {}, keepEndedMs: 60_000 });
  onDispose(() => journal.close());
  return journal;
}

const hello = { serverId: "one", uri: "text:///hello", form: "one+text:///hello" };
const pixel = { serverId: "one", uri: "blob:///pixel", form: "one+blob:///pixel" };

describe("the journal", () => {
  it("gives the next process what the last one knew", async () => {
    const before = Date.now();
    const file = place();
    const first = await openAt(file);
    first.subscribed("a", hello);
    first.subscribed("a", pixel);
    first.unsubscribed("a", "one", "blob:///pixel");
    first.level("a", "warning");
    first.subscribed("b", hello);
    first.ended("b");
    await first.close();
    // What is reported after the end is the end's own doing.
    first.unsubscribed("a", "one", "text:///hello");
    const second = await openAt(file);
    expect(second.remembered("a")).toEqual({ subscriptions: [hello], logLevel: "warning" });
    expect(second.remembered("b")).toBeUndefined();
    expect([second.hasEnded("a", Date.now()), second.hasEnded("b", 0)]).toEqual([false, true]);
    expect([before <= second.lastAlive, second.lastAlive <= Date.now()]).toEqual([true, true]);
  });

  it("survives a half-written line and lines from elsewhere", async () => {
    const file = place();
    const sub = JSON.stringify({ op: "sub", k: "a", s: "one", u: "text:///hello", f: "one+text:///hello" });
    writeFileSync(file, `${sub}\nnull\n{"op":"unknown"}\n{"op":"sub","k":"a","s":"o`);
    const journal = await openAt(file);
    expect(journal.remembered("a")?.subscriptions).toEqual([hello]);
  });

  it("does not grow with history", async () => {
    const file = place();
    const journal = await openAt(file);
    for (let round = 0; round < 3000; round++) {
      journal.subscribed("a", hello);
      journal.unsubscribed("a", "one", "text:///hello");
      if (round % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    journal.subscribed("a", pixel);
    await journal.close();
    const next = await openAt(file);
    expect(next.remembered("a")?.subscriptions).toEqual([pixel]);
    expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(5);
  });

  it("forgets sessions that did not come back", async () => {
    const journal = await openAt(place());
    journal.subscribed("a", hello);
    journal.subscribed("b", hello);
    journal.forget((key) => key === "a");
    expect(journal.remembered("a")?.subscriptions).toEqual([hello]);
    expect(journal.remembered("b")).toBeUndefined();
  });

  it("remembers the last of the sessions that ended, not all there ever were", async () => {
    const file = place();
    const start = Date.now();
    const first = await openAt(file);
    for (let i = 0; i < 25_000; i++) first.ended(`key-${i}`);
    await first.close();
    const second = await openAt(file);
    expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(10_010);
    // B8: those that are not remembered one by one are not valid again.
    for (const journal of [first, second]) {
      expect([journal.hasEnded("key-0", start), journal.hasEnded("key-24999", start)]).toEqual([true, true]);
      expect(journal.hasEnded("later", Date.now() + 1)).toBe(false);
    }
  });

  it("B8: lets a session go on that it knows to be open, however many others ended", async () => {
    const file = place();
    const first = await openAt(file);
    const start = Date.now();
    first.subscribed("open", hello);
    for (let i = 0; i < 11_000; i++) first.ended(`key-${i}`);
    await first.close();
    const second = await openAt(file);
    expect([second.hasEnded("open", start), second.hasEnded("key-0", start)]).toEqual([false, true]);
  });

  it("says when an end is written", async () => {
    const file = place();
    const journal = await openAt(file);
    for (const key of ["a", "b", "c"]) {
      journal.ended(key);
      await journal.written();
      expect(readFileSync(file, "utf8")).toContain(`"k":"${key}"`);
    }
    journal.ended("d");
    await Promise.all([journal.written(), journal.written()]);
    await journal.written();
  });

  it("reports a file that cannot be written once, and goes on", async () => {
    const file = place();
    const problems: string[] = [];
    const journal = await openJournal({ file, failed: (message) => problems.push(message), keepEndedMs: 1000 });
    rmSync(join(file, ".."), { recursive: true });
    for (let n = 0; n < 5; n++) {
      journal.subscribed("a", { ...hello, uri: `text:///${n}` });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await journal.close();
    expect(problems).toHaveLength(1);
    expect(journal.remembered("a")?.subscriptions).toHaveLength(5);
  });
});
