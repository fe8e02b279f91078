/**
 * A server's log messages reach the session they belong to, at the level that it asked for, and
 * never another one.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, type Recorded, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const logged = (notifications: readonly Recorded[]) =>
  notifications.filter(({ method }) => method === "notifications/message").map(({ params }) => params!["data"]);

async function twoClients(transport: "stdio" | "http" | "sse", share: "all" | "session" = "all") {
  const backend = await startScripted({ transport, name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...backend.entry, share } } });
  const ada = await connectV1({ url: goblin.url, name: "ada" });
  const bob = await connectV1({ sseUrl: goblin.sseUrl, name: "bob" });
  const log = (who: typeof ada, text: string, level = "info") =>
    who.client.callTool({ name: "one_log", arguments: { level, text } });
  return { backend, ada, bob, log };
}

test.each([
  ["stdio", "all"],
  ["http", "all"],
  ["sse", "all"],
  ["stdio", "session"],
] as const)("over %s with share %s a message goes to the caller alone", async (transport, share) => {
  const { ada, bob, log } = await twoClients(transport, share);
  await log(ada, "for ada");
  await log(bob, "for bob");
  await log(ada, "for ada again");
  await until(() => logged(ada.notifications).length === 2 && logged(bob.notifications).length === 1);
  expect(logged(ada.notifications)).toEqual(["for ada", "for ada again"]);
  expect(logged(bob.notifications)).toEqual(["for bob"]);
});

test("while calls of two sessions are under way on one pipe, a message goes to nobody", async () => {
  const { backend, ada, bob, log } = await twoClients("stdio");
  const slow = bob.client.callTool({ name: "one_sleep", arguments: { ms: 300 } });
  await backend.waitFor((r) => r.message?.params?.name === "sleep");
  await log(ada, "whose?");
  await slow;
  await log(ada, "mine");
  await until(() => logged(ada.notifications).length > 0);
  expect(logged(ada.notifications)).toEqual(["mine"]);
  expect(logged(bob.notifications)).toEqual([]);
});

test("over HTTP the request's own stream says whose message it is", async () => {
  const { backend, ada, bob, log } = await twoClients("http");
  const slow = bob.client.callTool({ name: "one_sleep", arguments: { ms: 300 } });
  await backend.waitFor((r) => r.message?.params?.name === "sleep");
  await log(ada, "mine");
  await slow;
  await until(() => logged(ada.notifications).length > 0);
  expect(logged(bob.notifications)).toEqual([]);
});

test("each session hears from its own level on, the shared server is asked for the most talkative one", async () => {
  const { backend, ada, bob, log } = await twoClients("stdio");
  await ada.client.setLoggingLevel("error");
  await bob.client.setLoggingLevel("info");
  await backend.waitFor((r) => r.message?.method === "logging/setLevel" && r.message.params.level === "info");
  await log(ada, "too quiet", "warning");
  await log(ada, "loud", "critical");
  await log(bob, "loud enough", "info");
  await until(() => logged(ada.notifications).length === 1 && logged(bob.notifications).length === 1);
  expect(logged(ada.notifications)).toEqual(["loud"]);
  expect(logged(bob.notifications)).toEqual(["loud enough"]);
  await expect(ada.client.setLoggingLevel("shouting" as "error")).rejects.toMatchObject({ code: -32602 });
});

test('with share "session" a level goes to the session\'s own connection, whether it is there before or after', async () => {
  const { backend, ada, bob, log } = await twoClients("stdio", "session");
  await log(ada, "first");
  await ada.client.setLoggingLevel("warning");
  await bob.client.setLoggingLevel("critical");
  await log(bob, "not sent", "error");
  await until(async () => (await backend.received("logging/setLevel")).length >= 2);
  const pids = new Map((await backend.received("tools/call")).map((r) => [r.message.params.arguments.text, r.pid]));
  const levels = new Map((await backend.received("logging/setLevel")).map((r) => [r.pid, r.message.params.level]));
  expect(levels.get(pids.get("first")!)).toBe("warning");
  expect(levels.get(pids.get("not sent")!)).toBe("critical");
});
