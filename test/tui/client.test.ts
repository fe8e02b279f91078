import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { LiveEvent } from "../../src/admin/api/live/schema.ts";
import { adminRoutes } from "../../src/admin/api/routes.ts";
import { AdminClientError, createAdminClient } from "../../src/admin/tui/client.ts";
import { createEffects } from "../../src/admin/tui/effects.ts";
import { startFeed } from "../../src/admin/tui/feed.ts";
import { initialState } from "../../src/admin/tui/state/model.ts";
import { createStore } from "../../src/admin/tui/store.ts";
import { eventually } from "../fixtures/until.ts";
import { type FakeOptions, startFakeAdmin } from "./fake-admin.ts";
import { call, log, plausibleData, tool } from "./fake-rows.ts";
import { refusal } from "./refusal.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function fake(options: FakeOptions = {}) {
  const admin = await startFakeAdmin({ pulseMs: 0, ...options });
  open.push(() => admin.close());
  return admin;
}

function storeOf(url: string, frameMs = 20) {
  const store = createStore(initialState({ url, now: 0, size: { columns: 80, rows: 24 } }), frameMs);
  open.push(() => store.close());
  return store;
}

const failure = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AdminClientError);
  const { code, message } = error as AdminClientError;
  return `${code}: ${message}`;
};

