import { describe, expect, it } from "vitest";
import { detailsLines } from "../../../../src/admin/tui/content/details.ts";
import type { Action } from "../../../../src/admin/tui/state/action.ts";
import { layoutOf } from "../../../../src/admin/tui/state/layout.ts";
import { initialState, type State } from "../../../../src/admin/tui/state/model.ts";
import { reduce } from "../../../../src/admin/tui/state/reduce.ts";
import {
  currentList,
  cursorIndex,
  isSubscribed,
  pickerChoices,
  selectedItem,
  selectRows,
  windowTop,
} from "../../../../src/admin/tui/state/select.ts";
import { call, log, plausibleData, resource, server, tool } from "../../../tui/fake-rows.ts";
import { refusal } from "../../../tui/refusal.ts";

const empty = initialState({ url: "http://gateway", now: 1000, size: { columns: 80, rows: 24 } });

function loaded(): State {
  const { state, ...lists } = plausibleData();
  return run(empty, { type: "loaded", lists: { gateway: state, ...lists } }, { type: "link", link: { status: "up" } });
}

function run(state: State, ...actions: Action[]): State {
  return actions.reduce(reduce, state);
}

const names = (state: State): string[] => selectRows.tools(state).map(({ name }) => name);
const selectedName = (state: State): unknown => {
  const selected = selectedItem(state);
  return selected?.list === "tools" ? selected.item.name : undefined;
};

describe("moving", () => {
  const tools = run(loaded(), { type: "panel", to: "tools" });

  it("stays inside the list", () => {
    expect(cursorIndex(run(tools, { type: "move", motion: -1 }), "tools")).toBe(0);
    expect(cursorIndex(run(tools, { type: "move", motion: "bottom" }, { type: "move", motion: 1 }), "tools")).toBe(3);
    expect(cursorIndex(run(tools, { type: "move", motion: "half-down" }, { type: "move", motion: -1 }), "tools")).toBe(
      2,
    );
    expect(cursorIndex(empty, "tools")).toBe(-1);
  });

  it("keeps the item, not the line, when the list changes", () => {
    const at = run(tools, { type: "move", motion: 2 });
    const grown = run(at, { type: "loaded", lists: { tools: [tool("a", "aaa"), ...at.tools] } });
    expect(selectedName(at)).toBe("github_create_issue");
    expect(selectedName(grown)).toBe("github_create_issue");
    const shrunk = run(at, { type: "loaded", lists: { tools: at.tools.slice(0, 2) } });
    expect(selectedName(shrunk)).toBe("filesystem_write_file");
  });

  it("goes round the panels both ways", () => {
    expect(run(empty, { type: "panel-step", by: -1 }).panel).toBe("calls");
    expect(run(empty, { type: "panel-step", by: -1 }, { type: "panel-step", by: 1 }).panel).toBe("overview");
  });

  it("keeps a window around the cursor", () => {
    expect(windowTop(0, 10_000, 18)).toBe(0);
    expect(windowTop(5000, 10_000, 18)).toBe(4991);
    expect(windowTop(9999, 10_000, 18)).toBe(9982);
    expect(windowTop(3, 5, 18)).toBe(0);
  });

  it("opens details, then scrolls in them as far as they go, then comes back", () => {
    const open = run(tools, { type: "move", motion: 2 }, { type: "enter" });
    expect([open.details, run(open, { type: "move", motion: 1 }).cursors.tools.index]).toEqual(["open", 3]);
    const focused = run(open, { type: "enter" }, { type: "move", motion: "bottom" });
    const length = detailsLines(focused, layoutOf(focused)).length;
    expect(focused.details).toBe("focused");
    expect(focused.detailsTop).toBe(length - 19);
    expect(run(focused, { type: "move", motion: 1 }).detailsTop).toBe(length - 19);
    expect(run(focused, { type: "back" }).details).toBe("open");
    expect(run(focused, { type: "back" }, { type: "back" }).details).toBe("closed");
  });
});

