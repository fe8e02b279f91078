/** Colours for dark and light terminals, and none: by the environment, or by the palette. */
import { describe, expect, it } from "vitest";
import { initialState, type State } from "../../../../src/admin/tui/state/model.ts";
import { paletteEntries } from "../../../../src/admin/tui/state/palette.ts";
import { reduce } from "../../../../src/admin/tui/state/reduce.ts";
import { themeOf } from "../../../../src/admin/tui/state/theme.ts";
import { span } from "../../../../src/admin/tui/text/line.ts";
import { paintLine, styleOf } from "../../../../src/admin/tui/text/paint.ts";
import { screenOf } from "../../../../src/admin/tui/views/dashboard.ts";

describe("the theme", () => {
  it.each([
    [{}, "dark"],
    [{ COLORFGBG: "15;0" }, "dark"],
    [{ COLORFGBG: "0;15" }, "light"],
    [{ COLORFGBG: "0;default;15" }, "light"],
    [{ COLORFGBG: "0;7" }, "light"],
    [{ COLORFGBG: "7;8" }, "dark"],
    [{ COLORFGBG: "default;default" }, "dark"],
    [{ COLORFGBG: "0;15", GOBLIN_THEME: "dark" }, "dark"],
    [{ GOBLIN_THEME: "light" }, "light"],
    [{ GOBLIN_THEME: "pink" }, "dark"],
    [{ GOBLIN_THEME: "light", NO_COLOR: "1" }, "plain"],
  ])("with %j is %s", (env, theme) => {
    expect(themeOf(env)).toBe(theme);
  });

  const state = (theme: State["theme"] = "dark", columns = 160): State =>
    initialState({ url: "http://gateway", now: 0, size: { columns, rows: 40 }, theme });

  it("is changed by the palette, which offers the others", () => {
    const offered = paletteEntries(state(), "theme");
    expect(offered.map(({ label }) => label)).toEqual(["theme light", "theme plain"]);
    expect(offered[0]!.actions.reduce(reduce, state()).theme).toBe("light");
  });

  it("gives each tone colours that its background lets one read, or none", () => {
    const warning = span("careful", "warn");
    expect(styleOf(warning, "dark")).toEqual({ color: 3 });
    expect(styleOf(warning, "light")).toEqual({ color: 130 });
    expect(styleOf(warning, "plain")).toEqual({});
    expect(styleOf(span("found", "match"), "plain")).toEqual({ bold: true, underline: true, inverse: true });
  });

  it("is painted as attributes around the text, which is cut to the width", () => {
    expect(paintLine([span("careful", "warn"), span(" now")], 9, "light")).toBe("\u001b[38;5;130mcareful\u001b[0m …");
    expect(paintLine([span("found", "match")], 9, "dark")).toBe("\u001b[1;4;30;43mfound\u001b[0m");
    expect(paintLine([span("plain")], 9, "dark")).toBe("plain");
  });

  it("draws the parts of a wide overview in borders with titles, as wide as the screen", () => {
    const draw = (shown: State): string[] => screenOf(shown).map((line) => line.map(({ text }) => text).join(""));
    const rows = draw(state());
    expect(rows).toHaveLength(40);
    const titles = rows.filter((row) => row.includes("╭─"));
    expect(titles.map((row) => row.replace(/[╭─╮]+/g, "|").replace(/\s+/g, " "))).toEqual([
      "| calls – | latency – | errors – |",
      "| Servers | Recent calls |",
      "| Log newest last |",
    ]);
    for (const row of rows.filter((one) => /[╭╰│]/.test(one))) expect(row).toHaveLength(160);
    const narrow = draw(state("dark", 80));
    expect(narrow.join("\n")).not.toMatch(/[╭╰]/);
  });
});
