/** Results that are kept: whose they are, how many, how long, and what is on the disk. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { KeptResults } from "../../../../src/core/results/kept-results.ts";
import { eventually } from "../../../fixtures/until.ts";

let root: string;
let folder: string;
const warnings: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "kept-results-"));
  folder = join(root, "state", "results");
  warnings.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

const MB = 1_000_000;
const bytes = (size: number, letter = "x"): Buffer => Buffer.alloc(size, letter);

function create(limits: { ttlMs?: number; memoryBytes?: number; keptBytes?: number } = {}): KeptResults {
  return new KeptResults({
    limits: () => ({ preview: 800, ttlMs: 60_000, memoryBytes: 0, keptBytes: 10 * MB, ...limits }),
    folder: () => folder,
    log: { warn: (message: unknown) => void warnings.push(String(message)) },
  });
}

const of = (principal: string, account = principal) => ({
  client: { principal, account },
  serverId: "web",
  tool: "web_raw",
  maxTokens: 500,
  mimeType: "text/plain",
});

/** The files of all processes. */
function files(): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("/"));
}

describe("whose they are", () => {
  test("the principal that got a result finds it, and nobody else", async () => {
    const kept = create();
    const { id } = (await kept.keep(bytes(10), of("alice")))!;
    expect(kept.find(id, { principal: "alice" })?.size).toBe(10);
    for (const principal of ["bob", "", "ALICE", "alice "]) expect(kept.find(id, { principal })).toBeUndefined();
    await kept.close();
  });

  test.each(["../../etc/passwd", "..", ".", "/", "", "__proto__", "x".repeat(100_000)])(
    "%.20j finds nothing",
    async (id) => {
      const kept = create();
      await kept.keep(bytes(10), of(""));
      expect(kept.find(id, { principal: "" })).toBeUndefined();
      expect(await kept.read({ id } as never)).toBeUndefined();
      await kept.close();
    },
  );
});

describe("where they are", () => {
  test("in memory while there is room, then in files that only the user can read", async () => {
    const kept = create({ memoryBytes: 1000 });
    const first = (await kept.keep(bytes(900, "a"), of("alice")))!;
    expect(files()).toEqual([]);
    const second = (await kept.keep(bytes(900, "b"), of("alice")))!;
    expect(files()).toHaveLength(1);
    const path = join(folder, files()[0]!);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, "utf8")).toBe("b".repeat(900));
    expect((await kept.read(first))?.toString()).toBe("a".repeat(900));
    expect((await kept.read(second))?.toString()).toBe("b".repeat(900));
    await kept.close();
    expect(existsSync(folder)).toBe(false);
    expect(kept.find(first.id, { principal: "alice" })).toBeUndefined();
  });

  test("many at once have a file each", async () => {
    const kept = create();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => kept.keep(bytes(5000, String.fromCharCode(65 + i)), of("alice"))),
    );
    for (const [i, result] of all.entries())
      expect((await kept.read(result!))?.toString()).toBe(String.fromCharCode(65 + i).repeat(5000));
    await kept.close();
    expect(existsSync(folder)).toBe(false);
  });

  test("what ends while it is written is removed too", async () => {
    const kept = create();
    const keeping = kept.keep(bytes(5 * MB), of("alice"));
    await kept.close();
    await keeping;
    expect(existsSync(folder)).toBe(false);
  });
});

describe("how long", () => {
  test("an expired result is gone, and so is its file", async () => {
    const kept = create({ ttlMs: 150 });
    const { id } = (await kept.keep(bytes(10), of("alice")))!;
    await eventually(() => expect(files()).toEqual([]));
    expect(kept.find(id, { principal: "alice" })).toBeUndefined();
    expect(await kept.read({ id } as never)).toBeUndefined();
    await kept.close();
  });

  test("it is not found from the moment on at which it expires", async () => {
    const kept = create({ memoryBytes: MB, ttlMs: 1000 });
    const { id, expires } = (await kept.keep(bytes(10), of("alice")))!;
    vi.useFakeTimers({ now: expires - 1, toFake: ["Date"] });
    expect(kept.find(id, { principal: "alice" })).toBeDefined();
    vi.setSystemTime(expires);
    expect(kept.find(id, { principal: "alice" })).toBeUndefined();
    await kept.close();
  });
});

