/**
 * What docs/meta-tools.md shows is what the gateway answers, with the demo servers of the built
 * package. Needs `dist/`.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenTable } from "../../../src/app/cli/commands/tokens.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { META_TOOL_NAMES } from "../../../src/config/schema/offerings.ts";
import { reportTokens } from "../../../src/upstream/catalog/token-report.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll } from "../../fixtures/peers.ts";
import { metaClient } from "./rig.ts";

const built = new URL("../../../dist/app/demo/index.js", import.meta.url).href;
const { demoServers } = (await import(built)) as typeof import("../../../src/app/demo/index.ts");
const doc = readFileSync(new URL("../../../docs/meta-tools.md", import.meta.url), "utf8");
const blocks = [...doc.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, kind, text]) => ({ kind, text: text ?? "" }));

let goblin: RunningGoblin;

beforeAll(async () => {
  const servers = demoServers().map(({ id, command, args }) => [id, { command, args }]);
  goblin = await startGoblin({ mcpServers: Object.fromEntries(servers) });
});
afterAll(disposeAll);

test("the calls answer as shown", async () => {
  const client = await metaClient(goblin.url);
  const calls = blocks.flatMap(({ text }) => {
    const shown = /^\/\/ (\w+) (\{.*\})\n([\s\S]*)$/.exec(text);
    return shown ? [{ name: shown[1]!, args: JSON.parse(shown[2]!), expected: JSON.parse(shown[3]!) }] : [];
  });
  expect(calls.map(({ name }) => name)).toEqual(["search_tools", "describe_tool", "call_tool"]);
  for (const { name, args, expected } of calls) {
    const { result } = await client.call(name, args);
    expect(name === "call_tool" ? result : result.structuredContent).toEqual(expected);
  }
});

test("the table of tokens is the one shown", () => {
  const shown = blocks.find(({ text }) => text.startsWith("$ goblin tokens\n"));
  const states = new Map(goblin.gateway.servers.ids().map((id) => [id, goblin.gateway.servers.status(id)!.state]));
  const table = tokenTable(reportTokens(goblin.gateway.snapshot()), states);
  expect(`$ goblin tokens\n${table}\n`).toBe(shown?.text);
});

test("the config is valid, and every meta tool is in the table", () => {
  const config = blocks.find(({ text }) => text.includes('"metaTools"'));
  expect(() => parseConfig(config?.text ?? "", { file: "doc", env: {} })).not.toThrow();
  for (const name of META_TOOL_NAMES) expect(doc).toContain(`| \`${name}\``);
});
