/**
 * The judges of the soak, one by one: each has to find what it is for, and nothing else. That the
 * soak as a whole finds faults of a gateway is shown by `soak.slow.ts`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";

interface Problems {
  add(kind: string, text: string): void;
  count(kind: string): number;
  readonly failed: boolean;
  lines(): string[];
}
interface Weather {
  disturb(gateways: string[], server: string, options?: { armed?: boolean }): () => void;
  succeeded(place: Place, start: number): void;
  isCalm(place: Place, from: number, to: number): boolean;
}
interface Place {
  readonly gateway: string;
  readonly server: string;
  readonly client: string;
}
const AT_S: Place = { gateway: "main", server: "s", client: "c1" };
interface Entry {
  readonly nonce: string;
  readonly start: number;
}
interface Ledger {
  readonly counts: { calm: number; calmFailed: number; ok: number };
  begin(what: { client: string; gateway: string; server: string; tool: string }): Entry;
  ok(entry: Entry, content: unknown): void;
  refused(entry: Entry, error: unknown): void;
  settle(world: { isOut: () => boolean; telling: Set<string> }): void;
}
interface Updates {
  add(client: object, server: string, uri: string): { active: boolean };
  change(): void;
  told(client: object, server: string, uri: string): { active: boolean } | undefined;
  read(subscription: object, version: number): void;
  settle(): void;
}
interface User {
  down(): void;
  take(message: object): void;
}
interface Client {
  readonly lives: number;
  readonly isUp: boolean;
  vanish(): void;
}
interface Judges {
  judgeFloor(counts: object, failures: string[], problems: Problems): void;
  judgeResources(readings: object, problems: Problems): void;
}

// Plain JavaScript without declarations: the benchmarks need no build.
const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(resolve("bench/soak", file)).href)) as T;
const { createProblems } = await load<{ createProblems(known: string[]): Problems }>("problems.js");
const { createWeather } = await load<{ createWeather(personal?: Set<string>): Weather }>("weather.js");
const { createLedger } = await load<{ createLedger(options: object): Ledger }>("ledger.js");
const { createUpdates } = await load<{ createUpdates(options: object): Updates }>("updates.js");
const { createRandom } = await load<{ createRandom(seed: number): object }>("random.js");
const { createOutages } = await load<{ createOutages(): object }>("gateway.js");
const { createClient } = await load<{ createClient(who: object, world: object): Client }>("client.js");
const { openHub } = await load<{ openHub(): Promise<{ port: number; close(): void }> }>("hub.js");
const { judgeFloor, judgeResources } = await load<Judges>("judges.js");

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function desk() {
  const folder = mkdtempSync(join(tmpdir(), "soak-judges-"));
  folders.push(folder);
  const problems = createProblems([]);
  const weather = createWeather();
  const ledger = createLedger({ problems, weather, folder, servers: ["s", "t"] });
  const begin = () => ledger.begin({ client: "c1", gateway: "main", server: "s", tool: "work" });
  const execute = ({ nonce }: Entry, server = "s") =>
    appendFileSync(join(folder, `${server}.book`), `${JSON.stringify({ nonce, tool: "work", pid: 1 })}\n`);
  const settle = () => ledger.settle({ isOut: () => false, telling: new Set(["s"]) });
  return { folder, problems, weather, ledger, begin, execute, settle };
}

describe("calls", () => {
  test("executed once, with their own content, are no problem", () => {
    const { problems, ledger, begin, execute, settle } = desk();
    const entry = begin();
    execute(entry);
    ledger.ok(entry, { nonce: entry.nonce, server: "s" });
    settle();
    expect(problems.lines()).toEqual([]);
  });

  test("executed twice, by another server, or not at all are found", () => {
    const { problems, ledger, begin, execute, settle } = desk();
    const [twice, elsewhere, never] = [begin(), begin(), begin()];
    execute(twice);
    execute(twice);
    execute(elsewhere, "t");
    for (const entry of [twice, elsewhere, never]) ledger.ok(entry, { nonce: entry.nonce, server: "s" });
    settle();
    expect([problems.count("executedTwice"), problems.count("notExecuted")]).toEqual([1, 2]);
  });

  test("that went on twice with one state are found", () => {
    const { folder, problems, ledger, begin, execute, settle } = desk();
    const entry = begin();
    execute(entry);
    const goOn = (round: string) =>
      appendFileSync(join(folder, "s.book"), `${JSON.stringify({ nonce: entry.nonce, tool: "ask", pid: 1, round })}\n`);
    goOn("first");
    goOn("second");
    ledger.ok(entry, { nonce: entry.nonce, server: "s" });
    settle();
    expect(problems.lines()).toEqual([]);
    goOn("first");
    settle();
    expect(problems.count("executedTwice")).toBe(1);
  });

  test("with somebody else's content, or an error with it, are found", () => {
    const { problems, ledger, begin } = desk();
    const [one, two] = [begin(), begin()];
    ledger.ok(one, { nonce: two.nonce, server: "s" });
    ledger.refused(two, { message: "spoiled", data: { nonce: one.nonce } });
    expect(problems.count("foreignAnswers")).toBe(2);
  });

  test.each([
    ["BACKEND_UNAVAILABLE", undefined],
    ["TOOL_NOT_FOUND", "misleading"],
    ["INTERNAL_ERROR", "internal"],
  ])("refused with %s: %s", (code, kind) => {
    const { problems, ledger, begin } = desk();
    ledger.refused(begin(), { message: "no", data: { code } });
    expect(problems.failed).toBe(kind !== undefined);
    if (kind) expect(problems.count(kind)).toBe(1);
  });

  test("that fail count against calm weather only", () => {
    const { weather, ledger, begin } = desk();
    const refuse = () => ledger.refused(begin(), { message: "no", data: { code: "TIMEOUT" } });
    weather.disturb(["main"], "t");
    refuse();
    expect(ledger.counts).toMatchObject({ calm: 1, calmFailed: 1 });
    weather.disturb(["main"], "s");
    refuse();
    expect(ledger.counts).toMatchObject({ calm: 1, calmFailed: 1 });
    weather.succeeded(AT_S, Number.MAX_VALUE);
    const end = performance.now();
    while (performance.now() === end);
    refuse();
    expect(ledger.counts).toMatchObject({ calm: 2, calmFailed: 2 });
  });

  test("that succeed before a fault has struck do not end it", () => {
    const { weather } = desk();
    const isCalmNow = () => weather.isCalm(AT_S, performance.now(), performance.now());
    const strike = weather.disturb(["main"], "s", { armed: true });
    weather.succeeded(AT_S, Number.MAX_VALUE);
    expect(isCalmNow()).toBe(false);
    const before = performance.now();
    strike();
    weather.succeeded(AT_S, before - 1);
    expect(isCalmNow()).toBe(false);
    weather.succeeded(AT_S, Number.MAX_VALUE);
    expect(weather.isCalm(AT_S, Number.MAX_VALUE, Number.MAX_VALUE)).toBe(true);
  });

  test("of a client with a process of its own end bad weather for that client only", () => {
    const weather = createWeather(new Set(["s"]));
    weather.disturb(["main"], "s");
    weather.succeeded(AT_S, Number.MAX_VALUE);
    const end = performance.now();
    while (performance.now() === end);
    const isCalmFor = (client: string) => weather.isCalm({ ...AT_S, client }, performance.now(), performance.now());
    expect(isCalmFor("c1")).toBe(true);
    expect(isCalmFor("c2")).toBe(false);
  });
});

describe("updates", () => {
  function watching() {
    const { folder, problems } = desk();
    const told: unknown[] = [];
    const hub = { tell: (_server: string, order: unknown) => told.push(order) };
    const updates = createUpdates({ problems, hub, folder, random: createRandom(1) });
    const client = { id: "c1", kind: "http" };
    const subscription = updates.add(client, "s", "note:///c1/1");
    subscription.active = true;
    return { problems, updates, client, subscription, told };
  }

  test("are owed until a value as new was read; meanwhile the resource does not change again", () => {
    const { problems, updates, subscription, told } = watching();
    updates.change();
    updates.change();
    expect(told).toEqual([{ changed: "note:///c1/1" }]);
    updates.read(subscription, 1);
    updates.change();
    expect(told).toHaveLength(2);
    updates.read(subscription, 1);
    updates.settle();
    expect(problems.count("lostUpdates")).toBe(1);
  });

  test("that were not subscribed to are foreign, and a subscription that is not granted is lost", () => {
    const { problems, updates, client, subscription } = watching();
    expect(updates.told(client, "s", "note:///c1/1")).toBe(subscription);
    updates.told(client, "s", "note:///c2/1");
    updates.told({ id: "c2", kind: "http" }, "s", "note:///c1/1");
    expect(problems.count("foreignUpdates")).toBe(2);
    subscription.active = false;
    updates.settle();
    expect(problems.count("lostUpdates")).toBe(1);
  });
});

test.each(["modern", "legacy"])("a %s client that went away twice is back after the second time only", async (era) => {
  const { problems, weather, ledger } = desk();
  const updates = { of: () => [], gone() {} };
  const sent: { id: number; method: string }[] = [];
  let user: User | undefined;
  const wire = {
    headers: {},
    open: async () => {},
    stand() {},
    close() {},
    send: (message: never) => sent.push(message),
  };
  const between = {
    toGateway: (_: unknown, message: unknown, send: (message: unknown) => void) => send(message),
    toClient: (_: unknown, message: unknown, deliver: (message: unknown) => void) => deliver(message),
  };
  const wireFor = (_who: unknown, _gateway: unknown, given: User) => {
    user = given;
    return wire;
  };
  const world = { problems, weather, ledger, updates, between, wireFor, outagesOf: createOutages };
  const client = createClient({ id: "c1", wire: "stdio", era, token: "" }, world);
  const first = era === "modern" ? "server/discover" : "initialize";
  const began = async (times: number) => {
    await expect.poll(() => sent.filter(({ method }) => method === first).length).toBe(times);
    return sent.findLast(({ method }) => method === first)!;
  };
  user!.down();
  const lost = await began(1);
  user!.down();
  expect((await began(2)).id).toBeGreaterThan(lost.id);
  expect([client.lives, client.isUp]).toEqual([1, false]);
  const answer = () => {
    for (const { id } of sent.splice(0)) user!.take({ jsonrpc: "2.0", id, result: {} });
    return client.lives;
  };
  await expect.poll(answer).toBe(2);
  expect(client.isUp).toBe(true);
  client.vanish();
});

test("a server of the era without sessions goes on in another process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "soak-server-"));
  folders.push(folder);
  const hub = await openHub();
  const where = ["--name", "line", "--wire", "stdio", "--era", "modern", "--folder", folder, "--hub", String(hub.port)];
  const call = async (params: object) => {
    const child = spawn(process.execPath, ["bench/soak/server/main.js", ...where], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    child.stdin.end();
    await once(child, "exit");
    return JSON.parse(line);
  };
  try {
    const params = { name: "ask", arguments: { nonce: "c1.1", kind: "elicitation" } };
    const asked = await call(params);
    expect(asked.result.resultType).toBe("input_required");
    const { requestState } = asked.result;
    const inputResponses = { question: { action: "accept", content: { reply: "yes" } } };
    const told = await call({ ...params, requestState, inputResponses });
    expect(told.result?.structuredContent).toMatchObject({ nonce: "c1.1", server: "line", reply: "yes" });
    const other = { name: "ask", arguments: { nonce: "c2.1", kind: "elicitation" } };
    const foreign = await call({ ...other, requestState, inputResponses });
    expect(foreign.error?.message).toBe("Unknown requestState");
  } finally {
    hub.close();
  }
});

describe("a run", () => {
  const counts = { calls: 1000, ok: 900, refused: 90, cut: 10, calm: 800, calmFailed: 8 };
  test.each([
    ["enough succeeded", {}, 0],
    ["too few succeeded", { ok: 600, refused: 390 }, 1],
    ["too many failed in calm weather", { calmFailed: 9 }, 1],
    ["hardly any calm weather", { calm: 200, calmFailed: 0 }, 1],
  ])("%s", (_what, change, found) => {
    const problems = createProblems([]);
    judgeFloor({ ...counts, ...change }, [], problems);
    expect(problems.count("floor")).toBe(found);
  });

  const MB = 1_048_576;
  const reading = (heap: number, descriptors: number) => ({ heap: heap * MB, descriptors, rss: 0 });
  test.each([
    ["the same at the end", reading(20, 60), 100, 0],
    ["more heap", reading(40, 60), 100, 1],
    ["no reading of the heap", reading(Number.NaN, 60), 100, 1],
    ["more descriptors", reading(20, 120), 100, 1],
    ["a peak of memory", reading(20, 60), 500, 1],
  ])("%s", (_what, after, peak, found) => {
    const problems = createProblems([]);
    judgeResources({ before: reading(15, 50), warm: reading(20, 80), after, peakRss: peak * MB }, problems);
    expect(problems.count("resources")).toBe(found);
  });

  test("fails for every kind of problem but those that are known, which it still shows", () => {
    const problems = createProblems(["lostUpdates"]);
    problems.add("lostUpdates", "one");
    expect(problems.failed).toBe(false);
    expect(problems.lines()).toEqual(["known lostUpdates: 1 (changes that a subscriber did not hear of)", "  one"]);
    problems.add("lostAnswers", "two");
    expect(problems.failed).toBe(true);
    expect(() => createProblems(["lostUpdate"])).toThrow('there is no kind "lostUpdate"');
  });
});