describe("search and filters", () => {
  const tools = run(loaded(), { type: "panel", to: "tools" });
  const type = (state: State, insert: string): State =>
    run(state, { type: "search" }, { type: "search-edit", edit: { insert } });

  it("hides what does not match every word, whatever its case", () => {
    expect(names(type(tools, "FILE"))).toEqual(["filesystem_read_file", "filesystem_write_file"]);
    expect(names(type(tools, "file evil"))).toEqual(["filesystem_write_file"]);
    expect(names(type(tools, "nothing like it"))).toEqual([]);
  });

  it("keeps the selection where it can and takes the first match where it cannot", () => {
    const at = run(tools, { type: "move", motion: 2 });
    expect(selectedName(type(at, "issue"))).toBe("github_create_issue");
    expect(selectedName(run(type(at, "issue"), { type: "search-done", keep: false }))).toBe("github_create_issue");
    expect(selectedName(type(at, "write"))).toBe("filesystem_write_file");
  });

  it("edits and drops the search", () => {
    const typed = type(tools, "read fi\u001ble");
    expect(typed.queries.tools).toBe("read file");
    expect(run(typed, { type: "search-edit", edit: { erase: "word" } }).queries.tools).toBe("read ");
    expect(run(typed, { type: "search-edit", edit: { erase: "one" } }).queries.tools).toBe("read fil");
    const kept = run(typed, { type: "search-done", keep: true });
    expect([kept.mode.name, kept.queries.tools]).toEqual(["browse", "read file"]);
    expect(run(kept, { type: "back" }).queries.tools).toBe("");
  });

  it("filters by server and MIME type", () => {
    const resources = run(loaded(), { type: "panel", to: "resources" });
    const uris = (state: State): string[] => selectRows.resources(state).map(({ originalUri }) => originalUri);
    expect(pickerChoices(resources, "mime")).toEqual([
      { value: undefined, label: "all types", count: 5 },
      { value: "image/png", label: "image/png", count: 1 },
      { value: "text/markdown", label: "text/markdown", count: 1 },
      { value: "text/plain", label: "text/plain", count: 2 },
    ]);
    const plain = run(
      resources,
      { type: "pick", kind: "mime" },
      { type: "move", motion: "bottom" },
      { type: "choose" },
    );
    expect(uris(plain)).toEqual(["file:///etc/hosts", "file:///logs/app.log"]);
    expect(selectRows.templates(plain)).toEqual([]);
    const github = run(resources, { type: "pick", kind: "server" }, { type: "move", motion: 3 }, { type: "choose" });
    expect([github.serverFilter, uris(github)]).toEqual(["github", ["repo://goblin/README.md"]]);
    expect(selectRows.templates(github)).toHaveLength(1);
  });

  it("has no MIME picker where there are no MIME types", () => {
    expect(run(tools, { type: "pick", kind: "mime" }).mode.name).toBe("browse");
  });

  it("does not filter again when something else changed", () => {
    const state = type(tools, "file");
    const rows = selectRows.tools(state);
    expect(selectRows.tools(run(state, { type: "tick", now: 5000 }))).toBe(rows);
  });

  it("marks what is subscribed, by count or by record", () => {
    const state = loaded();
    expect(state.resources.map((item) => isSubscribed(state, item))).toEqual([true, false, false, false]);
    const other = {
      ...state,
      subscriptions: [{ client: "c", serverId: "github", uri: "repo://goblin/README.md", since: 1 }],
    };
    expect(isSubscribed(other, resource("repo://goblin/README.md", "github"))).toBe(true);
  });

  it("has the templates as a list of their own", () => {
    const resources = run(loaded(), { type: "panel", to: "resources" });
    expect([currentList(resources), currentList(run(resources, { type: "templates" }))]).toEqual([
      "resources",
      "templates",
    ]);
  });
});

describe("events", () => {
  it("updates, adds and removes servers", () => {
    const down = server("github", { state: "down" });
    const next = run(loaded(), {
      type: "events",
      events: [
        { type: "server", data: { id: "github", server: down } },
        { type: "server", data: { id: "docs", server: null } },
        { type: "server", data: { id: "alpha", server: server("alpha") } },
      ],
    });
    expect(next.servers.map(({ id, state }) => `${id} ${state}`)).toEqual([
      "alpha ready",
      "filesystem ready",
      "github down",
      "scratch disabled",
    ]);
  });

  it("counts calls at their tools", () => {
    const next = run(loaded(), {
      type: "events",
      events: [
        { type: "call", data: call("github_create_issue") },
        { type: "call", data: call("github_create_issue", { outcome: "timeout" }) },
        { type: "call", data: call("github_create_issue", { method: "prompts/get" }) },
      ],
    });
    const issue = next.tools.find(({ name }) => name === "github_create_issue");
    expect([issue?.calls, issue?.errors, next.calls.length]).toEqual([9, 1, 5]);
  });

  it("keeps a bounded log and series", () => {
    const logs = Array.from({ length: 6000 }, (_, index) => ({ type: "log", data: log(`${index}`) }) as const);
    const next = run(loaded(), { type: "events", events: logs });
    expect([next.logs.length, next.logs.at(-1)?.msg, next.logs[0]?.number]).toEqual([5000, "5999", 1004]);
  });

  it("follows the log until the cursor leaves its end", () => {
    const logs = run(loaded(), { type: "panel", to: "logs" });
    const line: Action = { type: "events", events: [{ type: "log", data: log("new") }] };
    expect(cursorIndex(run(logs, line), "logs")).toBe(4);
    const reading = run(logs, { type: "move", motion: -1 }, line);
    expect([reading.follow, cursorIndex(reading, "logs")]).toEqual([false, 2]);
    expect(cursorIndex(run(reading, { type: "follow" }), "logs")).toBe(4);
    expect(cursorIndex(run(logs, { type: "follow" }, line), "logs")).toBe(3);
  });

  it("shows only log lines of a level and above", () => {
    const logs = run(
      loaded(),
      { type: "panel", to: "logs" },
      { type: "pick", kind: "level" },
      { type: "move", motion: 3 },
      { type: "choose" },
    );
    expect(selectRows.logs(logs).map(({ level }) => level)).toEqual(["warn", "error"]);
  });
});

