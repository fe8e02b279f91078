/**
 * Calls that the dashboard makes, over real HTTP: progress, questions and answers, confirmation,
 * watched resources, suggestions, details that are fetched, saved files.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import type { LiveEvent } from "../../src/admin/api/live/schema.ts";
import { createAdminClient } from "../../src/admin/tui/client.ts";
import { createEffects } from "../../src/admin/tui/effects.ts";
import { saveBlock } from "../../src/admin/tui/save-file.ts";
import type { Action } from "../../src/admin/tui/state/action.ts";
import { openQuestion } from "../../src/admin/tui/state/calling.ts";
import { initialState } from "../../src/admin/tui/state/model.ts";
import { createStore } from "../../src/admin/tui/store.ts";
import { screenOf } from "../../src/admin/tui/views/dashboard.ts";
import { eventually } from "../fixtures/until.ts";
import { closeAll, fake, later } from "./dashboard.ts";
import type { FakeOptions } from "./fake-admin.ts";
import { plausibleData, tool } from "./fake-rows.ts";

afterEach(closeAll);

const done = (text: string): LiveEvent => ({ type: "result", data: { result: { content: [{ type: "text", text }] } } });

async function start(options: FakeOptions & { openUrl?: (url: string) => Promise<boolean> } = {}) {
  const admin = await fake({ pulseMs: 0, ...options });
  const size = { columns: 100, rows: 40 };
  const store = createStore(initialState({ url: admin.url, now: 0, size }), 1);
  const copied: string[] = [];
  const effects = createEffects({
    client: createAdminClient({ url: admin.url }),
    store,
    copy: (text) => copied.push(text),
    redraw: () => undefined,
    quit: () => undefined,
    openUrl: options.openUrl,
  });
  later(() => {
    effects.close();
    store.close();
  });
  const { state, ...lists } = plausibleData();
  const easy = tool("easy", "lab", { inputSchema: { type: "object" } });
  store.dispatch({ type: "loaded", lists: { gateway: state, ...lists, tools: [...lists.tools, easy] } });
  store.dispatch({ type: "link", link: { status: "up" } });
  const run = (...actions: Action[]): void => {
    for (const action of actions) effects.perform(action);
  };
  const screen = (): string =>
    screenOf(store.state())
      .map((line) => line.map(({ text }) => text).join(""))
      .join("\n");
  const shows = (text: string): Promise<void> => eventually(() => expect(screen()).toContain(text));
  const callEasy = (): void =>
    run(
      { type: "panel", to: "tools" },
      { type: "reach", list: "tools", key: "lab_easy" },
      { type: "call-open" },
      { type: "call-submit" },
    );
  return { admin, store, run, screen, shows, callEasy, copied };
}

it("shows progress and log messages of a call, and keeps the messages with the result", async () => {
  let finish = (): void => undefined;
  const { shows, callEasy } = await start({
    play: async ({ send }) => {
      send({ type: "progress", data: { progress: 1, total: 4, message: "unpacking" } });
      send({ type: "log", data: { level: "warning", logger: "disk", data: "nearly full" } });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      send(done("all unpacked"));
    },
  });
  callEasy();
  await shows("1 of 4  25 %");
  await shows("unpacking");
  await shows("warning disk: nearly full");
  finish();
  await shows("all unpacked");
  await shows("warning disk: nearly full");
});

it.each([
  [
    [
      { type: "question-edit", edit: { type: "insert", text: "Ada" } },
      { type: "question-answer", how: "accept" },
    ],
    { action: "accept", content: { name: "Ada" } },
  ],
  [[{ type: "question-answer", how: "decline" }], { action: "decline" }],
  [[{ type: "question-answer", how: "cancel" }], { action: "cancel" }],
] as const)("answers a server's question with %j", async (actions, result) => {
  const { admin, run, store, shows, callEasy } = await start({
    play: async ({ send, answered }) => {
      const answer = answered();
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      send({
        type: "question",
        data: { id: "q1", method: "elicitation/create", params: { message: "Who are you?", requestedSchema } },
      });
      send(done(JSON.stringify(await answer)));
    },
  });
  callEasy();
  await shows("Who are you?");
  run({ type: "question-answer", how: "accept" });
  expect(openQuestion(store.state())?.form.fields[0]?.error).toBe("required");
  run(...actions);
  await shows("lab_easy ok");
  expect(admin.actions.at(-1)).toEqual({ request: "POST /api/calls/live-1/answer", body: { question: "q1", result } });
});

it("shows a link to open, and refuses to play a model, in words", async () => {
  const asked: LiveEvent[] = [
    {
      type: "question",
      data: {
        id: "1",
        method: "elicitation/create",
        params: { mode: "url", message: "Log in", url: "https://example.com/in" },
      },
    },
    {
      type: "question",
      data: {
        id: "2",
        method: "sampling/createMessage",
        params: { messages: [{ role: "user", content: { type: "text", text: "Say hi" } }] },
      },
    },
  ];
  const { admin, run, shows, callEasy, copied } = await start({
    play: async ({ send, answered }) => {
      for (const question of asked) {
        const answer = answered();
        send(question);
        await answer;
      }
      send(done("over"));
    },
  });
  callEasy();
  await shows("https://example.com/in");
  run({ type: "copy" });
  expect(copied).toEqual(["https://example.com/in"]);
  run({ type: "question-next" });
  await shows("user: Say hi");
  await shows("[ Refuse ]");
  run({ type: "question-next" });
  await shows("lab_easy ok");
  expect(admin.actions.slice(-2).map(({ body }) => body)).toEqual([
    { question: "1", result: { action: "accept" } },
    { question: "2", refusal: expect.stringContaining("rejected") },
  ]);
});

it("asks before it calls a tool that destroys something, and calls nothing after a no", async () => {
  const { admin, run, shows } = await start();
  run(
    { type: "panel", to: "tools" },
    { type: "reach", list: "tools", key: "github_create_issue" },
    { type: "call-open" },
  );
  for (const text of ["a/b", "Title"]) {
    run({ type: "call-edit", edit: { type: "insert", text } }, { type: "call-edit", edit: { type: "focus", by: 1 } });
  }
  run({ type: "call-submit" });
  await shows("may destroy something. Call it?");
  run({ type: "answer", yes: false });
  await shows("[ Call ]");
  expect(admin.actions).toEqual([]);
  run({ type: "call-submit" }, { type: "answer", yes: true });
  await shows("github_create_issue ok");
});

it("reads a resource, watches it, and reads it again when it changes", async () => {
  let reads = 0;
  const { admin, run, shows } = await start({
    play: ({ send, params }) =>
      send({ type: "result", data: { result: { contents: [{ uri: params.uri, text: `reading ${++reads}` }] } } }),
  });
  const uri = "filesystem+file:///etc/hosts";
  run({ type: "panel", to: "resources" }, { type: "reach", list: "resources", key: uri }, { type: "call-open" });
  await shows("reading 1");
  run({ type: "watch" });
  await eventually(() => expect(admin.watchers()).toBe(1));
  await shows("watching, 0 updates");
  admin.update(uri);
  await shows("reading 2");
  await shows("watching, 1 updates");
  run({ type: "watch" });
  await eventually(() => expect(admin.watchers()).toBe(0));
  run({ type: "back" });
  await shows("URI");
});

it("gets a prompt with its form, and takes what the server suggests", async () => {
  const { admin, run, shows } = await start({
    play: ({ method, send, params }) =>
      send(
        method === "completion/complete"
          ? { type: "result", data: { result: { completion: { values: ["42", "43"] } } } }
          : {
              type: "result",
              data: {
                result: {
                  messages: [{ role: "user", content: { type: "text", text: `Review ${params.arguments.number}` } }],
                },
              },
            },
      ),
  });
  run(
    { type: "panel", to: "prompts" },
    { type: "call-open" },
    { type: "call-edit", edit: { type: "insert", text: "4" } },
  );
  await shows("Ctrl-N: 42  43");
  run({ type: "call-edit", edit: { type: "suggest" } }, { type: "call-submit" });
  await shows("Review 42");
  expect(admin.actions.at(-1)?.body).toMatchObject({
    method: "prompts/get",
    params: { name: "github_review", arguments: { number: "42" } },
  });
});

it("reads a template with its variables filled in", async () => {
  const { admin, run, shows } = await start();
  run({ type: "panel", to: "resources" }, { type: "templates" }, { type: "call-open" });
  run(
    { type: "call-edit", edit: { type: "insert", text: "ada" } },
    { type: "call-edit", edit: { type: "focus", by: 1 } },
  );
  run({ type: "call-edit", edit: { type: "insert", text: "x y" } }, { type: "call-submit" });
  await shows("127.0.0.1 localhost");
  expect(admin.actions.at(-1)?.body).toMatchObject({
    method: "resources/read",
    params: { uri: "github+repo://ada/x%20y/file" },
  });
});

it("fetches what a server is and what it said, and a call in full", async () => {
  const { run, shows, screen } = await start();
  run({ type: "panel", to: "servers" }, { type: "reach", list: "servers", key: "filesystem" }, { type: "enter" });
  await shows("npx -y @example/filesystem");
  await shows("--token=***");
  await shows("GITHUB_TOKEN is required");
  run({ type: "jump", to: "tools" });
  await shows("server filesystem");
  expect(screen()).not.toContain("github_create_issue");

  run({ type: "panel", to: "calls" }, { type: "reach", list: "calls", key: "r-2" });
  await shows("The tool did not answer in time");
  await shows("progress 1 of 3: first");
  await shows("  server    60 s");
  run({ type: "enter" });
  await shows('"path": "/etc/hosts"');
  run({ type: "back" });
  await shows("OUTCOME");
});

it("saves to a new file each time, under a name that is safe", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "goblin-save-"));
  const before = process.cwd();
  later(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  process.chdir(folder);
  const picture = { kind: "media", mimeType: "image/png", data: Buffer.from("png").toString("base64") } as const;
  expect(saveBlock(picture, "lab_portrait")).toBe("lab_portrait.png");
  expect(saveBlock(picture, "lab_portrait")).toBe("lab_portrait-1.png");
  expect(saveBlock({ kind: "text", text: "x" }, "notes+file:///../../etc/passwd")).toBe(
    "notes_file_.._.._etc_passwd.txt",
  );
  expect(readdirSync(folder)).toHaveLength(3);
  expect(readFileSync("lab_portrait.png", "utf8")).toBe("png");
});

it("logs in to a server in the browser, or hands out the link", async () => {
  const opened: string[] = [];
  const openUrl = async (url: string): Promise<boolean> => opened.push(url) === 1;
  const { run, shows, copied } = await start({ openUrl });
  const logIn: Action[] = [
    { type: "panel", to: "servers" },
    { type: "reach", list: "servers", key: "docs" },
    { type: "log-in" },
  ];
  run(...logIn);
  await shows("Log in to docs in the browser");
  run(...logIn);
  await shows("Copied the link to log in to docs");
  expect(copied).toEqual(opened.slice(1));
  expect(opened[0]).toContain("/connect/docs");
});

it("prints a code that lets a client in, and lists who was let in", async () => {
  const { run, shows, admin, store } = await start();
  run({ type: "pair" });
  await shows("4821 7730");
  await shows("Add https://mcp.example.com/mcp to your client");
  await shows("Chat (chat.example)");
  expect(admin.actions.map(({ request }) => request)).toEqual(["POST /api/pairing/codes"]);
  run({ type: "back" }, { type: "grants" });
  await shows("limited to the profile research");
  await shows("goblin grants revoke g1");
  run({ type: "back" });
  // What arrives late opens nothing over what the user does now.
  run({ type: "grants" }, { type: "palette" });
  await eventually(() => expect(store.state().mode.name).toBe("palette"));
  admin.data.grants.length = 0;
  run({ type: "back" }, { type: "grants" });
  await shows("No client was let in yet.");
});
