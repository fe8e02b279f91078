// What whole dialogues cost a model, in tokens: the tool list, then search, description and call,
// for every way to list tools. The servers are those that are at hand without the network: the
// demo servers and the reference servers of the development packages.
//
// Tokens are estimates (docs/search.md). Of an answer, its text counts: clients show a model that,
// or the structured content, not both.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const dist = new URL("../../dist/", import.meta.url);

/** What a user wants, and the call that does it. */
const dialogues = [
  { question: "what time is it in Tokyo?", tool: "clock_now", args: { timeZone: "Asia/Tokyo" } },
  { question: "write down a note", tool: "notes_add", args: { title: "Milk", text: "Buy milk" } },
  { question: "add two numbers", tool: "everything_get-sum", args: { a: 2, b: 3 } },
  { question: "which folders may I use?", tool: "files_list_allowed_directories", args: {} },
  {
    question: "remember that Ada knows Charles",
    tool: "memory_create_entities",
    args: { entities: [{ name: "Ada", entityType: "person", observations: ["knows Charles"] }] },
  },
];

const modes = [
  { name: "all", config: {}, finds: [] },
  { name: "search, by signature", config: { tools: { expose: "search" } }, finds: ["search_tools"] },
  {
    name: "search, described",
    config: { tools: { expose: "search" } },
    finds: ["search_tools", "describe_tool"],
  },
  {
    name: "search, all meta tools",
    config: { tools: { expose: "search" } },
    finds: ["search_tools", "describe_tool"],
    hasAllTools: true,
  },
];

export async function benchDialogues({ log }) {
  const { createGateway } = await import(new URL("app/library/library.js", dist));
  const { estimateTokens } = await import(new URL("lib/text/token-estimate.js", dist));
  const { META_TOOL_NAMES } = await import(new URL("config/schema/offerings.js", dist));
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "goblin-dialogues-")));
  const mcpServers = await serversAtHand(folder);
  const tokensOf = (value) => estimateTokens(typeof value === "string" ? value : JSON.stringify(value));
  log("");
  log(`dialogues of ${Object.keys(mcpServers).length} servers     list  search  describe   call  whole dialogue`);
  try {
    for (const { name, config, finds, hasAllTools } of modes) {
      const metaTools = hasAllTools ? { enabled: META_TOOL_NAMES } : {};
      const gateway = await createGateway({ config: { mcpServers, metaTools, gateway: { port: 0 }, ...config } });
      try {
        const { url } = await gateway.listen();
        const cost = await measure(url, { finds, tokensOf });
        const cells = [
          cost.list,
          cost.search,
          cost.describe,
          cost.call,
          cost.list + cost.search + cost.describe + cost.call,
        ];
        const widths = [6, 8, 10, 7, 16];
        log(name.padEnd(24) + cells.map((cell, i) => String(Math.round(cell)).padStart(widths[i])).join(""));
      } finally {
        await gateway.close();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The mean over the dialogues; the list is read once in each. */
async function measure(url, { finds, tokensOf }) {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    const { tools } = await client.listTools();
    const cost = { list: tools.reduce((sum, tool) => sum + tokensOf(tool), 0), search: 0, describe: 0, call: 0 };
    const ask = async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      const texts = result.content.map((block) => block.text ?? "");
      return tokensOf({ name, arguments: args }) + texts.reduce((sum, text) => sum + tokensOf(text), 0);
    };
    const share = (tokens) => tokens / dialogues.length;
    for (const { question, tool, args } of dialogues) {
      if (finds.includes("search_tools"))
        cost.search += share(await ask("search_tools", { query: question, limit: 5 }));
      if (finds.includes("describe_tool")) cost.describe += share(await ask("describe_tool", { name: tool }));
      const isListed = tools.some(({ name }) => name === tool);
      cost.call += share(isListed ? await ask(tool, args) : await ask("call_tool", { name: tool, arguments: args }));
    }
    return cost;
  } finally {
    await client.close();
  }
}

async function serversAtHand(folder) {
  const { demoServers } = await import(new URL("app/demo/index.js", dist));
  const program = (name) =>
    fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
  return {
    ...Object.fromEntries(demoServers().map(({ id, command, args }) => [id, { command, args }])),
    everything: { command: process.execPath, args: [program("everything")] },
    files: { command: process.execPath, args: [program("filesystem"), folder] },
    memory: {
      command: process.execPath,
      args: [program("memory")],
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    },
  };
}
