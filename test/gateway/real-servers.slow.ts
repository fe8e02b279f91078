/**
 * The reference servers behind one gateway: everything over stdio, Streamable HTTP and HTTP+SSE,
 * filesystem and memory over stdio. Then everything where clients see flat ids: every form of a
 * URI, and subscriptions that outlive the server's process.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type Connected, connectV1, connectV2, disposeAll, onDispose, until } from "../fixtures/peers.ts";
import { descendants } from "../fixtures/processes.ts";
import { freePort } from "../fixtures/serve.ts";
import { asked, type Listener, startListener } from "./offerings/rig.ts";

const program = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

/** The everything server as a web server of its own. */
async function startEverything(mode: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [program("everything"), mode], { env, stdio: "ignore" });
  onDispose(() => child.kill("SIGKILL"));
  await until(() =>
    fetch(`http://127.0.0.1:${port}/none`).then(
      () => true,
      () => false,
    ),
  );
  return port;
}

describe("over every transport", () => {
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
  });
  afterAll(async () => {
    await disposeAll();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (name: string, args: Record<string, unknown> = {}) =>
    connected.client.callTool({ name, arguments: args });

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
      await until(() => connected.notifications.some(isUpdate), { what: `update of ${uri}` });
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
});

describe("with flat ids", () => {
  let folder: string;
  let goblin: RunningGoblin;
  let one: Listener;

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "goblin-offerings-")));
    goblin = await startGoblin({
      mcpServers: {
        all: { command: process.execPath, args: [program("everything"), "stdio"] },
        files: { command: process.execPath, args: [program("filesystem"), folder] },
      },
      resources: { uris: "flat" },
    });
    one = await startListener(goblin);
  });
  afterAll(async () => {
    await disposeAll();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = async (uri: string) => (await asked(one.client, "resources/read", { uri })).contents?.[0];
  const TEXT = "demo://resource/dynamic/text";

  test("its documents are listed by their flat ids and read by every form, byte for byte", async () => {
    const { resources } = await asked(one.client, "resources/list", {});
    expect(resources.map(({ uri }: { uri: string }) => uri)).toEqual(
      ["architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure"].map(
        (name) => `all_demo___resource_static_document_${name}.md`,
      ),
    );
    const text = readFileSync(join(program("everything"), "../docs/features.md"), "utf8");
    for (const uri of [
      "all_demo___resource_static_document_features.md",
      "all+demo://resource/static/document/features.md",
      "demo://resource/static/document/features.md",
      "file:///all_demo___resource_static_document_features.md",
      "all_demo_resource_static_document_features.md",
    ]) {
      expect(await read(uri)).toEqual({
        uri: "all_demo___resource_static_document_features.md",
        mimeType: "text/markdown",
        text,
      });
    }
  });

  test("its templates are expanded, completed and read", async () => {
    const { resourceTemplates } = await asked(one.client, "resources/templates/list", {});
    expect(resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      "all_demo://resource/dynamic/blob/{resourceId}",
      `all_${TEXT}/{resourceId}`,
    ]);
    for (const uri of [`all_${TEXT}/12`, `all+${TEXT}/12`, `${TEXT}/12`, `file:///all_${TEXT}/12`]) {
      const contents = await read(uri);
      expect([contents.uri, contents.mimeType]).toEqual([`all_${TEXT}/12`, "text/plain"]);
      expect(contents.text).toMatch(/^Resource 12: /);
    }
    const { blob } = await read("all_demo://resource/dynamic/blob/3");
    expect(Buffer.from(blob, "base64").toString()).toMatch(/^Resource 3: /);
    const { completion } = await asked(one.client, "completion/complete", {
      ref: { type: "ref/resource", uri: `all_${TEXT}/{resourceId}` },
      argument: { name: "resourceId", value: "7" },
    });
    expect(completion.values).toEqual(["7"]);
    expect(await asked(one.client, "resources/read", { uri: `all_${TEXT}/none` })).toMatchObject({
      data: { serverId: "all" },
    });
  });

  test("what its prompts and tools refer to can be read", async () => {
    const prompt = await asked(one.client, "prompts/get", {
      name: "all_resource-prompt",
      arguments: { resourceType: "Text", resourceId: "3" },
    });
    expect(prompt.messages[1].content.resource.uri).toBe(`all_${TEXT}/3`);
    expect((await read(prompt.messages[1].content.resource.uri)).text).toMatch(/^Resource 3: /);
    expect(await asked(one.client, "prompts/get", { name: "all_resource-prompt", arguments: {} })).toMatchObject({
      code: -32602,
      data: { code: "PROMPT-002", missing: ["resourceType", "resourceId"] },
    });
    const embedded = await asked(one.client, "tools/call", {
      name: "all_get-resource-reference",
      arguments: { resourceType: "Blob", resourceId: 4 },
    });
    const { uri } = embedded.content[1].resource;
    expect(uri).toBe("all_demo://resource/dynamic/blob/4");
    expect((await read(uri)).uri).toBe(uri);
  });

  test("a resource that a tool makes is announced, listed and read", async () => {
    const before = one.heard("notifications/resources/list_changed").length;
    const data = `data:text/plain;base64,${Buffer.from("made by a tool").toString("base64")}`;
    const made = await asked(one.client, "tools/call", {
      name: "all_gzip-file-as-resource",
      arguments: { name: "made.gz", data, outputType: "resourceLink" },
    });
    await until(() => one.heard("notifications/resources/list_changed").length === before + 1);
    const link = made.content.find(({ type }: { type: string }) => type === "resource_link");
    const contents = await read(link.uri);
    expect(contents.uri).toBe("all_demo___resource_session_made.gz");
    expect(gunzipSync(Buffer.from(contents.blob, "base64")).toString()).toBe("made by a tool");
  });

  test("updates reach two clients of three, also after kill -9 of the server", async () => {
    const [two, three] = [await startListener(goblin), await startListener(goblin)];
    const uri = `all_${TEXT}/1`;
    expect(await asked(one.client, "resources/subscribe", { uri })).toEqual({});
    expect(await asked(two.client, "resources/subscribe", { uri: `${TEXT}/1` })).toEqual({});
    const toggle = () => asked(one.client, "tools/call", { name: "all_toggle-subscriber-updates", arguments: {} });
    await toggle();
    await until(() => one.updates().length === 1 && two.updates().length === 1);
    await toggle();
    const mine = descendants(process.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program("everything")),
    );
    expect(mine).toHaveLength(1);
    process.kill(mine[0]!, "SIGKILL");
    await until(() => one.updates().length === 2 && two.updates().length === 2, {
      what: "the update after the restart",
    });
    await until(() => goblin.gateway.servers.status("all")?.state === "ready");
    await toggle();
    await until(() => one.updates().length === 3 && two.updates().length === 3, {
      what: "an update of the new process",
    });
    await toggle();
    await sleep(50);
    expect([one.updates(), two.updates(), three.updates()]).toEqual([
      [uri, uri, uri],
      [`${TEXT}/1`, `${TEXT}/1`, `${TEXT}/1`],
      [],
    ]);
  });

  test("filesystem, which has no resources, is ready beside it", async () => {
    expect(goblin.gateway.servers.status("files")?.state).toBe("ready");
    expect(await asked(one.client, "resources/read", { uri: `files+file://${folder}/hello.txt` })).toMatchObject({
      code: -32002,
      message: `Resource not found: files+file://${folder}/hello.txt`,
    });
  });
});
