/** Texts of servers as the page shows them to a person who approves them. */
import { expect, test } from "vitest";
import { visible } from "../../../../src/admin/page/format.ts";

test("A-H6: shows every character that nobody sees, selectors that spell bits among them", () => {
  expect(visible("a\u034fb\u17b4c\u{1d159}d\u2800e")).toBe("a⟨034f⟩b⟨17b4⟩c⟨1d159⟩d⟨2800⟩e");
  expect(visible("x\ufe0e\ufe0f")).toBe("x⟨fe0e⟩⟨fe0f⟩");
  expect(visible("\u2764\ufe0f\ufe0f")).toBe("\u2764\ufe0f⟨fe0f⟩");
});

test("leaves emoji, lines and other scripts as they are", () => {
  for (const text of ["\u2764\ufe0f 1\ufe0f\u20e3", "a\n\tb", "é 漢 \u05d0"]) expect(visible(text)).toBe(text);
});
