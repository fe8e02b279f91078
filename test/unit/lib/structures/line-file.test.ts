/** Files of lines on disks that fill up, and after processes that ended within a line. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { Ledger, openLedger } from "../../../../src/auth/approvals/ledger.ts";
import { LineFile } from "../../../../src/lib/structures/line-file.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  await disposeAll();
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "goblin-lines-"));
  onDispose(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** The next write of any file takes this many bytes, and then the disk is full. */
async function fillAfter(bytes: number): Promise<void> {
  const probe = await open(join(folder(), "probe"), "a");
  const type = Object.getPrototypeOf(probe) as typeof probe;
  await probe.close();
  const write = type.write as (this: unknown, ...args: unknown[]) => Promise<{ bytesWritten: number }>;
  let isFull = false;
  vi.spyOn(type, "write").mockImplementation(async function (this: unknown, buffer: unknown, offset: unknown) {
    if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    isFull = true;
    return (await write.call(this, buffer, offset, bytes)) as never;
  });
}

test("B5: a line that the disk took in part is cut off, and written as a whole afterwards", async () => {
  const path = join(folder(), "lines");
  const file = new LineFile(path);
  expect(await file.append(['{"n":1}'])).toEqual({ written: 1 });
  await fillAfter(11);
  expect(await file.append(['{"n":2}', '{"n":3}'])).toMatchObject({ written: 1, error: { code: "ENOSPC" } });
  expect(readFileSync(path, "utf8")).toBe('{"n":1}\n{"n":2}\n');
  vi.restoreAllMocks();
  expect(await file.append(['{"n":3}'])).toEqual({ written: 1 });
  expect(readFileSync(path, "utf8")).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  expect(file.bytes).toBe(24);
  await file.close();
});

test.each([
  ["part of a line", '{"n":1}\n{"n"', '{"n":1}\n{"n":2}\n'],
  ["part of the first line", '{"n"', '{"n":2}\n'],
  ["a very long part of a line", `{"n":1}\n{"n":"${"x".repeat(200_000)}`, '{"n":1}\n{"n":2}\n'],
  ["the zeros of a power failure", '{"n":1}\n\0\0\0', '{"n":1}\n{"n":2}\n'],
  ["a text of somebody else", "not ours", 'not ours\n{"n":2}\n'],
])("a file that ends with %s is mended when it is opened", async (_, before, after) => {
  const path = join(folder(), "lines");
  writeFileSync(path, before);
  const file = new LineFile(path);
  await file.append(['{"n":2}']);
  await file.close();
  expect(readFileSync(path, "utf8")).toBe(after);
});

/** Appends until the disk is full, frees it, goes on, and starts again. */
async function fillAndGoOn(file: string, { fill, free }: { fill?: () => Promise<void>; free: () => void }) {
  const ledger = (await openLedger(file, () => {})).create({});
  await ledger.append({ event: "approved", id: "first" });
  await fill?.();
  let failed = 0;
  for (let n = 0; n < 200 && failed === 0; n++)
    await ledger.append({ event: "approved", id: "x".repeat(150) }).catch(() => failed++);
  expect(failed).toBe(1);
  free();
  await ledger.append({ event: "approved", id: "last" });
  await ledger.settled();
  const warnings: string[] = [];
  const { lines } = await openLedger(file, (message) => warnings.push(message));
  expect(warnings).toEqual([]);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, i) => i + 1));
  expect(lines.at(-1)?.value).toMatchObject({ id: "last" });
}

test("B5: approvals are kept when the disk takes half a line", async () => {
  const file = join(folder(), "approvals.jsonl");
  await fillAndGoOn(file, { fill: () => fillAfter(100), free: () => vi.restoreAllMocks() });
});

test("B5: approvals are kept on a disk that is really full", async (context) => {
  const disk = folder();
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]).status !== 0)
    return context.skip("only root may mount");
  onDispose(() => void spawnSync("umount", [disk]));
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc(4096));
  await fillAndGoOn(join(disk, "approvals.jsonl"), { free: () => rmSync(filler) });
});

test("B5: a changed line is still found out", async () => {
  const file = join(folder(), "approvals.jsonl");
  const ledger = new Ledger({ file });
  await ledger.append({ event: "approved", id: "one" });
  await ledger.append({ event: "approved", id: "two" });
  await ledger.settled();
  writeFileSync(file, `${readFileSync(file, "utf8").replace("one", "six")}{"seq":3,`);
  const warnings: string[] = [];
  expect((await openLedger(file, (message) => warnings.push(message))).lines).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("do not count any more")]);
});
