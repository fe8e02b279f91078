/**
 * The largest lists that a server may have become a snapshot in slices: no turn of the event loop
 * does more than one slice, readers see the old lists until the new ones are complete, and nothing
 * is announced before that.
 */
import { expect, it } from "vitest";
import { finish, runSlice, SLICE, sorted } from "../../../../src/lib/timing/slices.ts";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { type Definition, emptyLists, type ServerLists } from "../../../../src/upstream/catalog/definitions.ts";
import { buildSnapshot, type ServerView, type SnapshotSettings } from "../../../../src/upstream/catalog/snapshot.ts";
import { KNOWN, STARTING } from "../../../../src/upstream/catalog/standing.ts";
import { reportTokens } from "../../../../src/upstream/catalog/token-report.ts";

const MANY = 14_500;
const policy = { allow: ["*"], deny: [], overrides: {} };
const settings: SnapshotSettings = {
  maxNameLength: 64,
  uris: "prefixed",
  pageSize: 1000,
  local: [],
  exposure: { mode: "auto", budgetTokens: 1_000_000_000 },
};

/** Counts how often a definition is looked at. */
let looks = 0;

class Counted implements Definition {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #text: string;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value;
    this.#text = JSON.stringify(value);
  }

  get value(): Readonly<Record<string, unknown>> {
    looks++;
    return this.#value;
  }

  get text(): string {
    looks++;
    return this.#text;
  }
}

const many = (make: (n: number) => Readonly<Record<string, unknown>>): Definition[] =>
  Array.from({ length: MANY }, (_, n) => new Counted(make(n)));
const resources = (): Definition[] => many((n) => ({ uri: `file:///d${n % 97}/f${n}`, name: `f${n}` }));
const tools = (): Definition[] => many((n) => ({ name: `t${n}`, inputSchema: { type: "object" } }));
const viewOf = (id: string, lists: Partial<ServerLists>): ServerView => ({
  id,
  prefix: `${id}_`,
  tools: policy,
  standing: KNOWN,
  lists: { ...emptyLists, ...lists },
});

/** Drives work to its end. Returns the largest numbers of looks and of cost between two yields. */
function drive(work: ReturnType<typeof buildSnapshot>): { steps: number; looks: number; cost: number } {
  const most = { steps: 0, looks: 0, cost: 0 };
  for (;;) {
    looks = 0;
    const step = work.next();
    most.looks = Math.max(most.looks, looks);
    if (step.done) return most;
    most.steps++;
    most.cost = Math.max(most.cost, step.value);
  }
}

/** What the snapshot of `count` tools costs, each with a long description. */
function costOf(count: number): number {
  const description = "x".repeat(1280);
  const definitions = Array.from({ length: count }, (_, n) => new Counted({ name: `t${n}`, description }));
  let cost = 0;
  for (const part of buildSnapshot([viewOf("s", { tools: definitions })], settings)) cost += part;
  return cost;
}

it("the tokens of many tools are estimated in slices, those of few when somebody asks", () => {
  expect(costOf(200) - costOf(199)).toBeLessThan(100);
  expect(costOf(201) - costOf(200)).toBeGreaterThan(2000);
});

it.each([
  ["resources", resources],
  ["tools", tools],
  ["prompts", tools],
  ["templates", () => many((n) => ({ uriTemplate: `file:///d${n}/{x}`, name: `f${n}` }))],
] as const)("%s: no step looks at more than a few hundred of %d entries", (kind, make) => {
  const most = drive(buildSnapshot([viewOf("s", { [kind]: make() }), viewOf("o", { [kind]: make() })], settings));
  expect(most.looks).toBeLessThan(1000);
  expect(most.cost).toBeLessThan(SLICE);
  expect(most.steps).toBeGreaterThan(MANY / 100);
});