describe("how many", () => {
  const found = (kept: KeptResults, principal: string, ids: readonly string[]): boolean[] =>
    ids.map((id) => kept.find(id, { principal }) !== undefined);

  test("the oldest ones of the same account make room, and never another's", async () => {
    const kept = create();
    const keep = async (who: string, size: number) => (await kept.keep(bytes(size), of(who)))?.id;
    const bob = (await keep("bob", 2 * MB))!;
    const alice: string[] = [];
    for (let i = 0; i < 6; i++) alice.push((await keep("alice", MB))!);
    // Half of the eight that bob leaves.
    expect(found(kept, "alice", alice)).toEqual([false, false, true, true, true, true]);
    expect(found(kept, "bob", [bob])).toEqual([true]);
    expect(files()).toHaveLength(5);
    await kept.close();
  });

  test("one that is larger than the rest of the room is not kept, and nothing goes for it", async () => {
    const kept = create();
    const mine = (await kept.keep(bytes(3 * MB), of("alice")))!.id;
    await kept.keep(bytes(2 * MB), of("bob"));
    expect(await kept.keep(bytes(9 * MB), of("alice"))).toBeUndefined();
    expect(found(kept, "alice", [mine])).toEqual([true]);
    expect(warnings).toEqual([
      "A long result could not be kept, and was passed on whole: the results of all clients take all room",
    ]);
    await kept.close();
  });

  test("tiny ones are bounded in number", async () => {
    const kept = create({ keptBytes: 40_960, memoryBytes: MB });
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await kept.keep(bytes(1), of("alice")))!.id);
    expect(found(kept, "alice", ids).filter(Boolean)).toHaveLength(5);
    await kept.close();
  });
});

describe("a disk that does not take them", () => {
  test("a folder that cannot be made keeps nothing and says why; later it works again", async () => {
    const kept = create();
    mkdirSync(join(root, "state"));
    writeFileSync(folder, "in the way");
    expect(await kept.keep(bytes(10), of("alice"))).toBeUndefined();
    expect(warnings).toEqual([
      expect.stringMatching(/^A long result could not be kept, and was passed on whole: EEXIST/),
    ]);
    rmSync(folder);
    const { id } = (await kept.keep(bytes(10), of("alice")))!;
    expect(kept.find(id, { principal: "alice" })).toBeDefined();
    await kept.close();
  });

  test("a result whose file was removed or changed is not there, and is said so", async () => {
    const kept = create();
    const [gone, short] = [(await kept.keep(bytes(10), of("a")))!, (await kept.keep(bytes(10), of("a")))!];
    const pathOf = (id: string): string => join(folder, files().find((name) => name.endsWith(id))!);
    rmSync(pathOf(gone.id));
    writeFileSync(pathOf(short.id), "1234");
    expect(await kept.read(gone)).toBeUndefined();
    expect(await kept.read(short)).toBeUndefined();
    expect(kept.find(short.id, { principal: "a" })).toBeUndefined();
    expect(warnings).toHaveLength(2);
    await kept.close();
  });
});

describe("links and leftovers", () => {
  test("a folder that is a link is not used", async () => {
    const kept = create();
    mkdirSync(join(root, "state"));
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), folder);
    expect(await kept.keep(bytes(10), of("alice"))).toBeUndefined();
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/results is not a folder$/)]);
    await kept.close();
  });

  test("a file that became a link is not read", async () => {
    const kept = create();
    const result = (await kept.keep(bytes(10), of("alice")))!;
    const path = join(folder, files()[0]!);
    writeFileSync(join(root, "secret"), "0123456789");
    rmSync(path);
    symlinkSync(join(root, "secret"), path);
    expect(await kept.read(result)).toBeUndefined();
    await kept.close();
    expect(readFileSync(join(root, "secret"), "utf8")).toBe("0123456789");
  });

  test("what killed processes left is removed, links are not followed, and all else stays", async () => {
    mkdirSync(folder, { recursive: true });
    const dead = join(folder, "999999999-abc");
    mkdirSync(dead);
    writeFileSync(join(dead, "x"), "secret");
    const outside = join(root, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "keep me");
    symlinkSync(outside, join(folder, "999999998-abc"));
    symlinkSync(outside, join(dead, "link"));
    mkdirSync(join(folder, "1-alive"));
    mkdirSync(join(folder, "notes"));
    chmodSync(folder, 0o700);
    await create().clean();
    expect(readdirSync(folder).sort()).toEqual(["1-alive", "notes"]);
    expect(readdirSync(outside)).toEqual(["precious"]);
  });
});
