/** The first answers are read without WebAssembly, with the same result. */
import { afterEach, expect, test, vi } from "vitest";

const KB = 1024;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The scan of a process that has just started, and how often it has compiled WebAssembly. */
async function freshScan() {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } };
  let compiled = 0;
  class Module extends WebAssembly.Module {
    constructor(bytes: Uint8Array) {
      super(bytes);
      compiled++;
    }
  }
  vi.stubGlobal("WebAssembly", Object.assign(Object.create(WebAssembly), { Module }));
  vi.resetModules();
  const { scanValue } = await import("../../../../src/lib/json/json-scan.ts");
  return { scan: (text: string) => scanValue(Buffer.from(text), 0), compiled: () => compiled };
}

test("WebAssembly is compiled after the first megabyte of long answers", async () => {
  const { scan, compiled } = await freshScan();
  const list = JSON.stringify("x".repeat(100 * KB));
  for (let i = 0; i < 10; i++) expect(scan(list)).toBe(list.length);
  expect(compiled()).toBe(0);
  for (let i = 0; i < 2; i++) expect(scan(list)).toBe(list.length);
  expect(compiled()).toBe(1);
});

test("short answers do not count", async () => {
  const { scan, compiled } = await freshScan();
  const short = JSON.stringify("x".repeat(400));
  for (let i = 0; i < 4 * KB; i++) scan(short);
  expect(compiled()).toBe(0);
});

test("one large answer is enough", async () => {
  const { scan, compiled } = await freshScan();
  const text = JSON.stringify("x".repeat(2 * KB * KB));
  expect(scan(text)).toBe(text.length);
  expect(compiled()).toBe(1);
});

test.each([
  ["a", true],
  ["\\n", true],
  ['\\"', true],
  ["\\u00e9", true],
  ["é", true],
  ["\\u12g4", false],
  ["\\x", false],
  ["\n", false],
  ['"', false],
  ["\\", false],
])("a long string with %j in it, before and after", async (piece, isValid) => {
  const { scan } = await freshScan();
  const text = `["${"x".repeat(1000)}${piece}${"y".repeat(20)}","z"]`;
  const expected = isValid ? Buffer.byteLength(text) : -1;
  expect(scan(text)).toBe(expected);
  scan(JSON.stringify("x".repeat(2 * KB * KB)));
  expect(scan(text)).toBe(expected);
});
