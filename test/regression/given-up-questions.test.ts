/**
 * Questions of a call that was given up, on a connection where nothing says which call asks.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ROUNDS = 300;

/** Its tool `hang` never answers; `ask` asks again and again once its call was given up. */
const STUBBORN = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
  let left = ${ROUNDS};
  const ask = () => left-- > 0 && send({ id: left, method: "elicitation/create", params: { message: "?", requestedSchema } });
  const results = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "stubborn", version: "1" },
    },
    "tools/list": { tools: ["ask", "hang"].map((name) => ({ name, inputSchema: { type: "object" } })) },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === undefined || method === "notifications/cancelled") setTimeout(ask, 20);
    else if (method in results) send({ id, result: results[method] });
  });
`;
const stubborn = { command: process.execPath, args: ["-e", STUBBORN] };

const say = { action: "accept", content: { name: "Ada" } };

test("questions of a call that was given up do not keep another call of the client alive", async () => {
  const goblin = await startGoblin({ mcpServers: { one: stubborn }, timeouts: { callMs: 1500 } });
  const given = new AbortController();
  let answered = 0;
  const elicitation = (): typeof say => {
    answered++;
    return say;
  };
  const { client } = await connectV1({ url: goblin.url, elicitation });
  const asking = client.callTool({ name: "one_ask" }, undefined, { signal: given.signal }).catch(() => "given up");
  const hanging = client.callTool({ name: "one_hang" }).catch((error: unknown) => error);
  await expect.poll(() => goblin.gateway.servers.status("one")?.inFlight).toBe(2);
  given.abort();
  expect(await asking).toBe("given up");
  expect(await hanging).toMatchObject({ code: -32001, data: { code: "TIMEOUT", timeoutMs: 1500 } });
  expect(answered).toBeGreaterThan(1);
  expect(answered).toBeLessThan(ROUNDS);
});
