/** A server gets what its own entry says: no client's token, nothing of Goblin's environment. */
import { afterEach, expect, test, vi } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile } from "../fixtures/hostile.ts";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";

afterEach(async () => {
  vi.unstubAllEnvs();
  await disposeAll();
});

const tools = [{ name: "tell", inputSchema: { type: "object" } }];
const tokens = ["client-token-0123456789", "other-token-0123456789"];

/** A program that tells its environment. */
const teller = `
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const results = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "teller", version: "1" },
      },
      "tools/list": { tools: ${JSON.stringify(tools)} },
      "tools/call": { content: [], structuredContent: process.env },
    };
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
  });
`;

async function ask(entry: Record<string, unknown>): Promise<Record<string, string>> {
  const goblin = await startGoblin({ mcpServers: { one: entry }, gateway: { auth: { tokens } } });
  const client = rawHttp(goblin.url);
  client.headers = { authorization: `Bearer ${tokens[0]}`, "x-client": "client-header", cookie: "client=cookie" };
  await client.initialize();
  return (await client.call("tools/call", { name: "one_tell" })).message.result.structuredContent;
}

test("over HTTP: the headers of its entry, none of the client's", async () => {
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools }),
      "tools/call": (_, response) => ({ content: [], structuredContent: response.req.headers }),
    },
  });
  const headers = await ask({ ...server.entry, headers: { "X-Own": "own" } });
  expect(headers["x-own"]).toBe("own");
  expect(JSON.stringify(headers)).not.toMatch(/client-token|client-header|cookie/);
});

test("a program: the variables of its entry, none of the gateway's own", async () => {
  vi.stubEnv("GOBLIN_TOKEN", "secret-of-the-gateway");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-user");
  const env = await ask({ command: process.execPath, args: ["-e", teller], env: { OWN: "own" } });
  expect(env["OWN"]).toBe("own");
  expect(env["PATH"]).toBe(process.env["PATH"]);
  expect(JSON.stringify(env)).not.toMatch(/secret-of|client-token/);
});
