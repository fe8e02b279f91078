/** A server that quotes its own key wherever it describes itself. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { lockFile } from "../fixtures/locked-gateway.ts";
import { connectV1, disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const KEY = "correct-horse+battery/staple";
const SHORT = "hunter2!";

test("its key is in no answer of the API and of no meta tool, and one in args is not in the log (A-L7, B9)", async () => {
  const told = `My key is ${KEY}, or ${SHORT}.`;
  const server = await startScripted({
    name: "one",
    script: {
      instructions: told,
      serverInfo: { name: told, title: told, description: told },
      lists: {
        tools: [
          {
            name: "send",
            description: told,
            inputSchema: { type: "object", properties: { [KEY]: { description: told } } },
          },
          { name: `tool-${KEY}`, inputSchema: { type: "object" } },
        ],
        prompts: [{ name: "ask", description: told, arguments: [{ name: "a", description: told }] }],
        resources: [{ uri: "x:///a", name: "a", description: told }],
        resourceTemplates: [{ uriTemplate: "x:///{id}", name: "t", description: told }],
      },
    },
  });
  const one = { ...server.entry, env: { ...(server.entry as { env?: Record<string, string> }).env, KEY } };
  const program = "console.error('started with', ...process.argv.slice(1)); process.exit(1)";
  const two = { command: process.execPath, args: ["-e", program, "--", "--api-key", SHORT] };
  const goblin = await startGoblin({
    mcpServers: { one, two },
    lock: { mode: "warn", file: lockFile() },
    metaTools: { enabled: ["catalog_servers", "catalog_tools", "describe_tool", "search_tools"] },
  });
  const paths = [
    "servers",
    "servers/one",
    "servers/two",
    "lock",
    "tools",
    "prompts",
    "resources",
    "templates",
    "logs",
    "config",
  ];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(`${goblin.origin}/api/${path}`)).text()));
  const { client } = await connectV1({ url: goblin.url });
  const calls: [string, Record<string, unknown>][] = [
    ["catalog_servers", {}],
    ["catalog_tools", {}],
    ["describe_tool", { name: "one_send" }],
    ["search_tools", { query: "key" }],
  ];
  for (const [name, args] of calls) answers.push(JSON.stringify(await client.callTool({ name, arguments: args })));
  answers.push(JSON.stringify(goblin.logs));
  for (const answer of answers) {
    expect(answer).not.toContain("battery");
    expect(answer).not.toContain("hunter2");
  }
  expect(JSON.stringify(goblin.logs)).toContain("started with --api-key [hidden]");
  expect(answers[1]).toContain("My key is [hidden], or [hidden].");
  expect(answers[3]).toContain("My key is [hidden], or [hidden].");
  expect(answers[4]).toContain("My key is [hidden], or [hidden].");
});
