/**
 * What must work between every client and every server, each written once for all of them, and the
 * table of the cells that the protocol makes impossible.
 *
 * The server is called `b`; its log is what proves that it was reached.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type LogRecord, type Scripted, until } from "../fixtures/peers.ts";
import { replyOf, type Speaker, type Version } from "./speakers.ts";
import type { Message } from "./wires.ts";

export interface Backend {
  readonly era: "legacy" | "modern";
  readonly transport: "stdio" | "http" | "sse";
}

export interface Cell {
  readonly speaker: Speaker;
  readonly server: Scripted;
  readonly backend: Backend;
}

/** A notification that must not come is waited for this long. */
const QUIET_MS = 80;
const HELLO = "b+text:///hello";

const tool = (name: string, args: Record<string, unknown> = {}) => ({ name: `b_${name}`, arguments: args });
const textOf = (answer: Message): string => answer.result?.content?.[0]?.text ?? `no text: ${JSON.stringify(answer)}`;

export const features = {
  async call({ speaker }: Cell) {
    const { result } = await speaker.request("tools/call", tool("echo", { text: "hi", value: { deep: [1, null] } }));
    expect(result.structuredContent).toEqual({ text: "hi", value: { deep: [1, null] } });
    expect(result.resultType).toBe(speaker.version === "2026-07-28" ? "complete" : undefined);
  },
  async progress({ speaker }: Cell) {
    const from = speaker.heard.length;
    const answer = await speaker.request("tools/call", tool("progress", { steps: 3 }), { token: "same" });
    expect(textOf(answer)).toBe("progressed 3");
    expect(speaker.heard.slice(from)).toEqual(
      [1, 2, 3].map((progress) => ({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "same", progress, total: 3, message: `step ${progress}`, "x-progress": true },
      })),
    );
  },
  async log({ speaker }: Cell) {
    await speaker.wantLogs("warning");
    const from = speaker.heard.length;
    await speaker.request("tools/call", tool("log", { level: "info", text: "too low" }));
    await speaker.request("tools/call", tool("log", { level: "error", text: "high enough" }));
    const heard = () => speaker.heard.slice(from);
    await until(() => heard().length > 0);
    expect(heard()).toEqual([
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "error", logger: "b", data: "high enough" } },
    ]);
  },
  async cancel({ speaker, server }: Cell) {
    const seen = (await server.log()).length;
    const later = async (fits: (record: LogRecord) => unknown) =>
      until(async () => (await server.log()).slice(seen).find(fits), { what: `the server's record: ${fits}` });
    const { cancel } = speaker.begin("tools/call", tool("sleep", { ms: 20_000 }));
    const call = await later((r) => r.message?.params?.name === "sleep" && r.dir === "in");
    cancel();
    const aborted = await later((r) => r.event === "aborted");
    expect(aborted).toMatchObject({ requestId: call.message.id, name: "sleep" });
  },
  elicit: (cell: Cell) => asks(cell, "elicitation", "elicitation/create"),
  sample: (cell: Cell) => asks(cell, "sampling", "sampling/createMessage"),
  roots: (cell: Cell) => asks(cell, "roots", "roots/list"),
  async prompt({ speaker }: Cell) {
    const { result } = await speaker.request("prompts/get", { name: "b_greet", arguments: { name: "Ada" } });
    expect(result.messages).toEqual([{ role: "user", content: { type: "text", text: "Greet Ada warmly" } }]);
  },
  async read({ speaker }: Cell) {
    const { result } = await speaker.request("resources/read", { uri: "b+blob:///pixel" });
    expect(result.contents).toMatchObject([{ uri: "b+blob:///pixel", mimeType: "image/png" }]);
    expect(result.contents[0].blob).toMatch(/^iVBORw0KGgo/);
    const modern = speaker.version === "2026-07-28";
    expect([result.ttlMs, result.cacheScope]).toEqual(modern ? [0, "private"] : [undefined, undefined]);
  },
  async subscribe({ speaker, server }: Cell) {
    const end = await speaker.watch(HELLO);
    const from = speaker.heard.length;
    const updates = () => speaker.heard.slice(from).filter((m) => m.method === "notifications/resources/updated");
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates().length > 0, { what: "the update" });
    expect(updates().map((m) => m.params.uri)).toEqual([HELLO]);
    await end();
    await sleep(QUIET_MS);
    await server.control("touch", { uri: "text:///hello" });
    await sleep(QUIET_MS);
    expect(updates()).toHaveLength(1);
  },
  async "list change"({ speaker, server }: Cell) {
    const end = await speaker.watch(HELLO);
    const from = speaker.heard.length;
    const name = `new_${Math.random().toString(36).slice(2)}`;
    await server.control("set_tools", { tools: [{ name, inputSchema: { type: "object" } }] });
    await until(() => speaker.heard.length > from, { what: "the change" });
    const { result } = await speaker.request("tools/list", {});
    expect(result.tools.map((t: { name: string }) => t.name)).toContain(`b_${name}`);
    await sleep(QUIET_MS);
    expect(speaker.heard.slice(from).map((m) => m.method)).toEqual(["notifications/tools/list_changed"]);
    await end();
  },
  async completion({ speaker }: Cell) {
    const ref = { type: "ref/prompt", name: "b_greet" };
    const { result } = await speaker.request("completion/complete", { ref, argument: { name: "name", value: "A" } });
    expect(result.completion).toEqual({ values: ["Ada", "Alan"], total: 2, hasMore: false, "x-completion": true });
  },
  async error({ speaker }: Cell) {
    const given = { code: -32077, message: "not today", data: { why: ["tired"] } };
    const { error } = await speaker.request("tools/call", tool("fail", given));
    expect(error).toEqual({ code: -32077, message: "not today", data: { why: ["tired"], serverId: "b" } });
  },
  async "not found"({ speaker }: Cell) {
    const modern = speaker.version === "2026-07-28";
    const { error } = await speaker.request("resources/read", { uri: "nothing:///here" });
    expect([error.code, error.message]).toEqual([modern ? -32602 : -32002, "Resource not found: nothing:///here"]);
    // Listed, but the server has it no more.
    const gone = await speaker.request("resources/read", { uri: "b+file:///logs/app.log" });
    // Each era has a code of its own for this, whatever the server's era (C9).
    expect(gone.error).toMatchObject({
      code: modern ? -32602 : -32002,
      message: "Resource not found",
      data: { serverId: "b" },
    });
    const unknown = await speaker.request("tools/call", { name: "b_nothing", arguments: {} });
    expect(unknown.error).toMatchObject({ code: -32602, message: expect.stringMatching(/^Tool not found: b_nothing/) });
  },
} satisfies Record<string, (cell: Cell) => Promise<void>>;

