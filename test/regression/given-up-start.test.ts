/**
 * A gateway that ends while a server starts gives its handshake up. The late answer is no surprise,
 * and nothing is said about it.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("the answer to a handshake that was given up is not called a second one", async () => {
  const script = { start: { stubborn: true }, rules: [{ method: "initialize", do: "late", ms: 300 }] };
  const server = await startScripted({ name: "slow", script });
  const goblin = await startGoblin({ mcpServers: { slow: server.entry } }, { wait: false });
  await server.waitFor(({ dir, message }) => dir === "in" && message?.method === "initialize");
  const closed = goblin.gateway.close();
  await server.waitFor(({ dir, message }) => dir === "out" && message?.result?.protocolVersion);
  await closed;
  expect(goblin.logs.map(({ msg }) => msg).filter((msg) => msg.includes("answer"))).toEqual([]);
});