it("a change of one server does not build the others' entries again", () => {
  const views = [viewOf("s", { tools: tools(), resources: resources() }), viewOf("o", {})];
  const before = finish(buildSnapshot(views, settings));
  const tool = new Counted({ name: "new", inputSchema: {} });
  looks = 0;
  finish(buildSnapshot([views[0]!, viewOf("o", { tools: [tool] })], settings, before));
  expect(looks).toBeLessThan(20);
});

it("one entry as large as allowed is about one slice", () => {
  const large = new Counted({ name: "large", inputSchema: { items: "x".repeat(1_000_000) } });
  const { steps, cost } = drive(
    buildSnapshot([viewOf("s", { tools: Array.from({ length: 15 }, () => large) })], settings),
  );
  expect(steps).toBeGreaterThan(0);
  expect(cost).toBeLessThan(5 * SLICE);
});

it("readers keep the old lists until the new ones are complete, and only then they are announced", async () => {
  const catalog = new Catalog(settings);
  const events: string[] = [];
  catalog.watch({ key: "anyone", visibility: undefined }, (kinds) =>
    events.push(`${kinds} with ${catalog.snapshot.pagers.resources.entries.length}`),
  );
  catalog.put({ id: "s", prefix: "s_", tools: policy });
  catalog.stand("s", STARTING);
  expect(catalog.snapshot.standing("s")).toBe(STARTING);

  catalog.update("s", { ...emptyLists, resources: resources() });
  catalog.stand("s", KNOWN);
  const ready = catalog.caughtUp();
  let turns = 0;
  while (catalog.snapshot.resources.resources.length === 0) {
    expect(catalog.snapshot.standing("s")).toBe(STARTING);
    expect(events).toEqual([]);
    turns++;
    await new Promise(setImmediate);
  }
  expect(turns).toBeGreaterThan(10);
  await ready;
  expect(catalog.snapshot.standing("s")).toBe(KNOWN);
  expect(events).toEqual([`resources with ${MANY}`]);
});

it("a newer change supersedes an unfinished snapshot, but not for ever", async () => {
  const catalog = new Catalog(settings);
  catalog.put({ id: "s", prefix: "s_", tools: policy });
  catalog.put({ id: "o", prefix: "o_", tools: policy });
  await catalog.caughtUp();
  const seen: number[] = [];
  catalog.on("swap", () => seen.push(catalog.snapshot.tools.entries.length));

  catalog.update("s", { ...emptyLists, tools: tools() });
  expect(catalog.snapshot.tools.entries).toEqual([]);
  catalog.update("s", { ...emptyLists, tools: tools().slice(1) });
  await catalog.caughtUp();
  expect(seen).toEqual([MANY - 1]);

  // One change in every turn: what was reported first must still get in.
  catalog.update("s", { ...emptyLists, tools: tools() });
  let changes = 0;
  for (; seen.length === 1; changes++) {
    catalog.update("o", { ...emptyLists, tools: [new Counted({ name: `t${changes}` })] });
    void catalog.snapshot;
    await new Promise(setImmediate);
  }
  expect(seen[1]).toBe(MANY + 1);
  await catalog.caughtUp();
  expect(catalog.snapshot.tools.find(`o_t${changes - 1}`)).toBeDefined();
});

it("the tokens of every tool are known before anybody asks", async () => {
  const catalog = new Catalog({ ...settings, exposure: { mode: "all", budgetTokens: 1 } });
  catalog.put({ id: "s", prefix: "s_", tools: policy });
  catalog.update("s", { ...emptyLists, tools: tools() });
  await catalog.caughtUp();
  looks = 0;
  expect(reportTokens(catalog.snapshot).all.tools).toBe(MANY);
  expect(looks).toBe(0);
});

it("sorts in slices like the native sort", () => {
  const numbers = Array.from({ length: 10_000 }, (_, n) => (n * 7919) % 10_007);
  const work = sorted(numbers, (a, b) => a - b);
  let slices = 1;
  let done = runSlice(work);
  for (; !done; done = runSlice(work)) slices++;
  expect(done.result).toEqual(numbers.toSorted((a, b) => a - b));
  expect(slices).toBeGreaterThan(3);
});
