/** Sorting, the palette, the mouse, folding, and what a row says about how certain it is. */
import { describe, expect, it } from "vitest";
import { createViewer, documentLines, foldAll, toggleFold } from "../../../../src/admin/tui/content/document.ts";
import { mouseAction, readMouse } from "../../../../src/admin/tui/mouse.ts";
import type { Action } from "../../../../src/admin/tui/state/action.ts";
import { initialState, type State } from "../../../../src/admin/tui/state/model.ts";
import { paletteEntries } from "../../../../src/admin/tui/state/palette.ts";
import { reduce } from "../../../../src/admin/tui/state/reduce.ts";
import { selectedItem, selectRows } from "../../../../src/admin/tui/state/select.ts";
import { cutMiddle, type Line } from "../../../../src/admin/tui/text/line.ts";
import { screenOf } from "../../../../src/admin/tui/views/dashboard.ts";
import { log, plausibleData, resource, server, tool } from "../../../tui/fake-rows.ts";

const textOf = (line: Line): string => line.map(({ text }) => text).join("");
const screen = (state: State): string[] => screenOf(state).map(textOf);
const run = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);

function start(size = { columns: 80, rows: 24 }, ...actions: Action[]): State {
  const { state, ...lists } = plausibleData();
  return run(
    initialState({ url: "http://gateway", now: Date.UTC(2026, 8, 1, 12, 5), size }),
    { type: "loaded", lists: { gateway: state, ...lists } },
    { type: "link", link: { status: "up" } },
    ...actions,
  );
}

describe("the order of a list", () => {
  const many = ["b_tool_10", "b_tool_2", "a_Tool_1"].map((name) => tool(name.slice(2), name.slice(0, 1)));
  const names = (state: State): string[] => selectRows.tools(state).map(({ name }) => name);
  const tools = start(undefined, { type: "loaded", lists: { tools: many } }, { type: "panel", to: "tools" });

  it("is natural: tool_2 before tool_10", () => {
    expect(names(tools)).toEqual(["a_Tool_1", "b_tool_2", "b_tool_10"]);
    expect(names(run(tools, { type: "sort-reverse" }))).toEqual(["b_tool_10", "b_tool_2", "a_Tool_1"]);
  });

  it("follows any column, the largest first, and keeps the selection; missing values come last", () => {
    const rows = [
      tool("a", "s", { calls: 1, p50Ms: null }),
      tool("b", "s", { calls: 30, p50Ms: 4 }),
      tool("c", "s", { calls: 2, p50Ms: 9 }),
    ];
    const at = run(tools, { type: "loaded", lists: { tools: rows } }, { type: "move", motion: 2 });
    const byCalls = run(at, { type: "sort", column: "CALLS" });
    expect(names(byCalls)).toEqual(["s_b", "s_c", "s_a"]);
    expect(selectedItem(byCalls)?.item).toMatchObject({ name: "s_c" });
    expect(screen(byCalls)[3]).toContain("CALL↓");
    expect(names(run(byCalls, { type: "sort", column: "CALLS" }))).toEqual(["s_a", "s_c", "s_b"]);
    expect(names(run(at, { type: "sort", column: "P50" }))).toEqual(["s_c", "s_b", "s_a"]);
    expect(names(run(at, { type: "sort", column: "P50" }, { type: "sort-reverse" }))).toEqual(["s_b", "s_c", "s_a"]);
    expect(names(run(at, { type: "pick", kind: "sort" }, { type: "move", motion: 4 }, { type: "choose" }))).toEqual(
      names(byCalls),
    );
  });
});

describe("the palette", () => {
  it("finds commands, servers, tools and resources, and does what keys would", () => {
    const state = start();
    const labels = (query: string): string[] => paletteEntries(state, query).map(({ label }) => label);
    expect(labels("")).toContain("github");
    expect(labels("rest git")).toEqual(["restart github"]);
    expect(labels("create_iss")).toEqual(["github_create_issue"]);
    expect(labels("hosts")).toEqual(["filesystem+file:///etc/hosts"]);
    expect(labels("zzz")).toEqual([]);
    const [entry] = paletteEntries(state, "create_iss");
    expect(run(state, ...(entry?.actions ?? [])).mode).toMatchObject({
      name: "call",
      form: { target: { name: "github_create_issue" } },
    });
    const logs = paletteEntries(state, "github logs")[0]?.actions ?? [];
    expect(run(state, ...logs)).toMatchObject({ panel: "logs", serverFilter: "github" });
  });
});

