/**
 * Methods and notifications that the gateway does not know pass it, where it is certain for whom
 * they are, and reach nobody else.
 */
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, type Recorded, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const PROGRAM = fileURLToPath(new URL("../fixtures/custom-server.js", import.meta.url));
const custom = (family: string, more: Record<string, unknown> = {}) => ({
  command: process.execPath,
  args: [PROGRAM, family],
  ...more,
});

interface Caller {
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function call(client: Caller, name: string): Promise<unknown> {
  const result = (await client.callTool({ name, arguments: {} })) as { content: { text: string }[] };
  return JSON.parse(result.content[0]!.text);
}

const seen = (notifications: readonly Recorded[], method: string): unknown[] =>
  notifications.filter((notification) => notification.method === method).map(({ params }) => params);

describe("a method that only an extension knows", () => {
  test("goes to the server that declares it", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme"), o: custom("other") } });
    const { client } = await connectV1({ url: goblin.url });
    expect(client.getServerCapabilities()?.experimental).toEqual({ acme: { version: 1 }, other: { version: 1 } });
    for (const family of ["acme", "other"]) {
      const got = await client.request({ method: `${family}/search`, params: { q: 1 } }, z.any());
      expect(got).toEqual({ family, got: { q: 1 } });
    }
    await expect(client.request({ method: "nobody/search" }, z.any())).rejects.toMatchObject({ code: -32601 });
  });

  test("goes to the only server there is, which knows best", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme"), off: custom("x", { enabled: false }) } });
    const { client } = await connectV1({ url: goblin.url });
    const refused = client.request({ method: "nobody/search" }, z.any());
    await expect(refused).rejects.toMatchObject({ code: -32601, message: "MCP error -32601: Method not found" });
  });

  test("a server's own question reaches the client of its call", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme") } });
    const { client } = await connectV1({ url: goblin.url });
    client.fallbackRequestHandler = async ({ method, params }) => ({ method, params });
    expect(await call(client, "a_ask")).toEqual({ method: "acme/pick", params: { from: [1, 2] } });
  });
});

describe("a notification that only an extension knows", () => {
  test("goes from a client to the one server that is meant", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme"), o: custom("other") } });
    const { client } = await connectV1({ url: goblin.url });
    await client.notification({ method: "notifications/acme/seen", params: { n: 1 } } as never);
    await client.notification({ method: "notifications/unknown", params: {} } as never);
    const isSeen = async (tool: string): Promise<boolean> =>
      JSON.stringify(await call(client, tool)).includes('"notifications/acme/seen","params":{"n":1}');
    await until(() => isSeen("a_heard"), { what: "the notification at its server" });
    expect(JSON.stringify([await call(client, "a_heard"), await call(client, "o_heard")])).not.toContain("unknown");
    expect(await isSeen("o_heard")).toBe(false);
  });

  test("goes from a server to the client that alone uses it", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme") } });
    const ada = await connectV1({ url: goblin.url });
    const bob = await connectV1({ url: goblin.url });
    await call(ada.client, "a_announce");
    await until(() => seen(ada.notifications, "notifications/acme/changed").length === 1, { what: "the notification" });
    expect(seen(ada.notifications, "notifications/acme/changed")).toEqual([{ of: "acme" }]);
    await call(bob.client, "a_heard");
    expect(seen(bob.notifications, "notifications/acme/changed")).toEqual([]);
  });
});

/** Refuses a call until 1500 links were opened. */
const LOUD = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const link = { mode: "url", message: "Open", url: "https://example.com/" };
  const elicitations = Array.from({ length: 1500 }, (_, n) => ({ ...link, elicitationId: "link " + n }));
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "loud", version: "1" } },
    "tools/list": { tools: [{ name: "refuse", inputSchema: { type: "object" } }] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method in results) send({ id, result: results[method] });
    else if (id !== undefined) send({ id, error: { code: -32042, message: "Open", data: { elicitations } } });
  });
`;
const loud = { command: process.execPath, args: ["-e", LOUD] };

describe("that a link was opened", () => {
  test.each(["a_link", "a_refuse"])("is told to the session that was given it, by %s", async (tool) => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme") } });
    const elicitation = () => ({ action: "accept" });
    const ada = await connectV1({ url: goblin.url, elicitation });
    const bob = await connectV1({ url: goblin.url, elicitation });
    await call(ada.client, tool).catch(() => {});
    // Another session's call is the last one: it must not hear of it.
    await call(bob.client, "a_opened");
    const method = "notifications/elicitation/complete";
    await until(() => seen(ada.notifications, method).length === 1, { what: "the notification" });
    expect(seen(ada.notifications, method)).toEqual([{ elicitationId: "link 1" }]);
    await call(bob.client, "a_heard");
    expect(seen(bob.notifications, method)).toEqual([]);
  });

  test("is told however many links another server gives", async () => {
    const goblin = await startGoblin({ mcpServers: { a: custom("acme"), loud } });
    const elicitation = () => ({ action: "accept" });
    const { client, notifications } = await connectV1({ url: goblin.url, elicitation });
    await call(client, "a_link");
    await expect(call(client, "loud_refuse")).rejects.toThrow("Open");
    await call(client, "a_opened");
    const method = "notifications/elicitation/complete";
    await until(() => seen(notifications, method).length === 1, { what: "the notification" });
  });
});
