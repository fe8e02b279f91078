/**
 * Calls through the API that somebody watches: progress, log messages, the server's questions and
 * their answers, updates of a resource. Both eras of servers.
 */
import { afterEach, describe, expect, test } from "vitest";
import { EventStream } from "../../src/lib/http-client/event-stream.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { startIssuer } from "../fixtures/issuer.ts";
import { disposeAll, onDispose, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

interface Event {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests know what they asked for
  readonly data: any;
}

const post = (origin: string, path: string, body: unknown, more: RequestInit = {}): Promise<Response> =>
  fetch(origin + path, {
    method: "POST",
    body: JSON.stringify(body),
    ...more,
    headers: { "content-type": "application/json", ...more.headers },
  });

/** Reads a stream of the API; `next` waits for an event of a type. */
function follow(opening: Promise<Response>, closing = new AbortController()) {
  const events: Event[] = [];
  let isOver = false;
  const reading = opening.then(async (response) => {
    expect(response.status).toBe(200);
    const stream = new EventStream({
      event: ({ event, data }) => events.push({ type: event, data: JSON.parse(data.toString()) }),
    });
    for await (const chunk of response.body!) stream.push(chunk as Buffer);
  });
  const ended = reading
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  onDispose(() => closing.abort());
  return {
    events,
    ended,
    types: () => events.map(({ type }) => type),
    async next(type: string): Promise<Event["data"]> {
      await until(() => isOver || events.some((event) => event.type === type));
      const index = events.findIndex((event) => event.type === type);
      expect(index, `${type} in ${JSON.stringify(events)}`).not.toBe(-1);
      return events.splice(index, 1)[0]!.data;
    },
  };
}

function call(goblin: RunningGoblin, name: string, args: unknown, more: Record<string, unknown> = {}) {
  const closing = new AbortController();
  const body = { method: "tools/call", params: { name, arguments: args }, ...more };
  const followed = follow(post(goblin.origin, "/api/calls", body, { signal: closing.signal }), closing);
  return { ...followed, cancel: () => closing.abort() };
}

const answer = (goblin: RunningGoblin, id: string, body: unknown) =>
  post(goblin.origin, `/api/calls/${id}/answer`, body);

describe.each([
  ["legacy", "stdio"],
  ["modern", "http"],
] as const)("a %s server over %s", (era, transport) => {
  async function start() {
    const server = await startScripted({ name: "one", transport, era });
    return { server, goblin: await startGoblin({ mcpServers: { one: server.entry } }) };
  }

  test("asks a question, and the answer reaches it", async () => {
    const { goblin } = await start();
    const made = call(goblin, "one_ask", { kind: "elicitation" });
    const { id } = await made.next("started");
    const question = await made.next("question");
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "What is your name?" } });
    expect((await answer(goblin, id, { question: "999", result: {} })).status).toBe(404);
    expect((await answer(goblin, id, { question: question.id })).status).toBe(400);
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await answer(goblin, id, { question: question.id, result })).status).toBe(200);
    const done = await made.next("result");
    expect(JSON.parse(done.result.content[0].text)).toEqual(result);
    await made.ended;
    expect((await answer(goblin, id, { question: question.id, result })).status).toBe(404);
  });

  test("asks for a model's words: the refusal reaches it as an error", async () => {
    const { goblin } = await start();
    const made = call(goblin, "one_ask", { kind: "sampling" }, { capabilities: { sampling: {} } });
    const { id } = await made.next("started");
    const question = await made.next("question");
    expect(question.method).toBe("sampling/createMessage");
    await answer(goblin, id, { question: question.id, refusal: "The user said no" });
    await made.ended;
    expect(JSON.stringify(made.events)).toContain("The user said no");
  });

  test("reports progress and logs, and a cancelled call ends at the server", async () => {
    const { goblin, server } = await start();
    const made = call(goblin, "one_progress", { steps: 3, ms: 1 });
    expect(await made.next("progress")).toMatchObject({ progress: 1, total: 3 });
    await made.next("result");
    const logged = call(goblin, "one_log", { level: "warning", text: "careful" });
    expect(await logged.next("log")).toMatchObject({ level: "warning", data: "careful" });

    const slow = call(goblin, "one_sleep", { ms: 60_000 });
    await slow.next("started");
    await until(async () => JSON.stringify(await server.received("tools/call")).includes('"sleep"'));
    slow.cancel();
    const end = era === "legacy" ? "cancelled" : "aborted";
    await until(async () => (await server.events(end)).length > 0);
  });
});

