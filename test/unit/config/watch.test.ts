/**
 * Against real files. Polling is off except where it is the subject, so that the events alone have
 * to do.
 */
import { mkdir, mkdtemp, readFile, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { foldersOnTheWay } from "../../../src/config/reading/link-folders.ts";
import { type ConfigWatch, type WatchOptions, watchConfig } from "../../../src/config/watch.ts";
import { until } from "../../fixtures/until.ts";

let folder: string;
let path: string;
let watches: ConfigWatch[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "goblin-watch-"));
  path = join(folder, "goblin.json");
  await writeFile(path, "1");
  watches = [];
});
afterEach(async () => {
  for (const watch of watches) watch.close();
  await rm(folder, { recursive: true, force: true });
});

/** Collects the text that each change led to. */
async function start(file: string, options: WatchOptions = {}) {
  const seen: Promise<string>[] = [];
  const onChange = () => void seen.push(readFile(file, "utf8").catch(() => "missing"));
  watches.push(await watchConfig(file, onChange, { debounceMs: 30, pollMs: 0, ...options }));
  return {
    count: () => seen.length,
    async until(count: number): Promise<string[]> {
      await until(() => seen.length >= count, { what: `change ${count}` });
      return Promise.all(seen);
    },
  };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a file written in place, several times", async () => {
  const changes = await start(path);
  await writeFile(path, "2");
  expect(await changes.until(1)).toEqual(["2"]);
  await writeFile(path, "3");
  expect(await changes.until(2)).toEqual(["2", "3"]);
});

test("a burst is one change, seen when it is over", async () => {
  const changes = await start(path, { debounceMs: 1500 });
  for (let text = 2; text < 10; text++) {
    await writeFile(path, String(text));
    await sleep(5);
  }
  expect(await changes.until(1)).toEqual(["9"]);
  await sleep(100);
  expect(changes.count()).toBe(1);
});

test("replaced by rename, as editors save, again and again", async () => {
  const changes = await start(path);
  for (const [index, text] of ["2", "3", "4"].entries()) {
    await writeFile(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
    expect((await changes.until(index + 1)).at(-1)).toBe(text);
  }
});

test("moved to a backup and written anew, missing for a moment", async () => {
  const changes = await start(path);
  await rename(path, `${path}~`);
  await sleep(100);
  expect(changes.count()).toBe(0);
  await writeFile(path, "2");
  expect(await changes.until(1)).toEqual(["2"]);
});

test("back with the same text after it was missing: readers in between read nothing", async () => {
  const changes = await start(path);
  // It is missing for longer and longer, until somebody looked meanwhile. That is told at any time,
  // also when it is missing again.
  for (let ms = 100; changes.count() === 0; ms *= 2) {
    await rename(path, `${path}~`);
    await sleep(ms);
    await rename(`${path}~`, path);
    await sleep(ms);
  }
  expect(["1", "missing"]).toContain((await changes.until(1))[0]);
});

test("the same text again, or another file, is no change", async () => {
  const changes = await start(path);
  await writeFile(path, "1");
  await writeFile(join(folder, "other.json"), "x");
  await sleep(200);
  expect(changes.count()).toBe(0);
});

test("the swap of a linked folder, as Kubernetes does it, twice", async () => {
  const mount = join(folder, "mount");
  for (const version of ["..v1", "..v2", "..v3"]) {
    await mkdir(join(mount, version), { recursive: true });
    await writeFile(join(mount, version, "goblin.json"), version);
  }
  await symlink("..v1", join(mount, "..data"));
  await symlink("..data/goblin.json", join(mount, "goblin.json"));
  const changes = await start(join(mount, "goblin.json"));
  for (const [index, version] of ["..v2", "..v3"].entries()) {
    await symlink(version, join(mount, "..data_tmp"));
    await rename(join(mount, "..data_tmp"), join(mount, "..data"));
    expect((await changes.until(index + 1)).at(-1)).toBe(version);
    await rm(join(mount, `..v${index + 1}`), { recursive: true });
  }
  expect(changes.count()).toBe(2);
});

test("a link to a file elsewhere: the file edited, then the link pointed to another", async () => {
  const target = join(folder, "target");
  await mkdir(join(folder, "links"));
  await mkdir(target);
  await writeFile(join(target, "a.json"), "a");
  await writeFile(join(target, "b.json"), "b");
  const link = join(folder, "links", "goblin.json");
  await symlink("../target/a.json", link);
  const changes = await start(link);
  await writeFile(join(target, "a.json"), "a2");
  expect(await changes.until(1)).toEqual(["a2"]);
  await unlink(link);
  await symlink("../target/b.json", link);
  expect((await changes.until(2)).at(-1)).toBe("b");
});

test("its whole folder removed and made again", async () => {
  const inner = join(folder, "inner");
  await mkdir(inner);
  await writeFile(join(inner, "goblin.json"), "1");
  const changes = await start(join(inner, "goblin.json"));
  await rm(inner, { recursive: true });
  await sleep(100);
  await mkdir(inner);
  await sleep(100);
  await writeFile(join(inner, "goblin.json"), "2");
  expect(await changes.until(1)).toEqual(["2"]);
});

test("its folder exchanged for another in one go, which is then watched", async () => {
  const inner = join(folder, "inner");
  for (const name of [inner, `${inner}-next`]) {
    await mkdir(name);
    await writeFile(join(name, "goblin.json"), name);
  }
  const changes = await start(join(inner, "goblin.json"));
  await rename(inner, `${inner}-old`);
  await rename(`${inner}-next`, inner);
  expect(await changes.until(1)).toEqual([`${inner}-next`]);
  await writeFile(join(inner, "goblin.json"), "2");
  expect((await changes.until(2)).at(-1)).toBe("2");
});

test("a file that appears only later", async () => {
  const later = join(folder, "later.json");
  const changes = await start(later);
  await writeFile(later, "1");
  expect(await changes.until(1)).toEqual(["1"]);
});

test("an edit between loading and watching", async () => {
  const changes = await start(path, { since: "the digest of another text" });
  expect(await changes.until(1)).toEqual(["1"]);
});

test("polling alone sees a change", async () => {
  const changes = await start(path, { debounceMs: 60_000, pollMs: 20 });
  await writeFile(path, "2");
  expect(await changes.until(1)).toEqual(["2"]);
});

test("nothing after close", async () => {
  const changes = await start(path);
  await writeFile(path, "2");
  for (const watch of watches) watch.close();
  await writeFile(path, "3");
  await sleep(150);
  expect(changes.count()).toBe(0);
});

test("nothing after close, even if it comes in the middle of a look", async () => {
  for (let turns = 0; turns < 40; turns++) {
    let closed = false;
    let late = 0;
    const onChange = () => {
      if (closed) late++;
    };
    const watch = await watchConfig(path, onChange, { debounceMs: 0, pollMs: 0 });
    await writeFile(path, `turn ${turns}`);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    watch.close();
    closed = true;
    await sleep(5);
    expect(late).toBe(0);
  }
});

test("links that lead in a circle end", async () => {
  await symlink("b", join(folder, "a"));
  await symlink("a", join(folder, "b"));
  expect([...(await foldersOnTheWay(join(folder, "a")))].at(-1)).toBe(folder);
});
