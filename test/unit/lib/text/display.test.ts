import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cell, fitLine, lineWidth, line as makeLine, marked } from "../../../../src/admin/tui/text/line.ts";
import { chart } from "../../../../src/admin/tui/views/sparkline.ts";
import { clean, cleanLines, strip } from "../../../../src/lib/text/clean.ts";
import { formatBytes, formatCount, formatDuration, formatMs } from "../../../../src/lib/text/format.ts";
import { shorten, toWidth, widthOf, wrap } from "../../../../src/lib/text/width.ts";

const nasty = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("\u001b", "[", "\u009b", "\u202e", "a", "日", "😀", "e\u0301", "\ud800", "\n", "\t", " "),
  }),
);

describe("clean", () => {
  it("shows control characters instead of obeying them", () => {
    expect(clean("a\u001b[2Jb\u0007\u007f")).toBe("a␛[2Jb␇␡");
    expect(clean("\u009b31m\u202eevil\u2066\u{e0041}")).toBe("�31m�evil��");
    expect(clean("one\ntwo\r\nthree\tfour")).toBe("one two three four");
    expect(cleanLines("one\r\ntwo\u2028\tthree")).toEqual(["one", "two", "  three"]);
    expect(strip("na\u0000me\n")).toBe("name");
    expect(clean("日本 👩‍👩‍👧 é")).toBe("日本 👩‍👩‍👧 é");
  });

  it("leaves nothing but printable characters, of any text", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        expect(clean(text)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe("widths", () => {
  it("counts cells", () => {
    expect(["abc", "日本", "😀", "e\u0301", "👩‍👩‍👧", "⚠️", ""].map(widthOf)).toEqual([3, 4, 2, 1, 2, 2, 0]);
    expect(shorten("日本語", 4)).toBe("日…");
    expect(toWidth("日本語", 4)).toBe("日… ");
    expect(toWidth("7", 3, "right")).toBe("  7");
  });

  it("makes cells, lines and wrapped lines that fit, of any text", () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 40 }), fc.constantFrom([], ["a"], ["日"]), (text, width, terms) => {
        expect(lineWidth(cell(text, width, { terms }))).toBe(width);
        expect(lineWidth(fitLine(makeLine(text), width))).toBe(width);
        if (width > 1) for (const one of wrap(clean(text), width)) expect(widthOf(one)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it("wraps at spaces and keeps the indent", () => {
    expect(wrap("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrap("  a long line with an indent", 24)).toEqual(["  a long line with an", "  indent"]);
  });
});

describe("matches", () => {
  const parts = (text: string, terms: string[]): string =>
    marked(text, terms)
      .map(({ text: part, tone }) => (tone === "match" ? `<${part}>` : part))
      .join("");

  it("marks every occurrence, joined where they touch", () => {
    expect(parts("File of files", ["file"])).toBe("<File> of <file>s");
    expect(parts("abcabc", ["bc", "ca"])).toBe("a<bcabc>");
    expect(parts("nothing", ["x"])).toBe("nothing");
  });

  it("keeps a match in sight when the text is cut", () => {
    const shown = cell("filesystem+file:///a/very/long/path/to/target.log", 20, { terms: ["target"] });
    expect(shown.map(({ text }) => text).join("")).toBe("…path/to/target.log ");
  });
});

describe("figures", () => {
  it("are short", () => {
    expect([0, 999, 9999, 10_000, 12_345, 2_000_000].map(formatCount)).toEqual([
      "0",
      "999",
      "9999",
      "10k",
      "12.3k",
      "2M",
    ]);
    expect([undefined, 12, 2048, 1_500_000].map(formatBytes)).toEqual(["–", "12 B", "2 KB", "1.4 MB"]);
    expect([null, 0.26, 12.4, 60_000].map(formatMs)).toEqual(["–", "0.3 ms", "12 ms", "60 s"]);
    expect([0, 61_000, 3_723_000, 200_000_000].map(formatDuration)).toEqual(["0s", "1m 01s", "1h 02m", "2d 7h"]);
  });

  it("are drawn as bars, newest at the right", () => {
    expect(chart([0, 1, 4, 8, null, 2], { width: 8, rows: 1 })).toEqual(["  ·▁▄█ ▂"]);
    expect(chart([0, 1, 4, 8], { width: 4, rows: 2 })).toEqual(["   █", "·▂██"]);
    expect(chart([], { width: 3, rows: 1 })).toEqual(["   "]);
    expect(chart([9, 0, 0], { width: 2, rows: 1 })).toEqual(["··"]);
    expect(chart([0], { width: 4, rows: 2 })).toEqual(["    ", "····"]);
  });
});
