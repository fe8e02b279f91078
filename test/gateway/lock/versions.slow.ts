/** A public server of two versions: what the lock says of an upgrade, and of the way back. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { driftsOf, lockFile, lockServer, lockState, startLocked } from "../../fixtures/locked-gateway.ts";
import { connectV1, disposeAll, onDispose } from "../../fixtures/peers.ts";

afterEach(disposeAll);

/** The entry of an installed version of the memory server. */
function memory(name: "@modelcontextprotocol/server-memory" | "server-memory-2025", folder: string) {
  const program = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "dist/index.js");
  return {
    entry: { command: process.execPath, args: [program], env: { MEMORY_FILE_PATH: join(folder, "memory.json") } },
  };
}

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "goblin-memory-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const names = [
  "add_observations",
  "create_entities",
  "create_relations",
  "delete_entities",
  "delete_observations",
  "delete_relations",
  "open_nodes",
  "read_graph",
  "search_nodes",
];

test("an upgrade is seen tool by tool, clients keep the approved tools, and these work", async () => {
  const folder = folderOf();
  const file = lockFile();
  await lockServer(memory("server-memory-2025", folder), file);
  const goblin = await startLocked(memory("@modelcontextprotocol/server-memory", folder), { mode: "enforce", file });
  expect(await driftsOf(goblin)).toEqual([
    ...names.map((name) => `tool ${name} changed widening pinned`),
    "resources  changed wording pinned",
  ]);
  const { drifts } = (await lockState(goblin)).servers[0]!;
  expect(drifts.find(({ name }) => name === "read_graph")!.changes).toEqual([
    { class: "widening", path: "inputSchema.additionalProperties", what: "is accepted now" },
    {
      class: "wording",
      path: "inputSchema.$schema",
      what: 'was nothing and is "http://json-schema.org/draft-07/schema#"',
    },
    { class: "wording", path: "title", what: 'was nothing and is "Read Graph"' },
    { class: "widening", path: "annotations.readOnlyHint", what: "the tool was may write and is read-only" },
    { class: "widening", path: "annotations.destructiveHint", what: "the tool was may destroy and is only adds" },
    { class: "widening", path: "annotations.idempotentHint", what: "the tool was not idempotent and is idempotent" },
    { class: "widening", path: "annotations.openWorldHint", what: "the tool was open world and is closed world" },
    { class: "widening", path: "execution", what: 'was nothing and is {"taskSupport":"forbidden"}' },
    { class: "wording", path: "outputSchema", what: "was added" },
  ]);
  const { client } = await connectV1({ url: goblin.url });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(names.map((name) => `one_${name}`));
  expect(tools.every(({ annotations, outputSchema }) => !annotations && !outputSchema)).toBe(true);
  const entities = [{ name: "Ada", entityType: "person", observations: ["counts"] }];
  await client.callTool({ name: "one_create_entities", arguments: { entities } });
  const read = await client.callTool({ name: "one_read_graph", arguments: {} });
  expect(JSON.stringify(read.content)).toContain("Ada");
});

test("the way back hides tools that were approved as harmless and no longer say that they are", async () => {
  const folder = folderOf();
  const file = lockFile();
  await lockServer(memory("@modelcontextprotocol/server-memory", folder), file);
  const goblin = await startLocked(memory("server-memory-2025", folder), { mode: "enforce", file });
  expect(await driftsOf(goblin)).toEqual([
    ...names.map((name) => `tool ${name} changed widening hidden`),
    "resources  changed cosmetic listed",
  ]);
  expect(goblin.gateway.snapshot().tools.entries).toEqual([]);
});
