/**
 * The reference servers behind one gateway: everything over stdio, Streamable HTTP and HTTP+SSE,
 * filesystem and memory over stdio.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { type Connected, connectV1, connectV2, disposeAll, onDispose, until } from "../fixtures/peers.ts";

const program = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

/** The everything server as a web server of its own. */
async function startEverything(mode: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [program("everything"), mode], { env, stdio: "ignore" });
  onDispose(() => child.kill("SIGKILL"));
  await until(
    () =>
      fetch(`http://127.0.0.1:${port}/none`).then(
        () => true,
        () => false,
      ),
    { timeoutMs: 20_000 },
  );
  return port;
}

let folder: string;
let url: string;
let connected: Connected<Awaited<ReturnType<typeof connectV1>>["client"]>;
const ids = ["local", "remote", "old"];

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "goblin-real-")));
  writeFileSync(join(folder, "hello.txt"), "Hello from a file");
  const [http, sse] = await Promise.all([startEverything("streamableHttp"), startEverything("sse")]);
  const node = (name: string, ...args: string[]) => ({ command: process.execPath, args: [program(name), ...args] });
  const goblin = await startGoblin({
    mcpServers: {
      local: node("everything", "stdio"),
      // Without a type, both are found out by the gateway.
      remote: { url: `http://127.0.0.1:${http}/mcp` },
      old: { url: `http://127.0.0.1:${sse}/sse` },
      files: node("filesystem", folder),
      memory: { ...node("memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.json") } },
    },
  });
  url = goblin.url;
  connected = await connectV1({ url });
}, 90_000);
afterAll(async () => {
  await disposeAll();
  rmSync(folder, { recursive: true, force: true });
});

const call = (name: string, args: Record<string, unknown> = {}) => connected.client.callTool({ name, arguments: args });

test("the tools, prompts, resources and templates of all five are in one list", async () => {
  const { tools } = await connected.client.listTools();
  const names = tools.map(({ name }) => name);
  for (const id of ids) expect(names).toEqual(expect.arrayContaining([`${id}_echo`, `${id}_get-sum`]));
  expect(names).toEqual(expect.arrayContaining(["files_read_text_file", "memory_create_entities"]));
  const prompts = (await connected.client.listPrompts()).prompts.map(({ name }) => name);
  for (const id of ids) expect(prompts).toEqual(expect.arrayContaining([`${id}_simple-prompt`, `${id}_args-prompt`]));
  const templates = (await connected.client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate);
  for (const id of ids) expect(templates).toContain(`${id}+demo://resource/dynamic/text/{resourceId}`);
  const resources = (await connected.client.listResources()).resources.map(({ uri }) => uri);
  for (const id of ids) expect(resources.some((uri) => uri.startsWith(`${id}+demo://`))).toBe(true);
});

describe.each(ids)("everything as %s", (id) => {
  test("tools answer, with structured content, images and links", async () => {
    expect(await call(`${id}_echo`, { message: "hi" })).toMatchObject({
      content: [{ type: "text", text: "Echo: hi" }],
    });
    expect(await call(`${id}_get-sum`, { a: 2, b: 3 })).toMatchObject({
      content: [{ type: "text", text: "The sum of 2 and 3 is 5." }],
    });
    const image = (await call(`${id}_get-tiny-image`)) as { content: { type: string; mimeType?: string }[] };
    expect(image.content.find(({ type }) => type === "image")?.mimeType).toBe("image/png");
    const { structuredContent } = await call(`${id}_get-structured-content`, { location: "New York" });
    expect(structuredContent).toMatchObject({ conditions: "Cloudy" });
    const links = (await call(`${id}_get-resource-links`, { count: 2 })) as {
      content: { type: string; uri?: string }[];
    };
    const uris = links.content.flatMap(({ uri }) => (uri === undefined ? [] : [uri]));
    expect(uris).toHaveLength(2);
    for (const uri of uris) {
      expect(uri.startsWith(`${id}+demo://resource/dynamic/`)).toBe(true);
      expect((await connected.client.readResource({ uri })).contents[0]!.uri).toBe(uri);
    }
  });

  test("a long operation reports its progress", async () => {
    const steps: number[] = [];
    const args = { name: `${id}_trigger-long-running-operation`, arguments: { duration: 0.4, steps: 4 } };
    await connected.client.callTool(args, undefined, { onprogress: ({ progress }) => steps.push(progress) });
    expect(steps.slice(0, 3)).toEqual([1, 2, 3]);
  });

  test("prompts, completions, templates", async () => {
    const { messages } = await connected.client.getPrompt({ name: `${id}_args-prompt`, arguments: { city: "Oslo" } });
    expect(JSON.stringify(messages)).toContain("Oslo");
    const completed = await connected.client.complete({
      ref: { type: "ref/prompt", name: `${id}_completable-prompt` },
      argument: { name: "department", value: "Eng" },
    });
    expect(completed.completion.values).toEqual(["Engineering"]);
    const uri = `${id}+demo://resource/dynamic/text/7`;
    const { contents } = await connected.client.readResource({ uri });
    expect(contents[0]).toMatchObject({ uri, mimeType: "text/plain" });
    expect((contents[0] as { text: string }).text).toContain("Resource 7");
  });

  test("updates of a resource arrive under the URI that was subscribed to", async () => {
    const uri = `${id}+demo://resource/dynamic/text/1`;
    await connected.client.subscribeResource({ uri });
    await call(`${id}_toggle-subscriber-updates`);
    const isUpdate = ({ method, params }: { method: string; params?: { [key: string]: unknown } }) =>
      method === "notifications/resources/updated" && params?.["uri"] === uri;
    await until(() => connected.notifications.some(isUpdate), { timeoutMs: 8000, what: `update of ${uri}` });
    await call(`${id}_toggle-subscriber-updates`);
    await connected.client.unsubscribeResource({ uri });
  });
});

test("filesystem reads and writes in its folder and nowhere else", async () => {
  const read = await call("files_read_text_file", { path: join(folder, "hello.txt") });
  expect(read).toMatchObject({ content: [{ type: "text", text: "Hello from a file" }] });
  await call("files_write_file", { path: join(folder, "new.txt"), content: "written" });
  expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("written");
  expect(await call("files_read_text_file", { path: "/etc/hostname" })).toMatchObject({ isError: true });
});

test("memory remembers", async () => {
  const entity = { name: "Goblin", entityType: "gateway", observations: ["is fast"] };
  await call("memory_create_entities", { entities: [entity] });
  expect(await call("memory_search_nodes", { query: "fast" })).toMatchObject({
    structuredContent: { entities: [entity], relations: [] },
  });
});

test("an SDK v2 client is served the same", async () => {
  const { client } = await connectV2({ url });
  const result = await client.callTool({ name: "old_echo", arguments: { message: "v2" } });
  expect(result).toMatchObject({ content: [{ type: "text", text: "Echo: v2" }] });
});
