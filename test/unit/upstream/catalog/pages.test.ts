import fc from "fast-check";
import { expect, test } from "vitest";
import { createPager, type Pager } from "../../../../src/upstream/catalog/pages.ts";

const pagerOf = (keys: readonly string[], pageSize: number, member = "tools"): Pager =>
  createPager({
    member,
    pageSize,
    entries: [...keys].sort().map((key) => ({ exposed: key, text: JSON.stringify({ name: key }) })),
  });

interface Page {
  tools: { name: string }[];
  nextCursor?: string;
}
const read = (pager: Pager, cursor?: string): Page => JSON.parse(pager.page(cursor).toString());

test("pages together are the list, each of the size that was asked for", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: "binary" })), fc.integer({ min: 1, max: 7 }), (keys, pageSize) => {
      const pager = pagerOf(keys, pageSize);
      const seen: string[] = [];
      let page = read(pager);
      for (;;) {
        seen.push(...page.tools.map(({ name }) => name));
        if (page.nextCursor === undefined) break;
        expect(page.tools).toHaveLength(pageSize);
        page = read(pager, page.nextCursor);
      }
      expect(seen).toEqual([...keys].sort());
    }),
  );
});

test("a cursor survives what comes and goes between two pages: nothing is repeated, nothing that stayed is skipped", () => {
  const keys = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 4 }), { maxLength: 25 });
  fc.assert(
    fc.property(keys, keys, fc.integer({ min: 1, max: 5 }), (before, after, pageSize) => {
      const first = read(pagerOf(before, pageSize));
      if (first.nextCursor === undefined) return;
      const seen = first.tools.map(({ name }) => name);
      const changed = pagerOf(after, pageSize);
      let page = read(changed, first.nextCursor);
      const rest = page.tools.map(({ name }) => name);
      while (page.nextCursor !== undefined) {
        page = read(changed, page.nextCursor);
        rest.push(...page.tools.map(({ name }) => name));
      }
      expect(rest.filter((name) => seen.includes(name))).toEqual([]);
      expect(rest).toEqual([...after].sort().filter((key) => key > seen.at(-1)!));
    }),
  );
});

test("a page is serialised once", () => {
  const pager = pagerOf(["a", "b", "c"], 2);
  expect(pager.page(undefined)).toBe(pager.page(undefined));
  const { nextCursor } = read(pager);
  expect(pager.page(nextCursor)).toBe(pager.page(nextCursor));
});

test.each(["", "made up", "!!!", "bm9uc2Vuc2U", 5, null, {}, "W10", "WyJ0b29scyJd"])("%j is no cursor", (cursor) => {
  const pager = pagerOf(["a", "b"], 1);
  expect(() => pager.page(cursor)).toThrow("Invalid cursor for tools: use the nextCursor of an earlier page");
});

test("a cursor of another list is not accepted", () => {
  const { nextCursor } = JSON.parse(pagerOf(["a", "b"], 1, "prompts").page(undefined).toString());
  expect(() => pagerOf(["a", "b"], 1).page(nextCursor)).toThrow("Invalid cursor");
});

test("a page ends before it is too large; an entry that is too large alone is a page of its own", () => {
  const megabyte = "x".repeat(1024 * 1024);
  const sizes = [1, 1, 1, 1, 1, 9, 1, 1];
  const entries = sizes.map((size, i) => ({
    exposed: String(i),
    text: JSON.stringify({ name: String(i), pad: megabyte.repeat(size) }),
  }));
  const pager = createPager({ member: "tools", pageSize: 1000, entries });
  const pages: string[][] = [];
  let page: Page | undefined = read(pager);
  while (page) {
    pages.push(page.tools.map(({ name }) => name));
    const cursor: string | undefined = page.nextCursor;
    if (cursor !== undefined) expect(pager.page(cursor)).toBe(pager.page(cursor));
    page = cursor === undefined ? undefined : read(pager, cursor);
  }
  expect(pages).toEqual([["0", "1", "2"], ["3", "4"], ["5"], ["6", "7"]]);
});

test("in the servers' own order, a cursor goes on after its entry, or where that one was", () => {
  const keys = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3 }), { maxLength: 15 });
  const inOrder = (entries: readonly string[], pageSize: number): Pager =>
    createPager({
      member: "tools",
      order: "server",
      pageSize,
      entries: entries.map((key) => ({ exposed: key, text: JSON.stringify({ name: key }) })),
    });
  fc.assert(
    fc.property(keys, keys, fc.integer({ min: 1, max: 5 }), (before, after, pageSize) => {
      const { tools, nextCursor } = read(inOrder(before, pageSize));
      expect(tools.map(({ name }) => name)).toEqual(before.slice(0, pageSize));
      if (nextCursor === undefined) return;
      const last = after.indexOf(before[pageSize - 1]!);
      const start = last === -1 ? pageSize : last + 1;
      const next = read(inOrder(after, pageSize), nextCursor).tools.map(({ name }) => name);
      expect(next).toEqual(after.slice(start, start + pageSize));
    }),
  );
});
