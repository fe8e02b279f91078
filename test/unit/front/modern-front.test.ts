/** Every request of 2026-07-28 gets an answer, whatever fails on the way. */
import { expect, test } from "vitest";
import { ModernFront, type RoundOptions } from "../../../src/front/modern/requests.ts";
import type { Answer } from "../../../src/mcp/protocol/json-rpc.ts";

const VERSION = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
const META = `{${VERSION},"io.modelcontextprotocol/clientCapabilities":{}}`;
const TASK_META = `{${VERSION},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`;
const boom = (): never => {
  throw new Error("boom");
};

/** The parts that a request needs, some of which fail. */
function frontWith(parts: { relay?: object; directory?: object; heldTasks?: object }): ModernFront {
  const context = {
    config: { current: { limits: { callsAwaitingInput: 10 } } },
    onLimit: () => {},
    continuity: { keyFor: () => Buffer.alloc(32), own: (state: string) => state },
    directory: { serverInfo: {}, cacheHints: () => ({ ttlMs: 0, cacheScope: "private" }), ...parts.directory },
    relay: { handle: async () => ({ ok: true, raw: "{}" }), ...parts.relay },
    heldTasks: { ...parts.heldTasks },
  };
  return new ModernFront(context as never);
}

function ask(front: ModernFront, method: string, more: Partial<RoundOptions> = {}, meta = META): Promise<Answer> {
  const text = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"name":"a","_meta":${meta}}}`;
  const { params } = JSON.parse(text) as { params: Record<string, unknown> };
  const options = {
    principal: { id: "", name: "" },
    place: { endpoint: "", visibility: undefined },
    account: "",
    emit: () => {},
    onAbort: () => {},
    ...more,
  };
  return front.answer({ kind: "request", id: 1, method, params, text }, options as never);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const failing: Readonly<Record<string, [string, Parameters<typeof frontWith>[0]]>> = {
  "a relay that throws": ["tools/call", { relay: { handle: boom } }],
  "a relay that rejects": ["tools/call", { relay: { handle: async () => boom() } }],
  "a description that throws": ["server/discover", { directory: { whenDescribed: boom } }],
  "a description that rejects": ["server/discover", { directory: { whenDescribed: async () => boom() } }],
  "a discovery that throws": ["server/discover", { directory: { whenDescribed: () => undefined, describe: boom } }],
  "hints that throw": ["tools/call", { directory: { cacheHints: boom } }],
  "tasks without the capability": ["tasks/get", {}],
};

test.each(Object.entries(failing))("%s becomes an error answer", async (_, [method, parts]) => {
  expect(await ask(frontWith(parts), method)).toMatchObject({ ok: false });
});

test("a task that fails before it begins becomes an error answer", async () => {
  const heldTasks = { watch: async () => boom() };
  const place = { endpoint: "", visibility: { mayAsk: true } };
  const answer = await ask(frontWith({ heldTasks }), "tools/call", { place } as never, TASK_META);
  expect(answer).toMatchObject({ ok: false });
});

test("notifications that come while the call is made reach the client before the answer", async () => {
  const got: string[] = [];
  const handle = async (call: { emit(text: string): void }): Promise<Answer> => {
    call.emit("at once");
    await turn();
    call.emit("later");
    return { ok: true, raw: "{}" };
  };
  const options = { emit: (text: string) => void got.push(text) };
  await ask(frontWith({ relay: { handle } }), "tools/call", options);
  got.push("done");
  expect(got).toEqual(["at once", "later", "done"]);
});
