/** Colours for dark and light terminals, and none: by the environment, or by the palette. */
import { renderToString } from "ink";
import { describe, expect, it } from "vitest";
import { initialState, type State } from "../../../../src/admin/tui/state/model.ts";
import { paletteEntries } from "../../../../src/admin/tui/state/palette.ts";
import { reduce } from "../../../../src/admin/tui/state/reduce.ts";
import { themeOf } from "../../../../src/admin/tui/state/theme.ts";
import { span } from "../../../../src/admin/tui/text/line.ts";
import { Dashboard } from "../../../../src/admin/tui/views/dashboard.tsx";
import { styleOf } from "../../../../src/admin/tui/views/line.tsx";

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
    expect(styleOf(warning, "dark")).toEqual({ color: "yellow" });
    expect(styleOf(warning, "light")).toEqual({ color: "ansi256(130)" });
    expect(styleOf(warning, "plain")).toEqual({});
    expect(styleOf(span("found", "match"), "plain")).toEqual({ bold: true, underline: true, inverse: true });
  });

  it("draws the parts of a wide overview in borders with titles, as wide as the screen", () => {
    const rows = renderToString(<Dashboard state={state()} />, { columns: 160 }).split("\n");
    expect(rows).toHaveLength(40);
    const titles = rows.filter((row) => row.includes("╭─"));
    expect(titles.map((row) => row.replace(/[╭─╮]+/g, "|").replace(/\s+/g, " "))).toEqual([
      "| calls – | latency – | errors – |",
      "| Servers | Recent calls |",
      "| Log newest last |",
    ]);
    for (const row of rows.filter((one) => /[╭╰│]/.test(one))) expect(row).toHaveLength(160);
    const narrow = renderToString(<Dashboard state={state("dark", 80)} />, { columns: 80 });
    expect(narrow).not.toMatch(/[╭╰]/);
  });
});
