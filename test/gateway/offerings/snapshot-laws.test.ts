/**
 * Names and lists depend on what is offered, not on the order of servers, nor on what was offered
 * before: a restart, another config order and any history of changes give the same pages, byte for
 * byte.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { finish } from "../../../src/lib/timing/slices.ts";
import { Catalog } from "../../../src/upstream/catalog/catalog.ts";
import type { Definition, ServerLists } from "../../../src/upstream/catalog/definitions.ts";
import {
  buildSnapshot,
  createSnapshot,
  type ServerView,
  type Snapshot,
  type SnapshotSettings,
} from "../../../src/upstream/catalog/snapshot.ts";

const settings = (uris: SnapshotSettings["uris"]): SnapshotSettings => ({
  maxNameLength: 12,
  uris,
  pageSize: 3,
  local: [],
  exposure: { mode: "all", budgetTokens: 1000 },
});

type Offer = Record<"tools" | "prompts" | "resources" | "templates", string[]>;

const define = (key: string, values: readonly string[]): Definition[] =>
  values.map((value) => ({
    text: JSON.stringify({ [key]: value, name: value }),
    value: { [key]: value, name: value },
  }));
const listsOf = (offer: Offer): ServerLists => ({
  tools: define("name", offer.tools),
  prompts: define("name", offer.prompts),
  resources: define("uri", offer.resources),
  templates: define("uriTemplate", offer.templates),
});
const policy = { allow: ["*"], deny: [], overrides: {} };
const view = (id: string, offer: Offer): ServerView => ({
  id,
  prefix: `${id}_`,
  tools: policy,
  lists: listsOf(offer),
  standing: { kind: "known" },
});

/** Every page of every list, as it goes to a client. */
function pagesOf(snapshot: Snapshot): string[] {
  return (["tools", "prompts", "resources", "templates"] as const).flatMap((kind) => {
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = snapshot.pagers[kind].page(cursor).toString();
      pages.push(page);
      cursor = (JSON.parse(page) as { nextCursor?: string }).nextCursor;
    } while (cursor !== undefined);
    return pages;
  });
}

const name = fc.constantFrom("a", "b_c", "c", "b", "a_b", "a long name for a tool", "a long name for a fool");
const uri = fc.constantFrom(
  "x:///a/b",
  "x:///a_b",
  "x:///a//b",
  "y:z",
  "no uri",
  "ui://app",
  "a+x:///a",
  "raw:q",
  "s_x___a_b",
);
const template = fc.constantFrom("x:///{a}", "y://{+b}/c", "{c}", "broken{", "ui://{a}");
const some = (of: fc.Arbitrary<string>) => fc.array(of, { maxLength: 4 });
const offer = fc.record({ tools: some(name), prompts: some(name), resources: some(uri), templates: some(template) });
const servers = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "a_b", "a-b", "s", "1"), offer), {
  maxLength: 5,
  selector: ([id]) => id,
});
const mode = fc.constantFrom("prefixed" as const, "flat" as const, "raw" as const);

test("another order of servers, or a restart, gives the same pages", () => {
  fc.assert(
    fc.property(servers, mode, fc.infiniteStream(fc.nat()), (offers, uris, random) => {
      const pages = pagesOf(
        createSnapshot(
          offers.map(([id, each]) => view(id, each)),
          settings(uris),
        ),
      );
      const shuffled = offers
        .map((each) => ({ each, at: random.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ each: [id, given] }) => view(id, given));
      expect(pagesOf(createSnapshot(shuffled, settings(uris)))).toEqual(pages);
    }),
    { numRuns: 200 },
  );
});

test("any history of changes gives the pages of a fresh start", () => {
  const change = fc.record({ at: fc.nat({ max: 4 }), offer: fc.option(offer, { nil: undefined }) });
  fc.assert(
    fc.property(servers, fc.array(change, { maxLength: 8 }), mode, (offers, changes, uris) => {
      const catalog = new Catalog(settings(uris));
      const now = new Map(offers);
      const put = (id: string, given: Offer) => {
        catalog.put({ id, prefix: `${id}_`, tools: policy });
        catalog.update(id, listsOf(given));
      };
      for (const [id, given] of offers) put(id, given);
      for (const { at, offer: given } of changes) {
        const id = offers[at]?.[0];
        if (id === undefined) continue;
        if (given === undefined) {
          catalog.remove(id);
          now.delete(id);
        } else {
          put(id, given);
          now.set(id, given);
        }
        // Read in between, so that what is kept from one snapshot to the next is put to the test.
        pagesOf(catalog.snapshot);
      }
      const fresh = createSnapshot(
        [...now].map(([id, given]) => view(id, given)),
        settings(uris),
      );
      expect(pagesOf(catalog.snapshot)).toEqual(pagesOf(fresh));
    }),
    { numRuns: 200 },
  );
});

test("a change of tools takes resources and templates over as they are, and a change of those does not", () => {
  const offered = { tools: ["t"], prompts: ["p"], resources: ["x:///1", "x:///2"], templates: ["y:///{a}"] };
  const views = [view("a", offered), view("b", { ...offered, tools: [] })];
  const before = createSnapshot(views, settings("prefixed"));
  const page = before.pagers.resources.page(undefined);
  const changed = { ...views[1]!, lists: { ...views[1]!.lists, tools: define("name", ["new"]) } };
  const after = finish(buildSnapshot([views[0]!, changed], settings("prefixed"), before));
  expect(after.resources).toBe(before.resources);
  expect(after.pagers.resources.page(undefined)).toBe(page);
  expect(after.resource("b", 1)?.value["uri"]).toBe("x:///2");
  const more = { ...changed, lists: { ...changed.lists, resources: define("uri", ["x:///3"]) } };
  const last = finish(buildSnapshot([views[0]!, more], settings("prefixed"), after));
  expect(last.resources.resolve("b+x:///3").kind).toBe("found");
  expect(finish(buildSnapshot([views[0]!, changed], settings("raw"), after)).resources).not.toBe(after.resources);
});