describe("requests", () => {
  it("reads lists and calls actions, names encoded", async () => {
    const admin = await fake();
    const client = createAdminClient({ url: `${admin.url}/mcp` });
    expect(client.url).toBe(admin.url);
    expect((await client.request(adminRoutes.listTools)).items.map(({ name }) => name)).toContain(
      "github_create_issue",
    );
    const row = await client.request(adminRoutes.restartServer, { params: { id: "docs" } });
    expect([row.state, row.restarts]).toEqual(["ready", 1]);
    expect(await failure(client.request(adminRoutes.restartServer, { params: { id: "a/b" } }))).toBe(
      "NOT_FOUND: No server a%2Fb",
    );
  });

  it("says what is wrong in words", async () => {
    const admin = await fake({ token: "secret" });
    const client = (token?: string) => createAdminClient({ url: admin.url, token });
    expect(await failure(client().request(adminRoutes.getState))).toBe(
      "UNAUTHORIZED: The gateway asks for a token (401)",
    );
    expect((await client("secret").request(adminRoutes.getState)).version).toBe("0.1.0");
    const gone = await fake();
    await gone.close();
    expect(await failure(createAdminClient({ url: gone.url }).request(adminRoutes.getState))).toBe(
      "ECONNREFUSED: nothing listens there",
    );
  });

  it("refuses answers of another shape and other servers", async () => {
    const other = createServer((request, response) => {
      if (request.url === "/api/state") response.end('{"version":1}');
      else if (request.url === "/api/tools") response.end("<html>");
      else response.writeHead(404).end("no");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    open.push(() => other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const client = createAdminClient({ url });
    expect(await failure(client.request(adminRoutes.getState))).toMatch(
      /^SHAPE: \/api\/state sent an answer .*version/,
    );
    expect(await failure(client.request(adminRoutes.listTools))).toBe(
      `NOT_JSON: ${url}/api/tools did not answer with JSON`,
    );
    expect(await failure(client.request(adminRoutes.listPrompts))).toBe(
      `HTTP: ${url} answered 404 to /api/prompts: is this a Goblin gateway?`,
    );
  });
});

describe("the stream", () => {
  it("passes events on and over those it does not know", async () => {
    const admin = await fake();
    const seen: string[] = [];
    const stop = new AbortController();
    const ended = createAdminClient({ url: admin.url }).stream({
      signal: stop.signal,
      onOpen: () => {
        admin.emit({ type: "log", data: log("hello") });
        admin.emit({ type: "future", data: {} } as never);
        admin.emit({ type: "call", data: { nonsense: true } } as never);
        admin.emit({ type: "catalog", data: { kinds: ["tools"] } });
      },
      onEvent: (event) => seen.push(event.type),
    });
    await eventually(() => expect(seen).toEqual(["log", "catalog"]));
    stop.abort();
    await expect(ended).rejects.toThrow();
    await eventually(() => expect(admin.streams()).toBe(0));
  });

  it("is given up when it falls silent", async () => {
    const admin = await fake();
    const client = createAdminClient({ url: admin.url, silenceMs: 150 });
    const stop = new AbortController();
    const ended = client.stream({ signal: stop.signal, onOpen: () => undefined, onEvent: () => undefined });
    expect(await failure(ended)).toBe("SILENT: Nothing heard from the gateway for 0.15 s");
  });
});

describe("the feed", () => {
  const feedOf = (url: string, frameMs?: number) => {
    const store = storeOf(url, frameMs);
    const feed = startFeed({ client: createAdminClient({ url }), store, backoffMs: 30, refreshMs: 100 });
    open.push(() => feed.close());
    return store;
  };

  it("reads everything, then what changed", async () => {
    const admin = await fake();
    const store = feedOf(admin.url);
    await eventually(() => expect(store.state().link.status).toBe("up"));
    const { tools, resources, templates, logs, gateway } = store.state();
    expect([tools.length, resources.length, templates.length, logs.length, gateway?.version]).toEqual([
      4,
      4,
      1,
      4,
      "0.1.0",
    ]);
    admin.data.tools = [tool("only", "github")];
    admin.data.resources = [];
    admin.emit({ type: "catalog", data: { kinds: ["tools"] } });
    await eventually(() => expect(store.state().tools.map(({ name }) => name)).toEqual(["github_only"]));
    expect(store.state().resources).toHaveLength(4);
  });

  it("loses nothing that happens while a list is on its way", async () => {
    const admin = await fake({
      // Between the snapshot and its arrival the server comes up and a line is logged.
      afterSnapshot: (name) => {
        const docs = admin.data.servers[0];
        if (name === "servers" && docs)
          admin.emit({ type: "server", data: { id: "docs", server: { ...docs, state: "ready" } } });
        if (name === "logs") admin.emit({ type: "log", data: log("in between", { time: Date.UTC(2026, 8, 2) }) });
        if (name === "state") admin.emit({ type: "config", data: { problem: refusal() } });
      },
    });
    const store = feedOf(admin.url, 1);
    await eventually(() => expect(store.state().link.status).toBe("up"));
    await eventually(() =>
      expect(
        store
          .state()
          .logs.map(({ msg }) => msg)
          .slice(-2),
      ).toEqual(["rate limit hit", "in between"]),
    );
    expect(store.state().servers[0]?.state).toBe("ready");
    expect(store.state().gateway?.configProblem?.problems).toHaveLength(1);
  });

  it("comes back after a loss and reads everything again", async () => {
    const admin = await fake();
    const store = feedOf(admin.url);
    await eventually(() => expect(store.state().link.status).toBe("up"));
    await admin.close();
    await eventually(() =>
      expect(store.state().link).toMatchObject({ status: "away", attempt: 3, reason: "nothing listens there" }),
    );
    const data = plausibleData();
    data.prompts = [];
    await fake({ port: admin.port, data });
    await eventually(() => expect(store.state().link.status).toBe("up"));
    expect([store.state().prompts.length, store.state().tools.length]).toEqual([0, 4]);
  });

  it("draws a hundred events as a few frames", async () => {
    const admin = await fake();
    const store = feedOf(admin.url, 100);
    await eventually(() => expect(store.state().link.status).toBe("up"));
    let frames = 0;
    store.subscribe(() => {
      frames += 1;
    });
    for (let index = 0; index < 100; index += 1) admin.emit({ type: "log", data: log(`${index}`) });
    await eventually(() => expect(store.state().logs).toHaveLength(104));
    expect(frames).toBeLessThanOrEqual(3);
  });

  it("reads latencies again while calls happen", async () => {
    const admin = await fake();
    const store = feedOf(admin.url);
    await eventually(() => expect(store.state().link.status).toBe("up"));
    store.dispatch({ type: "panel", to: "tools" });
    admin.data.tools = admin.data.tools.map((item) => ({ ...item, p50Ms: 77 }));
    admin.emit({ type: "call", data: call("github_create_issue") });
    await eventually(() => expect(store.state().tools[0]?.p50Ms).toBe(77));
  });
});

describe("effects", () => {
  it("copies names without control characters and cancels a call that was left", async () => {
    let cancelled = 0;
    const admin = await fake({
      play: async ({ gone }) => {
        await gone;
        cancelled += 1;
      },
    });
    const client = createAdminClient({ url: admin.url });
    const store = storeOf(admin.url);
    const copied: string[] = [];
    const effects = createEffects({
      client,
      store,
      copy: (text) => copied.push(text),
      redraw: () => undefined,
      quit: () => undefined,
    });
    store.dispatch({ type: "loaded", lists: { tools: [tool("a\u001b[31m\nb", "s")] } });
    store.dispatch({ type: "panel", to: "tools" });
    effects.perform({ type: "copy" });
    expect(copied).toEqual(["s_a[31mb"]);

    effects.perform({ type: "call-open" });
    effects.perform({ type: "call-edit", edit: { type: "insert", text: "/x" } });
    effects.perform({ type: "call-submit" });
    await eventually(() => expect(admin.actions).toHaveLength(1));
    effects.perform({ type: "back" });
    await eventually(() => expect(cancelled).toBe(1));
    expect(store.state().mode).toMatchObject({
      name: "call",
      form: { stage: { name: "edit", note: expect.stringContaining("Cancelled s_a") } },
    });
  });

  it("shows a tool's failure and a gateway's error as such", async () => {
    const answers: LiveEvent[] = [
      { type: "result", data: { result: { isError: true, content: [{ type: "text", text: "disk full" }] } } },
      { type: "error", data: { code: "BACKEND_UNAVAILABLE", message: "s is down" } },
    ];
    const admin = await fake({ play: ({ send }) => send(answers.shift()!) });
    const store = storeOf(admin.url);
    const effects = createEffects({
      client: createAdminClient({ url: admin.url }),
      store,
      copy: () => undefined,
      redraw: () => undefined,
      quit: () => undefined,
    });
    store.dispatch({ type: "loaded", lists: { tools: [tool("t", "s", { inputSchema: { type: "object" } })] } });
    store.dispatch({ type: "panel", to: "tools" });
    effects.perform({ type: "call-open" });
    effects.perform({ type: "call-next" });
    await eventually(() =>
      expect(store.state().mode).toMatchObject({ form: { stage: { failed: true, text: "disk full" } } }),
    );
    effects.perform({ type: "back" });
    effects.perform({ type: "call-submit" });
    await eventually(() =>
      expect(store.state().mode).toMatchObject({ form: { stage: { failed: true, text: "s is down" } } }),
    );
  });
});
