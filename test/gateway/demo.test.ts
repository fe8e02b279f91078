/**
 * The demo servers of the built package, over real stdio, with a real client. Needs `dist/`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, disposeAll, until } from "../fixtures/peers.ts";

// A computed address, so that the type check does not need the build.
const built = new URL("../../dist/app/demo/index.js", import.meta.url).href;
const { demoServers } = (await import(built)) as typeof import("../../src/app/demo/index.ts");

function command(id: string) {
  const found = demoServers().find((server) => server.id === id);
  if (!found) throw new Error(`No demo server ${id}`);
  return { command: found.command, args: found.args };
}

afterEach(disposeAll);

describe("demo servers", () => {
  it("are clock, notes and lab", () => {
    expect(demoServers().map((server) => server.id)).toEqual(["clock", "notes", "lab"]);
  });

  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "answer version %s with itself",
    async (version) => {
      const [answer] = await talk("clock", [initialize(version)]);
      expect(answer).toMatchObject({ id: 1, result: { protocolVersion: version, serverInfo: { name: "clock" } } });
    },
  );

  it("answer an unknown version with the newest, bad input with an error, and end with their input", async () => {
    const answers = await talk("notes", [
      initialize("1999-01-01"),
      "{oops",
      '{"jsonrpc":"2.0","id":2,"method":"nope"}',
    ]);
    // Nothing says in which order.
    expect(answers).toHaveLength(3);
    expect(answers).toContainEqual(
      expect.objectContaining({ id: 1, result: expect.objectContaining({ protocolVersion: "2025-11-25" }) }),
    );
    expect(answers).toContainEqual({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
    expect(answers).toContainEqual({
      jsonrpc: "2.0",
      id: 2,
      error: { code: -32601, message: "Method not found: nope" },
    });
  });

  it("refuse an unknown name", async () => {
    const { command: node, args } = command("clock");
    const child = spawn(node, [args[0] ?? "", "nonsense"], { stdio: "ignore" });
    expect((await once(child, "exit"))[0]).toBe(2);
  });
});

describe("clock", () => {
  it("tells and converts the time with structured content", async () => {
    const { client } = await connectV1(command("clock"));
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["now", "convert"]);
    const converted = await client.callTool({
      name: "convert",
      arguments: { time: "2026-07-28T09:00:00+02:00", to: "Asia/Tokyo" },
    });
    expect(converted.structuredContent).toEqual({
      iso: "2026-07-28T07:00:00.000Z",
      timeZone: "Asia/Tokyo",
      local: "2026-07-28 16:00:00",
      offset: "GMT+09:00",
    });
    const bad = await client.callTool({ name: "now", arguments: { timeZone: "Moon/Base" } });
    expect(bad).toMatchObject({ isError: true, content: [{ text: "Unknown time zone: Moon/Base" }] });
  });

  it("updates its resource by itself while someone is subscribed", async () => {
    const { client, notifications } = await connectV1(command("clock"));
    await client.subscribeResource({ uri: "clock://now" });
    const updates = () => notifications.filter((n) => n.method === "notifications/resources/updated");
    await until(() => updates().length >= 2);
    expect(updates()[0]?.params).toEqual({ uri: "clock://now" });
    await client.unsubscribeResource({ uri: "clock://now" });
    const seen = updates().length;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(updates().length).toBe(seen);
  });
});

describe("notes", () => {
  it("adds, finds, reads, edits and removes notes, and says so", async () => {
    const { client, notifications } = await connectV1(command("notes"));
    const added = await client.callTool({ name: "add", arguments: { title: "Cave", text: "Third on the left" } });
    expect(added.content).toMatchObject([{ text: "Added note 4" }, { type: "resource_link", uri: "note:///4" }]);
    await until(() => notifications.some((n) => n.method === "notifications/resources/list_changed"));
    expect((await client.listResources()).resources.map((r) => r.uri)).toContain("note:///4");

    await client.subscribeResource({ uri: "note:///4" });
    await client.callTool({ name: "edit", arguments: { id: "4", text: "Second on the right" } });
    await until(() => notifications.some((n) => n.method === "notifications/resources/updated"));
    const { contents } = await client.readResource({ uri: "note:///4" });
    expect(contents).toEqual([
      { uri: "note:///4", mimeType: "text/markdown", text: "# Cave\n\nSecond on the right\n" },
    ]);

    const found = await client.callTool({ name: "search", arguments: { query: "RIGHT" } });
    expect(found.structuredContent).toEqual({ notes: [{ id: "4", title: "Cave", text: "Second on the right" }] });
    await client.callTool({ name: "remove", arguments: { id: "4" } });
    await expect(client.readResource({ uri: "note:///4" })).rejects.toMatchObject({ code: -32002 });
  });

  it("offers a prompt, a template and completions for both", async () => {
    const { client } = await connectV1(command("notes"));
    const prompt = await client.getPrompt({ name: "summarize", arguments: { topic: "rope" } });
    expect(prompt.messages).toMatchObject([
      { content: { text: 'Summarize these notes on "rope" as one sentence.' } },
      { content: { type: "resource", resource: { uri: "note:///2" } } },
    ]);
    await expect(client.getPrompt({ name: "summarize" })).rejects.toMatchObject({ code: -32602 });
    expect((await client.listResourceTemplates()).resourceTemplates[0]?.uriTemplate).toBe("note:///{id}");
    const style = await client.complete({
      ref: { type: "ref/prompt", name: "summarize" },
      argument: { name: "style", value: "h" },
    });
    expect(style.completion.values).toEqual(["haiku"]);
    const id = await client.complete({
      ref: { type: "ref/resource", uri: "note:///{id}" },
      argument: { name: "id", value: "" },
    });
    expect(id.completion.values).toEqual(["1", "2", "3"]);
  });
});

describe("lab", () => {
  it("reports progress and stops when cancelled", async () => {
    const { client } = await connectV1(command("lab"));
    const seen: (string | undefined)[] = [];
    await client.callTool({ name: "countdown", arguments: { from: 2, delayMs: 60 } }, undefined, {
      onprogress: (progress) => seen.push(progress.message),
    });
    expect(seen).toEqual(["2…", "1…"]);
    const params = { name: "countdown", arguments: { from: 2, delayMs: 50 }, _meta: { progressToken: "p" } };
    const lines = [
      initialize("2025-11-25"),
      JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } }),
    ];
    const messages = await talk("lab", lines, 300);
    expect(messages).toMatchObject([{ method: "notifications/progress", params: { progress: 0 } }, { id: 1 }]);
  });

  it("logs at the level that was asked for, fails, and shows a picture", async () => {
    const { client, notifications } = await connectV1(command("lab"));
    await client.setLoggingLevel("warning");
    await client.callTool({ name: "log", arguments: { message: "quiet", level: "info" } });
    await client.callTool({ name: "log", arguments: { message: "loud", level: "error" } });
    const logs = () => notifications.filter((n) => n.method === "notifications/message");
    await until(() => logs().length > 0);
    expect(logs().map((n) => n.params)).toEqual([{ level: "error", logger: "lab", data: { message: "loud", n: 1 } }]);
    expect(await client.callTool({ name: "fail", arguments: { reason: "Boom" } })).toEqual({
      content: [{ type: "text", text: "Boom" }],
      isError: true,
    });
    const { content } = await client.callTool({ name: "portrait" });
    expect(content).toMatchObject([{ type: "text" }, { type: "image", mimeType: "image/png" }]);
    const image = (content as { data: string }[])[1];
    expect(
      Buffer.from(image?.data ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  });

  it("asks the user when the client can", async () => {
    const asking = await connectV1({
      ...command("lab"),
      elicitation: () => ({ action: "accept", content: { name: "Grub" } }),
    });
    expect(await asking.client.callTool({ name: "greet" })).toMatchObject({ content: [{ text: "Hello, Grub." }] });
    const silent = await connectV1(command("lab"));
    expect(await silent.client.callTool({ name: "greet" })).toMatchObject({
      content: [{ text: "Hello, stranger. Your client cannot ask you for your name." }],
    });
  });
});

function initialize(protocolVersion: string): string {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
}

/**
 * Writes the lines, ends the input after a while, and returns what the server said before it ended
 * by itself.
 */
async function talk(id: string, lines: string[], endAfterMs = 0): Promise<unknown[]> {
  const { command: node, args } = command(id);
  const child = spawn(node, args, { stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stdin.write(`${lines.join("\n")}\n`);
  setTimeout(() => child.stdin.end(), endAfterMs);
  expect((await once(child, "close"))[0]).toBe(0);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