describe("the mouse", () => {
  const click = (state: State, column: number, row: number): Action[] =>
    readMouse(`[<0;${column};${row}M`)!.flatMap((event) => mouseAction(state, event));

  it("reads reports, several at once, and nothing else", () => {
    expect(readMouse("[<0;5;6M\u001b[<0;5;6m")).toHaveLength(2);
    expect(readMouse("[<0;5;6Mx")).toBeUndefined();
    expect(readMouse("j")).toBeUndefined();
  });

  it("chooses tabs, selects rows, opens the selected one, sorts, scrolls", () => {
    const tools = start(undefined, { type: "panel", to: "tools" });
    const column = screen(tools)[1]!.indexOf("Logs") + 1;
    expect(click(tools, column, 2)).toEqual([{ type: "panel", to: "logs" }]);
    expect(screen(tools)[5]).toContain("filesystem_write_fi");
    expect(click(tools, 10, 6)).toEqual([{ type: "select", list: "tools", index: 1 }]);
    expect(click(tools, 10, 5)).toEqual([{ type: "enter" }]);
    expect(click(tools, screen(tools)[3]!.indexOf("TOKENS") + 1, 4)).toEqual([{ type: "sort", column: "TOKENS" }]);
    expect(click(tools, 10, 20)).toEqual([]);
    expect(readMouse("[<65;1;1M")!.flatMap((event) => mouseAction(tools, event))).toEqual([
      { type: "move", motion: 3 },
    ]);
  });

  it("reaches the templates below the resources", () => {
    const resources = start(undefined, { type: "panel", to: "resources" });
    const row = screen(resources).findIndex((line) => line.includes("repo-file")) + 1;
    expect(click(resources, 10, row)).toEqual([{ type: "select", list: "templates", index: 0 }]);
    expect(run(resources, ...click(resources, 10, row)).inTemplates).toBe(true);
  });
});

describe("a document", () => {
  const viewer = createViewer([{ kind: "json", value: { a: 1, b: { c: [1, 2], d: "x" }, e: null } }]);
  const lines = (shown: typeof viewer): string[] => documentLines(shown, 60).map(({ line }) => textOf(line));

  it("draws JSON in colours and folds what is at the cursor", () => {
    expect(lines(viewer)).toEqual([
      "{",
      '  "a": 1,',
      '  "b": {',
      '    "c": [',
      "      1,",
      "      2",
      "    ],",
      '    "d": "x"',
      "  },",
      '  "e": null',
      "}",
    ]);
    const tones = documentLines(viewer, 60)[1]!.line.map(({ tone }) => tone);
    expect(tones).toEqual(expect.arrayContaining(["key", "number"]));
    const folded = toggleFold({ ...viewer, cursor: 2 }, 60);
    expect(lines(folded)).toEqual(["{", '  "a": 1,', '  "b": ▸ {…}, 2 keys', '  "e": null', "}"]);
    expect(lines(toggleFold(folded, 60))).toEqual(lines(viewer));
    expect(lines(foldAll(viewer, true))).toEqual(lines(folded));
    expect(lines(foldAll(folded, false))).toEqual(lines(viewer));
  });

  it("folds what lies deep in a large value at first, and cuts nothing that is long", () => {
    const deep = { list: Array.from({ length: 100 }, (_, index) => ({ id: index, more: { text: "y".repeat(60) } })) };
    const large = createViewer([{ kind: "json", value: deep }]);
    expect(lines(large).length).toBeLessThan(420);
    expect(lines(large).join("\n")).toContain("{…} 1 key");
    const long = createViewer([{ kind: "json", value: { s: "z".repeat(150) } }]);
    expect(lines(long).join("").match(/z/g)).toHaveLength(150);
  });
});

