/** The chain of lines, and the file that holds it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Chain, readChain } from "../../../../src/auth/approvals/chain.ts";
import { Ledger, openLedger } from "../../../../src/auth/approvals/ledger.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

function made(): string[] {
  const chain = new Chain();
  const first = chain.next({ event: "proposed", id: "1", client: '","hash":"' }, '{"a":"x"}');
  return [first.whole, ...["2", "3", "4"].map((id) => chain.next({ event: "ended", id }).text)];
}

const joined = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

describe("a chain", () => {
  test("is whole with and without shown arguments, and among other lines", () => {
    const [first, ...rest] = made();
    const bare = first!.replace(/,"arguments":.*\}$/, "}");
    expect(bare).not.toBe(first);
    for (const lines of [
      [first!, ...rest],
      [bare, ...rest],
      ['{"method":"tools/call"}', bare, "", ...rest],
    ]) {
      const { broken, lines: read } = readChain(joined(lines));
      expect([broken, read.map(({ seq }) => seq)]).toEqual([undefined, [1, 2, 3, 4]]);
    }
    // A file that was begun anew goes on where the one before ended.
    expect(readChain(joined(rest)).broken).toBeUndefined();
  });

  test.each([
    ["changed", (lines: string[]) => [lines[0]!, lines[1]!.replace('"2"', '"9"'), lines[2]!, lines[3]!], 2],
    ["removed", (lines: string[]) => [lines[0]!, lines[2]!, lines[3]!], 2],
    ["moved", (lines: string[]) => [lines[1]!, lines[0]!, lines[2]!, lines[3]!], 2],
    ["repeated", (lines: string[]) => [lines[0]!, lines[1]!, lines[1]!], 3],
    ["added", (lines: string[]) => [lines[0]!, new Chain().next({ event: "approved" }).text, ...lines.slice(1)], 2],
    [
      "extended",
      (lines: string[]) => [`${lines[0]!.slice(0, -1)},"by":"me"}`.replace(/,"arguments":"[^}]*\}"/, "")],
      1,
    ],
  ])("with a line that was %s is broken there", (_, edit, line) => {
    expect(readChain(joined(edit(made()))).broken?.line).toBe(line);
  });
});

describe("the file", () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), "ledger-"));
    onDispose(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  const none = (message: string): never => {
    throw new Error(message);
  };

  test("is private, goes on after a restart, and loses a half-written line only", async () => {
    const file = join(folder(), "approvals.jsonl");
    const ledger = (await openLedger(file, none)).create({});
    await Promise.all([ledger.append({ event: "a" }), ledger.append({ event: "b" }, "{}")]);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, '{"seq":3,"event":"c","prev', { flag: "a" });
    const again = await openLedger(file, none);
    expect(again.lines.map(({ value }) => value["event"])).toEqual(["a", "b"]);
    await again.create({}).append({ event: "d" });
    const { lines, broken } = readChain(readFileSync(file, "utf8"));
    expect([broken, lines.map(({ seq }) => seq)]).toEqual([undefined, [1, 2, 3]]);
  });

  test("does not count if somebody wrote into it", async () => {
    const dir = folder();
    const file = join(dir, "approvals.jsonl");
    const ledger = (await openLedger(file, none)).create({});
    await ledger.append({ event: "denied", id: "1" });
    writeFileSync(file, readFileSync(file, "utf8").replace("denied", "approved"));
    const told: string[] = [];
    const { lines } = await openLedger(file, (message) => told.push(message));
    expect(lines).toEqual([]);
    expect(told[0]).toContain("line 1: its content does not fit its hash: it was changed");
    expect(readdirSync(dir).some((name) => name.startsWith("approvals.jsonl.broken-"))).toBe(true);
  });

  test("is begun anew before it grows without bound, in one chain", async () => {
    const dir = folder();
    const file = join(dir, "approvals.jsonl");
    const ledger = new Ledger({ file, maxBytes: 400, summary: () => ({ grants: [], held: [] }) });
    for (let i = 0; i < 4; i++) await ledger.append({ event: "ended", id: String(i), more: "x".repeat(150) });
    await ledger.settled();
    const older = readFileSync(`${file}.1`, "utf8");
    const newer = readFileSync(file, "utf8");
    expect(readChain(older + newer).broken).toBeUndefined();
    expect(newer).toContain('"event":"continued"');
  });

  test("that cannot be written is told to those who wait, and written when it can be", async () => {
    const dir = folder();
    const file = join(dir, "there", "approvals.jsonl");
    const ledger = new Ledger({ file });
    await expect(ledger.append({ event: "a" })).rejects.toThrow("ENOENT");
    const other = join(dir, "there");
    await import("node:fs/promises").then(({ mkdir }) => mkdir(other));
    await ledger.append({ event: "b" });
    expect(readChain(readFileSync(file, "utf8")).lines.map(({ value }) => value["event"])).toEqual(["a", "b"]);
  });
});
