import { expect, test } from "vitest";
import type { KeyPress } from "../../../../src/admin/tui/keys.ts";
import { createTerminalInput } from "../../../../src/admin/tui/terminal-input.ts";

function read(...chunks: (string | Buffer)[]) {
  const seen: (KeyPress | string)[] = [];
  const input = createTerminalInput({ onPress: (press) => seen.push(press), onMouse: (report) => seen.push(report) });
  for (const chunk of chunks) input.feed(Buffer.from(chunk));
  input.close();
  return seen;
}

test.each([
  ["\u001b[A", "up"],
  ["\u001bOB", "down"],
  ["\u001b[1;5C", "right"],
  ["\u001b[d", "left"],
  ["\u001b[H", "home"],
  ["\u001b[1~", "home"],
  ["\u001b[8~", "end"],
  ["\u001b[5~", "pageup"],
  ["\u001b[6;2~", "pagedown"],
  ["\u001b[3~", "delete"],
])("%j is the key %s", (text, name) => {
  expect(read(text)).toEqual([{ input: "", name, shift: false }]);
});

test("shift-tab, meta keys and text between sequences keep their order", () => {
  expect(read("ab\u001b[Z\u001bxé\r\u001b[A")).toEqual([
    { input: "ab" },
    { input: "", name: "tab", shift: true },
    { input: "x", meta: true },
    { input: "é\r" },
    { input: "", name: "up", shift: false },
  ]);
});

test("a sequence and a character that arrive in two chunks are read whole", () => {
  const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
  expect(read("\u001b", "[", "1;2", "A", first, second)).toEqual([
    { input: "", name: "up", shift: false },
    { input: "é" },
  ]);
});

test("a paste is text, whatever it holds, and its end may arrive in parts", () => {
  const seen = read("\u001b[200~one\u001b[A", " two\u001b[20", "1~q") as KeyPress[];
  expect(seen.map(({ pasted }) => pasted)).toEqual([true, true, true, undefined]);
  expect(seen.map(({ input }) => input).join("")).toBe("one\u001b[A twoq");
});

test("mouse reports are told apart from keys", () => {
  expect(read("\u001b[<0;10;5M\u001b[<0;10;5mq")).toEqual(["[<0;10;5M", "[<0;10;5m", { input: "q" }]);
});

test("unknown sequences are ignored, and an escape before another one is the Escape key", () => {
  expect(read("\u001b[15~\u001bOP\u001b\u001b[B")).toEqual([
    { input: "", name: "escape" },
    { input: "", name: "down", shift: false },
  ]);
});

test("a lone escape is the Escape key", async () => {
  const seen: KeyPress[] = [];
  const input = createTerminalInput({ onPress: (press) => seen.push(press), onMouse: () => {} });
  input.feed(Buffer.from("\u001b"));
  expect(seen).toEqual([]);
  await expect.poll(() => seen).toEqual([{ input: "", name: "escape" }]);
});