describe("what a row says", () => {
  it("nothing is green while the gateway is away", () => {
    const away = start(undefined, { type: "link", link: { status: "away", since: 0, reason: "gone", attempt: 1 } });
    for (const to of ["overview", "servers"] as const) {
      const spans = screenOf(run(away, { type: "panel", to })).flat();
      expect(spans.filter(({ text }) => text.includes("ready")).map(({ tone }) => tone)).not.toContain("good");
    }
    expect(screen(away).join("\n")).toContain("2 of 4 ready when last seen");
  });

  it("a state and a reason that nobody knew", () => {
    const row = { ...server("new", { reason: "npx downloads 12 packages" }), state: "hibernating" as "ready" };
    const state = start(
      { columns: 120, rows: 24 },
      { type: "loaded", lists: { servers: [row] } },
      { type: "panel", to: "servers" },
    );
    expect(screen(state).join("\n")).toMatch(/○ new +hibernati/);
    expect(screen(state).join("\n")).toContain("npx downloads 12 packages");
  });

  it("the reason in the log's line, the position in the list, a scroll bar, a bar to the edge", () => {
    const down = log("Server is down", { level: "error", extra: { reason: "exited with code 1" } });
    const logs = start(undefined, { type: "loaded", lists: { logs: [down] } }, { type: "panel", to: "logs" });
    expect(screen(logs).join("\n")).toContain("Server is down: exited with code 1");
    const bar = screenOf(logs).find((line) => textOf(line).includes("Server is down"))!;
    expect(textOf(bar)).toHaveLength(80);
    expect(bar.every((part) => part.bar)).toBe(true);

    const files = Array.from({ length: 300 }, (_, index) =>
      resource(`file:///a/very/long/folder/with/many/parts/f${index}`, "big"),
    );
    const many = start(
      undefined,
      { type: "loaded", lists: { resources: files } },
      { type: "panel", to: "resources" },
      { type: "move", motion: 33 },
    );
    expect(screen(many)[2]).toContain("34/300");
    expect(screen(many).filter((line) => /[┃│]$/.test(line)).length).toBeGreaterThan(5);
    // The end tells URIs apart.
    expect(screen(many).join("\n")).toContain("/f33 ");
  });

  it("zero errors are no red dots, and what is not read yet is not empty", () => {
    const pulse = { time: 1, uptimeMs: 1, callsPerSecond: 0, errorsPerSecond: 0, p50Ms: null, p99Ms: null };
    const { counts, calls, tokens, logLevel } = plausibleData().state;
    const quiet = start(undefined, {
      type: "events",
      events: [{ type: "state", data: { ...pulse, counts, calls, tokens, logLevel } }],
    });
    const errors = screenOf(quiet).find((line) => textOf(line).startsWith(" errors"))!;
    expect(errors.filter(({ text }) => text.includes("·")).map(({ tone }) => tone)).toEqual(["quiet"]);
    const empty = initialState({ url: "u", now: 0, size: { columns: 80, rows: 24 } });
    expect(screen(empty).join("\n")).not.toMatch(/none|0 of 0/);
    expect(screen(run(empty, { type: "panel", to: "servers" })).join("\n")).toContain("loading …");
  });

  it("what a field wants, before it is wrong", () => {
    const form = start(
      undefined,
      { type: "panel", to: "tools" },
      { type: "reach", list: "tools", key: "github_create_issue" },
      { type: "call-open" },
    );
    const text = screen(form).join("\n");
    expect(text).toContain('JSON: ["a", "b"]');
    expect(text).toContain('JSON: {"a": 1}');
    expect(text).toContain("≥ 1, ≤ 5");
  });

  it("panels side by side on a wide screen", () => {
    const wide = start({ columns: 200, rows: 60 });
    const line = screen(wide).find((one) => one.includes("Servers  2 of 4 ready"));
    expect(line).toContain("Recent calls");
    expect(screen(run(wide, { type: "panel", to: "tools" }))[4]).toMatch(/^▸ filesystem_read_file .*│ /);
  });
});

it("a long text is cut in the middle, to its width", () => {
  expect(cutMiddle("abcdefghijklmnop", 10)).toBe("abc…klmnop");
  expect(cutMiddle("short", 10)).toBe("short");
});
