import { describe, expect, it } from "vitest";
import { resultBlocks } from "../../src/admin/tui/content/blocks.ts";
import { blocksText } from "../../src/admin/tui/content/result-text.ts";
import { createScreen } from "../../src/admin/tui/screen.ts";
import type { Action } from "../../src/admin/tui/state/action.ts";
import { initialState, type State } from "../../src/admin/tui/state/model.ts";
import { reduce } from "../../src/admin/tui/state/reduce.ts";
import { paintLine } from "../../src/admin/tui/text/paint.ts";
import { screenOf } from "../../src/admin/tui/views/dashboard.ts";
import { widthOf } from "../../src/lib/text/width.ts";
import { log, plausibleData, resource, tool } from "./fake-rows.ts";
import { refusal } from "./refusal.ts";

function stateOf({ columns = 80, rows = 24 } = {}, ...actions: Action[]): State {
  const { state, ...lists } = plausibleData();
  const first: Action[] = [
    { type: "loaded", lists: { gateway: state, ...lists } },
    { type: "link", link: { status: "up" } },
    ...actions,
  ];
  return first.reduce(
    reduce,
    initialState({ url: "http://gateway", now: Date.UTC(2026, 8, 1, 12, 5), size: { columns, rows } }),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the attributes of the theme `plain`
const ATTRIBUTES = /\u001b\[[\d;]*m/g;

/** The rows of the screen, without attributes. */
const draw = (state: State): string[] =>
  screenOf(state).map((line) => paintLine(line, state.size.columns, "plain").replace(ATTRIBUTES, ""));

const refused = (...options: Parameters<typeof refusal>): Action => ({
  type: "events",
  events: [{ type: "config", data: { problem: refusal(...options) } }],
});

const panels = ["overview", "servers", "tools", "prompts", "resources", "logs", "calls"] as const;
const sizes = [
  [60, 15],
  [80, 24],
  [120, 40],
  [200, 60],
] as const;

describe("every screen", () => {
  const screens: [string, Action[]][] = [
    ...panels.map((to): [string, Action[]] => [to, [{ type: "panel", to }]]),
    ...panels
      .slice(1)
      .map((to): [string, Action[]] => [`${to} with details`, [{ type: "panel", to }, { type: "enter" }]]),
    ["help", [{ type: "help" }]],
    [
      "a picker",
      [
        { type: "panel", to: "logs" },
        { type: "pick", kind: "level" },
      ],
    ],
    [
      "a form",
      [{ type: "panel", to: "tools" }, { type: "move", motion: 2 }, { type: "call-open" }, { type: "call-submit" }],
    ],
    ["templates", [{ type: "panel", to: "resources" }, { type: "templates" }]],
    ["a refused config", [refused({}, 3)]],
    ["a refused config and details", [refused({}), { type: "panel", to: "resources" }, { type: "enter" }]],
    ["away", [{ type: "link", link: { status: "away", since: 0, reason: "nothing listens there", attempt: 2 } }]],
  ];

  it.each(screens)("%s fills the terminal exactly", (_, actions) => {
    for (const [columns, rows] of sizes) {
      const lines = draw(stateOf({ columns, rows }, ...actions));
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  it("stays whole with wide, endless and hostile texts", () => {
    const hostile = `日本語 😀 ${"x".repeat(3000)} \u001b]0;pwned\u0007\u001b[2J\u202e`;
    const lists = {
      tools: [
        tool(hostile, "s", {
          description: hostile,
          title: hostile,
          inputSchema: { type: "object", properties: { [hostile]: { description: hostile } } },
        }),
      ],
      resources: [resource(`x:${hostile}`, "s", { name: hostile, mimeType: hostile, description: hostile })],
      logs: [log(hostile, { server: hostile, extra: { [hostile]: hostile } })],
    };
    for (const to of panels) {
      const lines = draw(stateOf({}, { type: "loaded", lists }, { type: "panel", to }, { type: "enter" }));
      if (to !== "overview") expect(lines).toHaveLength(24);
      const text = lines.join("\n");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
      expect(text).not.toMatch(/\u001b\]|\u0007|\u001b\[2J|\u202e/);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80);
    }
  });
});

describe("what is shown", () => {
  it("a refused config on every panel, below the head: the place and the number of problems at any width", () => {
    const wordy = { key: "mcpServers.docs.urll", hint: 'did you mean "url"?' };
    const banner = (columns: number, ...options: Parameters<typeof refusal>) =>
      draw(stateOf({ columns, rows: 24 }, refused(...options)))[1]?.trimEnd();
    expect(banner(120, wordy, 2)).toBe(
      ' Config not applied: goblin.json:3:14 mcpServers.docs.urll: unknown key (did you mean "url"?)                and 2 more',
    );
    expect(banner(80, wordy)).toBe(" Config not applied: 3:14 mcpServers.docs.urll: unknown key");
    expect(banner(90, wordy)).toBe(' Config not applied: 3:14 mcpServers.docs.urll: unknown key (did you mean "url"?)');
    expect(banner(60, wordy, 12)).toBe(" Config not applied: 3:14 mcpServers.docs.urll… and 12 more");
    expect(banner(80, { line: null, column: null, key: null, message: "there is no such file" })).toBe(
      " Config not applied: goblin.json: there is no such file",
    );
    expect(banner(80, { file: "C:\\conf\\goblin.json" })).toBe(
      " Config not applied: goblin.json:3:14 limit: unknown key",
    );
    for (const to of panels) {
      expect(draw(stateOf({}, refused(), { type: "panel", to }))[1]).toContain("Config not applied: goblin.json:3:14");
      expect(draw(stateOf({}, { type: "panel", to })).join("\n")).not.toContain("Config not applied");
    }
  });

  it("a tool's details: schema, tokens, calls, latency", () => {
    const text = draw(
      stateOf(
        { columns: 120, rows: 50 },
        { type: "panel", to: "tools" },
        { type: "move", motion: 2 },
        { type: "enter" },
      ),
    ).join("\n");
    for (const part of [
      "tokens      120",
      "calls       7",
      "latency     p50 8.5 ms",
      "hints       destructive",
      "repo*: string",
      "owner/name",
      "priority: integer",
      "≥ 1, ≤ 5, default 3",
      'kind: "bug" | "feature" | "question"',
      "labels: string[]",
      "author: object",
      "  name: string",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("blank lines keep their place, so that nothing moves", () => {
    const tools = draw(stateOf({}, { type: "panel", to: "tools" }));
    expect([tools[22], tools[23]?.slice(0, 14)]).toEqual(["", " Enter details"]);
    const overview = draw(stateOf());
    expect([overview[2], overview[6], overview[7]?.slice(0, 8)]).toEqual(["", "", " Servers"]);
  });

  it("a wide terminal gets more columns and facts", () => {
    const servers = (columns: number): string =>
      draw(stateOf({ columns, rows: 24 }, { type: "panel", to: "servers" })).join("\n");
    expect(servers(160)).toContain("connect ECONNREFUSED 10.0.0.7:443");
    // Beside the list, without being asked.
    expect(servers(160)).toContain("latency     p50 12 ms, p99 180 ms");
    expect(servers(130)).toContain("P99");
    expect(servers(80)).not.toContain("P99");
    expect(servers(160)).toContain("up 1h 02m  3300 tokens  expose all  log info  goblin.json");
  });

  it("the first moments: nothing is known yet", () => {
    const first = initialState({ url: "http://127.0.0.1:3000", now: 0, size: { columns: 80, rows: 24 } });
    const lines = draw(reduce(first, { type: "panel", to: "tools" }));
    expect(lines[0]).toContain("goblin  connecting to http://127.0.0.1:3000 …");
    expect(lines.join("\n")).toContain("loading …");
  });

  it("only a window of ten thousand rows", () => {
    const resources = Array.from({ length: 10_000 }, (_, index) => resource(`file:///f-${index}`, "filesystem"));
    const state = stateOf(
      {},
      { type: "loaded", lists: { resources } },
      { type: "panel", to: "resources" },
      { type: "move", motion: 5000 },
    );
    draw(state);
    for (let index = 0; index < 10; index += 1) draw(reduce(state, { type: "move", motion: index }));
    expect(draw(state).join("\n")).toContain("▸   filesystem+file:///f-5000");
  });

  it("results of every kind as text, and nothing twice", () => {
    const shown = (result: Record<string, unknown>): string => blocksText(resultBlocks(result));
    const repeated = { content: [{ type: "text", text: '{"sum":3}' }], structuredContent: { sum: 3 } };
    expect(shown(repeated)).toBe('{\n  "sum": 3\n}');
    expect(shown({ contents: [{ uri: "x:1", mimeType: "image/png", blob: "AAAA" }] })).toBe("[x:1, image/png, 3 B]");
    expect(shown({ messages: [{ role: "user", content: { type: "text", text: "Hi" } }] })).toBe("user:\nHi");
    expect(
      shown({
        content: [
          { type: "text", text: "hi" },
          { type: "image", mimeType: "image/png", data: "A".repeat(4096) },
          { type: "resource_link", uri: "x:1", name: "one" },
          { type: "resource", resource: { uri: "x:2", text: "two" } },
          { type: "hologram", depth: 3 },
        ],
        structuredContent: { ok: true },
      }),
    ).toBe(
      'hi\n\n[image, image/png, 3 KB]\n\nresource link:\nx:1 (one)\n\nx:2:\ntwo\n\n{\n  "type": "hologram",\n  "depth": 3\n}\n\nstructured content:\n{\n  "ok": true\n}',
    );
    expect(shown({})).toBe("{}");
  });
});

describe("the screen", () => {
  const screenOf = (columns: number, rows: number) => {
    const written: string[] = [];
    const terminal = { columns, rows, write: (text: string) => written.push(text) };
    return { screen: createScreen(terminal), terminal, written };
  };

  it("touches only the lines that changed", () => {
    const { screen, written } = screenOf(5, 3);
    screen.draw(["one", "two", "three"]);
    screen.draw(["one", "2", "three"]);
    screen.draw(["one", "2", "three"]);
    expect(written).toEqual([
      "\u001b[?2026h\u001b[0m\u001b[2J\u001b[1;1Hone\u001b[0m\u001b[K\u001b[2;1Htwo\u001b[0m\u001b[K\u001b[3;1Hthree\u001b[0m\u001b[?2026l",
      "\u001b[?2026h\u001b[2;1H2\u001b[0m\u001b[K\u001b[?2026l",
    ]);
  });

  it("never writes below the last row, and forgets when told", () => {
    const { screen, terminal, written } = screenOf(5, 2);
    screen.draw(["a", "b", "c"]);
    expect(written.join("")).not.toContain("c");
    terminal.rows = 3;
    screen.forget();
    screen.draw(["a", "b", "c"]);
    expect(written.at(-1)).toContain("\u001b[3;1Hc");
    screen.close();
    screen.draw(["late"]);
    expect(written.join("")).not.toContain("late");
  });
});