export type Feature = keyof typeof features;

export interface Impossible {
  readonly feature: Feature;
  readonly versions: readonly Version[];
  readonly reason: string;
  /** What happens instead: the server is told, the client gets its answer. */
  readonly instead: (cell: Cell) => Promise<void>;
}

export const impossible: readonly Impossible[] = [
  {
    feature: "elicit",
    versions: ["2024-11-05", "2025-03-26"],
    reason: "elicitation came with 2025-06-18",
    async instead({ speaker, backend }) {
      const answer = await speaker.request("tools/call", tool("ask", { kind: "elicitation" }));
      if (backend.era === "modern") expect(answer.error).toMatchObject({ code: -32021, data: { serverId: "b" } });
      else expect(JSON.parse(textOf(answer))).toMatchObject({ error: { code: -32601 } });
      expect(speaker.questions.filter((question) => question.method === "elicitation/create")).toEqual([]);
    },
  },
];

async function asks({ speaker }: Cell, kind: string, method: string): Promise<void> {
  const from = speaker.questions.length;
  const answer = await speaker.request("tools/call", tool("ask", { kind, rounds: 2 }));
  const said = replyOf(speaker.name, { method });
  expect(JSON.parse(textOf(answer))).toEqual([said, said]);
  const asked = speaker.questions.slice(from);
  expect(asked.map((question) => question.method)).toEqual([method, method]);
  expect(asked[0].params).toMatchObject(QUESTIONS[kind]!);
}

const QUESTIONS: Record<string, object> = {
  elicitation: {
    message: "What is your name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
  sampling: { messages: [{ role: "user", content: { type: "text", text: "Say something" } }], maxTokens: 10 },
  roots: {},
};