describe("asking before acting", () => {
  const servers = run(loaded(), { type: "panel", to: "servers" });

  it("asks what fits the server's state", () => {
    expect(run(servers, { type: "ask-toggle" }).mode).toEqual({
      name: "confirm",
      pending: { verb: "disable", serverId: "docs" },
    });
    const last = run(servers, { type: "move", motion: "bottom" });
    expect(run(last, { type: "ask-toggle" }).mode).toEqual({
      name: "confirm",
      pending: { verb: "enable", serverId: "scratch" },
    });
    const refused = run(last, { type: "ask-restart" });
    expect([refused.mode.name, refused.notice?.text]).toEqual(["browse", "scratch is disabled: enable it with e"]);
    expect(run(loaded(), { type: "panel", to: "tools" }, { type: "ask-restart" }).mode.name).toBe("browse");
  });

  it("starts no server whose entry in the config is not valid", () => {
    const broken = { ...servers, servers: servers.servers.map((row) => ({ ...row, state: "invalid" as const })) };
    for (const type of ["ask-restart", "ask-toggle"] as const) {
      const refused = run(broken, { type });
      const text = "docs is not valid: mend its entry in the config";
      expect([refused.mode.name, refused.notice?.text]).toEqual(["browse", text]);
    }
  });

  it("forgets a notice after a while", () => {
    const told = run(servers, { type: "notice", text: "done \u001b[31m", tone: "good" });
    expect(told.notice?.text).toBe("done ␛[31m");
    expect(run(told, { type: "tick", now: 5999 }).notice?.text).toBe("done ␛[31m");
    expect(run(told, { type: "tick", now: 6000 }).notice).toBeUndefined();
  });
});

describe("a refused edit of the config", () => {
  const { gateway } = loaded();

  it("comes and goes with an event, and the pulse leaves it alone", () => {
    const told = run(loaded(), { type: "events", events: [{ type: "config", data: { problem: refusal() } }] });
    expect(told.gateway?.configProblem?.summary).toBe("goblin.json:3:14 limit: unknown key");
    const { uptimeMs, counts, calls, tokens, logLevel } = gateway!;
    const figures = { time: 1, callsPerSecond: 0, errorsPerSecond: 0, p50Ms: null, p99Ms: null };
    const pulse = { type: "state", data: { uptimeMs, counts, calls, tokens, logLevel, ...figures } } as const;
    expect(run(told, { type: "events", events: [pulse] }).gateway?.configProblem).toEqual(refusal());
    const mended = run(told, { type: "events", events: [{ type: "config", data: { problem: null } }] });
    expect(mended.gateway?.configProblem).toBeNull();
  });

  it("takes one row of the body", () => {
    const told = run(loaded(), { type: "events", events: [{ type: "config", data: { problem: refusal() } }] });
    expect([layoutOf(loaded()).body, layoutOf(told).body]).toEqual([19, 18]);
  });
});

describe("layout", () => {
  it("fills 80 × 24 and refuses less than 60 × 15", () => {
    const at = (columns: number, rows: number) =>
      layoutOf({ ...empty, size: { columns, rows }, panel: "tools", details: "open" });
    expect(at(80, 24)).toMatchObject({ tooSmall: false, body: 19, listColumns: 38, detailsColumns: 42, listRows: 18 });
    expect(at(59, 24).tooSmall).toBe(true);
    expect(at(60, 14).tooSmall).toBe(true);
  });
});
