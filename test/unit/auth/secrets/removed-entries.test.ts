/** What shared books know of entries that were removed: long enough, and no more than is needed. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Grant, PairingStore } from "../../../../src/auth/pairing/store.ts";
import type { SharedPlaces, Stamped } from "../../../../src/auth/secrets/shared/shared-place.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
afterEach(disposeAll);

const DAY = 24 * 3_600_000;

/** A store of pairing, and the entries of the place that it is shared through. */
async function sharedStore() {
  const folder = mkdtempSync(join(tmpdir(), "goblin-removed-"));
  const entries = new Map<string, Stamped>();
  const place = {
    isUp: true,
    hasChanged: async () => true,
    pull: async () => ({
      entries,
      push: async (more: ReadonlyMap<string, Stamped>) => {
        for (const [name, entry] of more) entries.set(name, entry);
        return true;
      },
    }),
    onUp: () => {},
    settled: async () => {},
  };
  const store = new PairingStore(folder, randomBytes(32));
  onDispose(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await store.share({ keyFor: () => randomBytes(32), book: () => place } as unknown as SharedPlaces, () => {});
  return { store, entries };
}

test("a revoked grant that is written back later than it could live does not come to life", async () => {
  const { store, entries } = await sharedStore();
  const grant = { id: "one", createdAt: Date.now(), usedAt: Date.now() } as Grant;
  await store.change((book) => ({ ...book, grants: [grant] }));
  const old = entries.get("g one")!;
  await store.change((book) => ({ ...book, grants: [] }));
  // A grant that nobody uses lives for 90 days.
  for (const days of [20, 20, 20, 20, 9]) {
    vi.setSystemTime(Date.now() + days * DAY);
    entries.set("g one", old);
    await store.lookElsewhere();
    expect((await store.read()).grants).toEqual([]);
    expect(entries.get("g one")?.text).toBeNull();
  }
});

test("clients that register without end leave little behind", async () => {
  const { store } = await sharedStore();
  for (let i = 0; i < 200; i++) {
    vi.setSystemTime(Date.now() + 6 * 60_000);
    const made = { id: `c${i}`, name: "", redirectUris: [], createdAt: Date.now() };
    const redeemed = { digest: `d${i}`, grant: "g", at: Date.now() };
    await store.change((book) => ({ ...book, clients: [made], redeemed: [redeemed] }));
  }
  const { stamps } = (await store.read()) as unknown as { stamps: Record<string, unknown> };
  expect(Object.keys(stamps).length).toBeLessThan(30);
});
