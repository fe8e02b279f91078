/**
 * Faults of a server during a call: the caller gets one answer that says what happened, nothing is
 * sent twice, and nobody else notices.
 */
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, disposeAll, until } from "../fixtures/peers.ts";
import { startRig } from "./rig.ts";

afterEach(disposeAll);

const unavailable = { error: { code: -32011, data: { code: "BACKEND_UNAVAILABLE", serverId: "bad" } } };
const timeout = { error: { code: -32001, data: { code: "TIMEOUT", serverId: "bad" } } };
const tooLarge = { error: { code: -32010, data: { code: "LimitExceeded", limit: 600_000 } } };
const unreadable = { error: { code: -32603, data: { code: "BACKEND_ERROR", serverId: "bad" } } };
const own = { error: { code: -32603, message: "scripted error" } };
const fine = { result: { structuredContent: { text: "x" } } };

type Case = [rule: Record<string, unknown>, outcome: object];

const anywhere: Case[] = [
  [{ do: "crash" }, unavailable],
  [{ do: "drop" }, unavailable],
  [{ do: "closeMidway" }, unavailable],
  [{ do: "hang" }, timeout],
  [{ do: "late", ms: 4000 }, timeout],
  [{ do: "twice" }, fine],
  [{ do: "wrongId" }, timeout],
  [{ do: "wrongId", also: true }, fine],
  [{ do: "wrongId", id: 999_999, also: true }, fine],
  [{ do: "error" }, own],
  [{ do: "huge", mb: 1 }, tooLarge],
  [{ do: "flood", kind: "list_changed", count: 1000 }, fine],
  [{ do: "flood", kind: "message", count: 1000 }, fine],
  [{ do: "flood", kind: "updated", count: 1000 }, fine],
  [{ do: "flood", kind: "stderr", count: 1000 }, fine],
];

const http: Case[] = [
  [{ do: "half" }, timeout],
  [{ do: "invalidJson" }, unreadable],
  [{ do: "empty" }, unavailable],
  [{ do: "status", status: 401 }, unavailable],
  [{ do: "status", status: 500, body: "no" }, unavailable],
  [{ do: "status", status: 429, retryAfter: 3 }, { error: { code: -32011, data: { retryAfterMs: 3000 } } }],
  [{ do: "status", status: 503, retryAfter: 2 }, { error: { code: -32011, data: { retryAfterMs: 2000 } } }],
  // The server wants a new session: the call, which it surely did not act on, is sent again on one.
  [{ do: "status", status: 404 }, fine],
  [{ do: "loseSession" }, fine],
];

const cases: [name: string, options: object, faults: Case[]][] = [
  [
    "stdio",
    { transport: "stdio" },
    [...anywhere, [{ do: "invalidJson" }, unreadable], [{ do: "invalidJson", text: "{" }, timeout]],
  ],
  ["HTTP with JSON answers", { transport: "http" }, [...anywhere.filter(([{ do: d }]) => d !== "wrongId"), ...http]],
  ["HTTP with event streams", { transport: "http", framing: "sse" }, [...anywhere.slice(1, 6), ...http.slice(0, 2)]],
  ["HTTP+SSE", { transport: "sse" }, [...anywhere.slice(1), [{ do: "status", status: 500 }, unavailable]]],
];

describe.each(cases)("during a call over %s", (_, { framing, ...options }: { framing?: string }, faults) => {
  it("every fault is one answer, and no call is sent twice", async () => {
    // Long enough for a flood on a busy machine.
    const rig = await startRig({ ...options, config: { timeouts: { callMs: 3000 } } });
    const extra = framing ? { http: { framing } } : {};
    for (const [rule, outcome] of faults) {
      const sent = (await rig.bad.received("tools/call")).length;
      rig.bad.setScript({ ...extra, rules: [{ method: "tools/call", name: "echo", times: 1, ...rule }] });
      const answer = await rig.call("echo", { text: "x" });
      expect({ rule, ...answer }).toMatchObject({ rule, ...outcome });
      const again = rule["status"] === 404 || rule["do"] === "loseSession" ? 2 : 1;
      expect((await rig.bad.received("tools/call")).length - sent).toBe(again);
      // Over HTTP nobody but its owner starts a server again.
      if (rule["do"] === "crash" && rig.bad.url !== "") await rig.bad.restart();
      await rig.recover();
      expect(await rig.call("echo", { text: "x" })).toMatchObject(fine);
    }
    await rig.others();
    await rig.leftovers();
  });
});

describe("half a line on stdio", () => {
  it("costs the call it belonged to, and nothing that follows it in the same line", async () => {
    const rig = await startRig({});
    const { client, notifications } = await connectV1({ url: rig.goblin.url });
    await client.subscribeResource({ uri: "bad+text:///hello" });
    rig.fault({ do: "half" });
    expect(await rig.call("echo", { text: "x" })).toMatchObject(timeout);
    await rig.bad.control("touch", { uri: "text:///hello" });
    await until(() => notifications.some(({ method }) => method === "notifications/resources/updated"));
    expect(await rig.call("echo", { text: "x" })).toMatchObject(fine);
    await rig.others();
    await rig.leftovers();
  });
});
