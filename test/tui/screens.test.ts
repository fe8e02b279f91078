/**
 * The dashboard on the demo servers behind a real gateway: the demo's showpieces work, and the
 * screens in docs/dashboard.md are what it shows. `GOBLIN_WRITE_SCREENS=1` writes them there.
 * Needs `dist/`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FormEdit } from "../../src/admin/forms/form.ts";
import { type AdminClient, createAdminClient } from "../../src/admin/tui/client.ts";
import { createEffects, type Effects } from "../../src/admin/tui/effects.ts";
import { startFeed } from "../../src/admin/tui/feed.ts";
import type { Action } from "../../src/admin/tui/state/action.ts";
import { initialState, type State } from "../../src/admin/tui/state/model.ts";
import type { Running } from "../../src/admin/tui/state/stage.ts";
import { createStore, type Store } from "../../src/admin/tui/store.ts";
import { screenOf } from "../../src/admin/tui/views/dashboard.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";
import { eventually } from "../fixtures/until.ts";

// A computed address, so that the type check does not need the build.
const built = new URL("../../dist/app/demo/index.js", import.meta.url).href;
const document = new URL("../../docs/dashboard.md", import.meta.url);

let store: Store;
let effects: Effects;
let client: AdminClient;

beforeAll(async () => {
  const { demoServers } = (await import(built)) as typeof import("../../src/app/demo/index.ts");
  const servers = demoServers().map(({ id, ...entry }) => [id, entry] as const);
  const goblin = await startGoblin({ mcpServers: Object.fromEntries(servers) });
  client = createAdminClient({ url: goblin.origin });
  const size = { columns: 80, rows: 24 };
  store = createStore(initialState({ url: goblin.origin, now: Date.now(), size }), 1);
  effects = createEffects({ client, store, copy: () => {}, redraw: () => {}, quit: () => {} });
  const feed = startFeed({ client, store });
  onDispose(() => {
    feed.close();
    effects.close();
    store.close();
  });
  await eventually(() => expect(store.state().link.status).toBe("up"));
});
afterAll(disposeAll);

const run = (...actions: Action[]): void => {
  for (const action of actions) effects.perform(action);
};
const textOf = (state: State): string =>
  screenOf(state)
    .map((line) =>
      line
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    )
    .join("\n");
const shows = (text: string | RegExp): Promise<void> => eventually(() => expect(textOf(store.state())).toMatch(text));

/** The state with everything in it that differs from run to run made equal. */
function steady(state: State): State {
  const now = Date.UTC(2026, 8, 1, 12, 0, 8);
  const figures = { p50Ms: 1.4, p99Ms: 3 };
  const servers = state.servers.map((row) => ({ ...row, since: now - 8000, latency: figures, calls: 7, errors: 1 }));
  const calls = state.calls.map((row, index) => ({
    ...row,
    time: now - 2000 + index * 100,
    ms: row.ms > 1000 ? 2500 : 1.4,
    requestId: `k3xz-${index}`,
  }));
  const { about, gateway, mode } = state;
  const details = about?.server && { ...about.server, command: "goblin-demo", args: [about.server.id], cwd: null };
  const call = about?.call && {
    ...about.call,
    time: now,
    ms: 1.4,
    timing: { beforeMs: 0.1, serverMs: 1.2, afterMs: 0.1 },
    logs: [],
  };
  const stage = mode.name === "call" ? mode.form.stage : undefined;
  const timed =
    stage?.name === "done"
      ? { ...stage, ms: 12 }
      : stage?.name === "running"
        ? { ...stage, since: now - 1000, ...further(stage) }
        : stage;
  return {
    ...state,
    now,
    servers,
    calls,
    tools: state.tools.map((row) => ({ ...row, calls: 7, errors: 0, p50Ms: 1.4 })),
    logs: state.logs.map((row) => ({ ...row, time: now - 8000 })),
    series: { calls: [0, 0, 1, 3, 2, 4, 1], latency: [null, null, 1.5, 2, 1.4, 3, 1], errors: [0, 0, 0, 0, 1, 0, 0] },
    gateway: gateway && {
      ...gateway,
      version: "0.1.0",
      uptimeMs: 8000,
      endpoint: "http://127.0.0.1:3000/mcp",
      logLevel: "info",
      calls: { ...gateway.calls, inFlight: 0 },
      counts: { ...gateway.counts, sessions: 1 },
    },
    about: about && { ...about, ...(details && { server: details }), ...(call && { call }) },
    mode: mode.name === "call" && timed ? { ...mode, form: { ...mode.form, stage: timed } } : mode,
    notice: undefined,
  };
}

/** A call that is under way shows how far it is. */
const further = ({ progress }: Running): Pick<Running, "progress"> => ({
  progress: progress && { ...progress, progress: 2, message: "3…" },
});

const checked: string[] = [];

