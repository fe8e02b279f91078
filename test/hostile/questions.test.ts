/**
 * How much one server may ask at once: the client is asked a limited number of questions, the rest
 * are refused, and everything goes on.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile } from "../fixtures/hostile.ts";
import { connectV1, disposeAll, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const question = { message: "?", requestedSchema: { type: "object", properties: {} } };

test("a call with a hundred questions: the client gets 32, the server an error for each of the others", async () => {
  const bad = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "ask", inputSchema: { type: "object" } }] }),
      "tools/call": (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let i = 0; i < 100; i++) {
          const asked = { jsonrpc: "2.0", id: `q${i}`, method: "elicitation/create", params: question };
          response.write(`data: ${JSON.stringify(asked)}\n\n`);
        }
      },
    },
  });
  const goblin = await startGoblin({ mcpServers: { bad: bad.entry } });
  let asked = 0;
  const { client } = await connectV1({
    url: goblin.url,
    elicitation: () => {
      asked++;
      return new Promise(() => {}) as never;
    },
  });
  void client.callTool({ name: "bad_ask", arguments: {} }).catch(() => {});
  const refused = () => bad.asked.filter(({ error }) => error !== undefined);
  await until(() => refused().length >= 68);
  await until(() => asked >= 32);
  expect([refused().length, asked]).toEqual([68, 32]);
  expect(refused()[0]!.error).toMatchObject({
    code: -32010,
    message: "LimitExceeded: 32 questions of this call wait for an answer already",
  });
});

test("a result with a hundred questions is an error, and the client is asked nothing", async () => {
  const inputRequests = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`q${i}`, { method: "elicitation/create", params: question }]),
  );
  const text = JSON.stringify({ resultType: "input_required", inputRequests });
  const script = { rules: [{ method: "tools/call", name: "echo", do: "result", text }] };
  const server = await startScripted({ era: "modern", transport: "http", name: "one", script });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  let asked = 0;
  const { client } = await connectV1({
    url: goblin.url,
    elicitation: () => {
      asked++;
      return { action: "cancel" };
    },
  });
  await expect(client.callTool({ name: "one_echo", arguments: { text: "x" } })).rejects.toThrow(
    "The server asks 100 questions at once; at most 32 are allowed",
  );
  expect(asked).toBe(0);
});
