/**
 * A question behind `call_tool`: the time that the client has for its answer begins with the
 * request, not with the process.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, startScripted } from "../fixtures/peers.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

test("a client can answer it in a process that is older than timeouts.maxCallMs", async () => {
  const maxCallMs = 2000;
  const server = await startScripted({ name: "new", era: "modern" });
  const { url } = await startGoblin({ mcpServers: { new: server.entry }, timeouts: { callMs: maxCallMs, maxCallMs } });
  await until(() => performance.now() > maxCallMs + 500);
  const answer = { action: "accept" as const, content: { name: "Ada" } };
  const { client } = await connectV1({ url, elicitation: () => answer });
  const call = { name: "new_ask", arguments: { kind: "elicitation" } };
  const direct = await client.callTool(call);
  const through = await client.callTool({ name: "call_tool", arguments: call });
  expect(direct.isError ?? false).toBe(false);
  expect(through).toEqual(direct);
});