/** Compares the screen with the block below its mark in the document. */
function documented(name: string): void {
  checked.push(name);
  const text = readFileSync(document, "utf8");
  const shown = `<!-- screen: ${name} -->\n\`\`\`text\n${textOf(steady(store.state()))}\n\`\`\`\n`;
  const block = new RegExp(`<!-- screen: ${name} -->\\n\`\`\`text\\n[\\s\\S]*?\`\`\`\\n`);
  expect(text, `docs/dashboard.md has no screen "${name}"`).toMatch(block);
  if (process.env["GOBLIN_WRITE_SCREENS"])
    writeFileSync(
      document,
      text.replace(block, () => shown),
    );
  else expect(block.exec(text)?.[0], "run it with GOBLIN_WRITE_SCREENS=1").toBe(shown);
}

const call = (name: string): void =>
  run({ type: "panel", to: "tools" }, { type: "reach", list: "tools", key: name }, { type: "call-open" });
const submit: Action = { type: "call-submit" };
const leave = (): void => run({ type: "back" }, { type: "back" }, { type: "back" }, { type: "back" });

it("lab_greet asks, hears the answer, and greets", async () => {
  call("lab_greet");
  run(submit);
  await shows("What is your name?");
  run({ type: "question-edit", edit: { type: "insert", text: "Ada" } });
  documented("question");
  run({ type: "question-answer", how: "accept" });
  await shows("Hello, Ada.");
  leave();
});

it("lab_countdown shows how far it is, and Esc says that it was cancelled", async () => {
  call("lab_countdown");
  documented("form");
  // So slow that it is certainly under way while it is looked at.
  const change = (edit: FormEdit): Action => ({ type: "call-edit", edit });
  run(
    change({ type: "focus", by: 1 }),
    change({ type: "erase", what: "all" }),
    change({ type: "insert", text: "9000" }),
  );
  run(submit);
  await shows("0 of 5  0 %");
  documented("progress");
  run({ type: "back" });
  await shows("Cancelled lab_countdown after");
  leave();
});

it("lab_log's messages are there, lab_portrait's picture can be saved, lab_fail fails", async () => {
  call("lab_log");
  run({ type: "call-edit", edit: { type: "insert", text: "a message" } }, submit);
  await shows("info lab: a message");
  leave();
  call("lab_portrait");
  run(submit);
  await shows("[image/png, 162 B]");
  leave();
  call("lab_fail");
  run(submit);
  await shows(/lab_fail +failed/);
  leave();
});

it("clock_now's JSON folds", async () => {
  call("clock_convert");
  run(
    { type: "call-edit", edit: { type: "insert", text: "2026-07-28T09:00:00+02:00" } },
    { type: "call-edit", edit: { type: "focus", by: 1 } },
  );
  run({ type: "call-edit", edit: { type: "insert", text: "Asia/Tokyo" } }, submit);
  await shows("clock_convert ok");
  documented("result");
  leave();
});

it("a note is read, a prompt is got, the clock is watched", async () => {
  run({ type: "panel", to: "resources" });
  documented("resources");
  run({ type: "reach", list: "resources", key: "notes+note:///1" }, { type: "call-open" });
  await shows(/note:\/\/\/1 +ok/);
  documented("read");
  leave();
  run({ type: "reach", list: "resources", key: "clock+clock://now" }, { type: "watch" });
  await eventually(() => expect(store.state().watched["clock+clock://now"]?.updates).toBeGreaterThan(0));
  run({ type: "watch" });
  run(
    { type: "panel", to: "prompts" },
    { type: "call-open" },
    { type: "call-edit", edit: { type: "insert", text: "tea" } },
  );
  documented("prompt");
  run(submit);
  await shows(/notes_summarize +ok/);
  leave();
});

it("every panel", async () => {
  run({ type: "panel", to: "servers" }, { type: "reach", list: "servers", key: "lab" }, { type: "enter" });
  await eventually(() => expect(store.state().about?.key).toBe("servers lab"));
  documented("servers");
  run(
    { type: "back" },
    { type: "panel", to: "tools" },
    { type: "reach", list: "tools", key: "clock_convert" },
    { type: "enter" },
  );
  documented("tools");
  run({ type: "back" }, { type: "palette" }, { type: "palette-edit", edit: { insert: "lab" } });
  documented("palette");
  run({ type: "back" }, { type: "panel", to: "calls" }, { type: "enter" });
  const wanted = store.state().calls.findLast(({ name }) => name === "lab_greet")!.requestId;
  run({ type: "reach", list: "calls", key: wanted });
  await eventually(() => expect(store.state().about?.key).toBe(`calls ${wanted}`));
  expect(textOf(store.state())).toContain("Hello, Ada.");
  run({ type: "back" });
});

it("the document has no screen that nobody checks", () => {
  const names = [...readFileSync(document, "utf8").matchAll(/<!-- screen: (\w+) -->/g)].map(([, name]) => name!);
  expect(names.toSorted()).toEqual(checked.toSorted());
});
