/** Files that are replaced as a whole, by both functions that do it. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AtomicWrite,
  writeFileAtomic,
  writeFileAtomicSync,
} from "../../../../src/lib/structures/write-file-atomic.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "goblin-atomic-"));
  onDispose(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const atOnce = async (path: string, content: string, options?: AtomicWrite): Promise<void> =>
  writeFileAtomicSync(path, content, options);

describe.each([
  ["writeFileAtomic", writeFileAtomic],
  ["writeFileAtomicSync", atOnce],
])("%s", (_, write) => {
  test("makes a file that only its owner reads, and no other one beside it", async () => {
    const path = join(folder(), "file");
    await write(path, "one");
    await write(path, "two");
    expect([readFileSync(path, "utf8"), readdirSync(join(path, ".."))]).toEqual(["two", ["file"]]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("keeps the mode of a file if asked to, whatever the umask is", async () => {
    const path = join(folder(), "file");
    await write(path, "one", { mode: 0o666, keepsMode: true });
    expect(statSync(path).mode & 0o777).toBe(0o666);
    chmodSync(path, 0o640);
    await write(path, "two", { mode: 0o666, keepsMode: true });
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["two", 0o640]);
    await write(path, "three");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("leaves nothing behind if it fails", async () => {
    const place = folder();
    const path = join(place, "file");
    mkdirSync(path);
    writeFileSync(join(path, "inside"), "");
    await expect(write(path, "text")).rejects.toThrow();
    expect(readdirSync(place)).toEqual(["file"]);
    await expect(write(join(place, "none", "file"), "text")).rejects.toThrow("ENOENT");
  });
});
