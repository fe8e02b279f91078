/** The key of a state folder: one for all who begin there at once. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { readStateKey } from "../../../src/config/state-key.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";

afterEach(disposeAll);

/** Looks at each file as soon as it is there. */
const WATCHER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { statSync } = require("node:fs");
  parentPort.postMessage("ready");
  const sizes = new Set();
  for (const file of workerData) {
    let found;
    while (found === undefined) found = statSync(file, { throwIfNoEntry: false });
    sizes.add(found.size);
  }
  parentPort.postMessage([...sizes]);
`;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "goblin-key-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("all who begin at once have one key, and nothing else is left", async () => {
  for (let round = 0; round < 20; round++) {
    const folder = newFolder();
    const keys = await Promise.all(Array.from({ length: 20 }, () => readStateKey(folder)));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect(readdirSync(folder)).toEqual(["key"]);
    if (process.platform !== "win32") expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
  }
});

test("nobody ever sees a part of it", async () => {
  const folders = Array.from({ length: 100 }, newFolder);
  const watcher = new Worker(WATCHER, { eval: true, workerData: folders.map((folder) => join(folder, "key")) });
  const seen = new Promise<number[]>((resolve) =>
    watcher.on("message", (sizes) => Array.isArray(sizes) && resolve(sizes)),
  );
  await new Promise((resolve) => watcher.once("message", resolve));
  for (const folder of folders) await readStateKey(folder);
  expect(await seen).toEqual([32]);
});

test("a key that is cut, or that others can read, is refused by its name", async () => {
  const folder = newFolder();
  const file = join(folder, "key");
  writeFileSync(file, "short", { mode: 0o600 });
  await expect(readStateKey(folder)).rejects.toThrow(`${file} is not a key of 32 bytes; remove it`);
  chmodSync(file, 0o640);
  await expect(readStateKey(folder)).rejects.toThrow(/can be read by others/);
});