test("a connection of its own begins with a handshake that strict servers take", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, share: "session" } } });
  expect(await call(goblin, "one_add", { a: 1, b: 2 }).next("result")).toBeDefined();
  const handshakes = await server.received("initialize");
  const infos = handshakes.map(({ message }) => message.params.clientInfo);
  // MCP wants both of every client.
  expect(infos.at(-1)).toEqual({ name: "admin API", version: expect.stringMatching(/^\d/) });
});

test("an error of the call is the last event; other methods are refused", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  expect(await call(goblin, "one_fail", { code: -32123, message: "no luck" }).next("error")).toEqual({
    code: "-32123",
    message: "no luck",
  });
  const read = follow(
    post(goblin.origin, "/api/calls", { method: "resources/read", params: { uri: "one+text:///hello" } }),
  );
  expect(await read.next("result")).toMatchObject({ result: { contents: [{ text: "hello 0" }] } });
  const prompt = follow(
    post(goblin.origin, "/api/calls", {
      method: "prompts/get",
      params: { name: "one_greet", arguments: { name: "Ada" } },
    }),
  );
  expect(JSON.stringify(await prompt.next("result"))).toContain("Ada");
  expect((await post(goblin.origin, "/api/calls", { method: "logging/setLevel", params: {} })).status).toBe(400);
});

test("log messages reach a caller that says which calls are its own, also after a cancelled one", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const more = { caller: "a secret of sixteen" };
  const slow = call(goblin, "one_sleep", { ms: 60_000 }, more);
  await until(async () => JSON.stringify(await server.received("tools/call")).includes('"sleep"'));
  slow.cancel();
  await until(async () => (await server.events("cancelled")).length > 0);
  const other = call(goblin, "one_log", { text: "for nobody" }, { caller: "another secret, of others" });
  await other.next("result");
  expect(other.types()).not.toContain("log");
  const own = call(goblin, "one_log", { text: "for me" }, more);
  expect(await own.next("log")).toMatchObject({ data: "for me" });
});

test("nobody but the caller answers its questions", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: { admin: { tokens: ["token-of-ada", "token-of-bob"] }, auth: { tokens: ["client"] } },
  });
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const body = { method: "tools/call", params: { name: "one_ask", arguments: {} } };
  expect((await post(goblin.origin, "/api/calls", body, as("client"))).status).toBe(403);
  const made = follow(post(goblin.origin, "/api/calls", body, as("token-of-ada")));
  const { id } = await made.next("started");
  const question = await made.next("question");
  const given = { question: question.id, result: { action: "decline" } };
  expect((await post(goblin.origin, `/api/calls/${id}/answer`, given, as("token-of-bob"))).status).toBe(404);
  expect((await post(goblin.origin, `/api/calls/${id}/answer`, given, as("token-of-ada"))).status).toBe(200);
  await made.next("result");
});

test("updates of a resource arrive until the stream is closed", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const closing = new AbortController();
  const path = `${goblin.origin}/api/resources/updates?uri=${encodeURIComponent("one+text:///hello")}`;
  const watched = follow(fetch(path, { signal: closing.signal }), closing);
  await watched.next("subscribed");
  await server.control("touch", { uri: "text:///hello" });
  expect(await watched.next("updated")).toMatchObject({ uri: "one+text:///hello" });
  closing.abort();
  const subscriptions = async () =>
    (await (await fetch(`${goblin.origin}/api/subscriptions`)).json()) as { total: number };
  await until(async () => (await subscriptions()).total === 0);
  const missing = await fetch(`${goblin.origin}/api/resources/updates?uri=nobody%3A%2F%2F`);
  expect(missing.status).toBe(404);
});

test("calls and watches end when the caller's token does", async () => {
  const server = await startScripted({ name: "one" });
  const issuer = await startIssuer();
  const goblin = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: {
      publicUrl: "https://goblin.example",
      auth: { oauth: { issuers: [{ issuer: issuer.url }], adminScope: "goblin:admin" } },
    },
  });
  const token = await issuer.sign({ lifeSeconds: 4, claims: { scope: "goblin:admin" } });
  const as = { headers: { authorization: `Bearer ${token}` } };
  const body = { method: "tools/call", params: { name: "one_sleep", arguments: { ms: 600_000 } } };
  const made = follow(post(goblin.origin, "/api/calls", body, as));
  const watched = follow(
    fetch(`${goblin.origin}/api/resources/updates?uri=${encodeURIComponent("one+text:///hello")}`, as),
  );
  await made.next("started");
  await watched.next("subscribed");
  await Promise.all([made.ended, watched.ended]);
  // On a busy machine the token may end before the call has reached the server.
  const arrived = (await server.received("tools/call")).length;
  await until(async () => (await server.events("cancelled")).length === arrived);
});
