/**
 * The reference servers over stdio, where clients see flat ids: resources, templates, links,
 * prompts, completion, and subscriptions that outlive the server's process.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, until } from "../../fixtures/peers.ts";
import { descendants } from "../../fixtures/processes.ts";
import { asked, type Listener, startListener } from "./rig.ts";

const program = (name: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

let folder: string;
let goblin: RunningGoblin;
let one: Listener;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "goblin-offerings-")));
  writeFileSync(join(folder, "hello.txt"), "Hello from a file");
  goblin = await startGoblin({
    mcpServers: {
      all: { command: process.execPath, args: [program("everything"), "stdio"] },
      files: { command: process.execPath, args: [program("filesystem"), folder] },
    },
    resources: { uris: "flat" },
  });
  one = await startListener(goblin);
}, 60_000);
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
  await until(() => one.updates().length === 2 && two.updates().length === 2, { what: "the update after the restart" });
  await until(() => goblin.gateway.servers.status("all")?.state === "ready");
  await toggle();
  await until(() => one.updates().length === 3 && two.updates().length === 3, { what: "an update of the new process" });
  await toggle();
  await sleep(50);
  expect([one.updates(), two.updates(), three.updates()]).toEqual([
    [uri, uri, uri],
    [`${TEXT}/1`, `${TEXT}/1`, `${TEXT}/1`],
    [],
  ]);
}, 30_000);

test("filesystem, which has no resources, stands beside it", async () => {
  expect(goblin.gateway.servers.status("files")?.state).toBe("ready");
  const result = await asked(one.client, "tools/call", {
    name: "files_read_text_file",
    arguments: { path: join(folder, "hello.txt") },
  });
  expect(result.content).toEqual([{ type: "text", text: "Hello from a file" }]);
  expect(await asked(one.client, "resources/read", { uri: `files+file://${folder}/hello.txt` })).toMatchObject({
    code: -32002,
    message: `Resource not found: files+file://${folder}/hello.txt`,
  });
});
