/**
 * Servers that ask for the client's roots at their start, outside of any call, and clients without
 * a session, which can be asked in a call only. Each client's roots reach the server that serves
 * it, and no other client's. What a client without roots sees does not depend on who came before.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, onDispose, until } from "../fixtures/peers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const PROGRAM = fileURLToPath(new URL("../fixtures/asking-server.js", import.meta.url));
const asking = { command: process.execPath, args: [PROGRAM] };
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

interface Rooted {
  call(name: string, args?: Record<string, unknown>): Promise<unknown>;
  /** The methods that it was asked, in order. */
  readonly asked: string[];
}

/** A client of 2026-07-28 with this name, which answers what it is asked with these roots. */
function rooted(url: string, name: string, options: { token?: string; roots?: string[] } = {}): Rooted {
  const { token, roots = [`file:///home/${name}`] } = options;
  const client = stateless(url, { ...(token !== undefined && { token }), capabilities: { roots: {} } });
  const meta = { [CLIENT_INFO]: { name, version: "1" } };
  const asked: string[] = [];
  return {
    asked,
    async call(tool, args = {}) {
      let more = {};
      for (;;) {
        const { message } = await client.call("tools/call", { name: tool, arguments: args, ...more }, { meta });
        const { result } = message;
        if (result?.resultType !== "input_required") return result ? result.content[0].text : message.error;
        const inputResponses: Record<string, unknown> = {};
        for (const [key, { method }] of Object.entries<{ method: string }>(result.inputRequests)) {
          asked.push(method);
          inputResponses[key] = { roots: roots.map((uri) => ({ uri })) };
        }
        more = { inputResponses, requestState: result.requestState };
      }
    },
  };
}

describe("the roots of a client without a session (C3)", () => {
  const started = async (config: Record<string, unknown> = {}) => {
    const goblin = await startGoblin({ mcpServers: { a: asking }, ...config });
    // The shared program has been told that there are none.
    const plain = stateless(goblin.url);
    const own = async () => (await plain.call("tools/call", { name: "a_roots", arguments: {} })).message;
    if (!("gateway" in config)) await until(async () => (await own()).result.content[0].text === "[]");
    return goblin;
  };

  test("reach the server, which serves all calls of the client", async () => {
    const { url } = await started();
    const ada = rooted(url, "ada");
    expect(await ada.call("a_roots")).toBe('["file:///home/ada"]');
    const pid = await ada.call("a_whoami");
    expect(await ada.call("a_whoami")).toBe(pid);
    expect(ada.asked).toEqual(["roots/list", "roots/list", "roots/list"]);
  });

  test("are those of the call: two windows of one program share nothing, and roots may change", async () => {
    const { url } = await started();
    const roots = ["file:///work/one"];
    const [one, two] = [rooted(url, "editor", { roots }), rooted(url, "editor", { roots: ["file:///work/two"] })];
    const both = await Promise.all([one.call("a_roots"), two.call("a_roots")]);
    expect(both).toEqual(['["file:///work/one"]', '["file:///work/two"]']);
    roots[0] = "file:///work/three";
    expect(await one.call("a_roots")).toBe('["file:///work/three"]');
    expect(await two.call("a_roots")).toBe('["file:///work/two"]');
  });

  test("reach no other client's server, whether it has roots or not", async () => {
    const { url } = await started();
    const [ada, bob] = [rooted(url, "ada"), rooted(url, "bob")];
    const session = await connectV1({ url, roots: [{ uri: "file:///home/eve" }] });
    const plain = stateless(url);
    const both = await Promise.all([ada.call("a_roots"), bob.call("a_roots")]);
    expect(both).toEqual(['["file:///home/ada"]', '["file:///home/bob"]']);
    expect((await session.client.callTool({ name: "a_roots", arguments: {} }))["content"]).toEqual([
      { type: "text", text: '["file:///home/eve"]' },
    ]);
    const { message } = await plain.call("tools/call", { name: "a_roots", arguments: {} });
    expect(message.result.content[0].text).toBe("[]");
    expect([ada.asked, bob.asked]).toEqual([["roots/list"], ["roots/list"]]);
  });

  test("reach no server of another token, though both clients call themselves the same", async () => {
    const config = { mcpServers: { a: { ...asking, share: "auto" } }, gateway: { auth: { tokens: ["one", "two"] } } };
    const { url } = await started(config);
    const ada = rooted(url, "same", { token: "one", roots: ["file:///ada"] });
    const bob = rooted(url, "same", { token: "two", roots: ["file:///bob"] });
    expect(await ada.call("a_roots")).toBe('["file:///ada"]');
    expect(await bob.call("a_roots")).toBe('["file:///bob"]');
    expect(await ada.call("a_roots")).toBe('["file:///ada"]');
  });

  test('reach the server of each call with share "session"', async () => {
    const { url } = await started({ mcpServers: { a: { ...asking, share: "session" } }, gateway: {} });
    const ada = rooted(url, "ada");
    expect(await ada.call("a_roots")).toBe('["file:///home/ada"]');
  });

  test("decide what server-filesystem may read", async () => {
    const program = new URL(
      "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
      import.meta.url,
    );
    const folders = await Promise.all(["own", "given"].map((name) => mkdtemp(join(tmpdir(), `goblin-${name}-`))));
    onDispose(async () => void (await Promise.all(folders.map((folder) => rm(folder, { recursive: true })))));
    const [own, given] = (await Promise.all(folders.map((folder) => realpath(folder)))) as [string, string];
    const files = { command: process.execPath, args: [fileURLToPath(program), own] };
    const { url } = await startGoblin({ mcpServers: { files } });
    const ada = rooted(url, "ada", { roots: [pathToFileURL(given).href] });
    // It looks at the folders before it uses them, and answers other requests meanwhile.
    await until(async () => (await ada.call("files_list_allowed_directories")) === `Allowed directories:\n${given}`);
    const plain = stateless(url);
    const { message } = await plain.call("tools/call", { name: "files_list_allowed_directories", arguments: {} });
    expect(message.result.content[0].text).toBe(`Allowed directories:\n${own}`);
  });

  test("reach server-everything", async () => {
    const program = new URL(
      "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
      import.meta.url,
    );
    const all = { command: process.execPath, args: [fileURLToPath(program), "stdio"] };
    const { url } = await startGoblin({ mcpServers: { all } });
    const ada = rooted(url, "ada");
    expect(await ada.call("all_get-roots-list")).toContain("file:///home/ada");
  });
});

test("what a client without capabilities sees, and can call, does not depend on who came before (C8)", async () => {
  const { url } = await startGoblin({ mcpServers: { a: asking } });
  const all = ["a_add", "a_roots", "a_sample", "a_touch", "a_whoami"];
  const seen = async () => {
    const { client } = await connectV1({ url });
    const names = (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith("a_"));
    const { content } = await client.callTool({ name: "a_sample", arguments: {} });
    return { names, content };
  };
  const expected = { names: all, content: [{ type: "text", text: '"sampled"' }] };
  expect(await seen()).toEqual(expected);
  // Lists fewer tools on a connection of its own.
  const other = await connectV1({ url, roots: [{ uri: "file:///home/ada" }] });
  expect((await other.client.listTools()).tools.map(({ name }) => name)).not.toContain("a_sample");
  expect(await seen()).toEqual(expected);
  const { message } = await stateless(url, { capabilities: { roots: {} } }).call("tools/list");
  expect(message.result.tools.map(({ name }: { name: string }) => name)).toContain("a_sample");
  const rootsOnly = rooted(url, "bob");
  expect(await rootsOnly.call("a_sample")).toBe('"sampled"');
});
