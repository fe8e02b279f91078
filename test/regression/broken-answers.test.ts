// Answers that cannot be worked on: what the gateway wanted to change in them is not where it
// should be. Each was an exception after the server's answer, which ended the gateway, or left the
// call counted as under way for ever.
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

/** Too large to be parsed on its way; looked into because of the word, and not JSON just there. */
const large = (member: string) => `{"content":[{"type":"text","text":"${"x".repeat(20_000)}"},{${member}}]}`;
const badUri = large('"type":"resource_link","uri":"file:///\\q"');

async function start(era: "legacy" | "modern") {
  const server = await startScripted({ name: "odd", transport: "http", era });
  const goblin = await startGoblin({
    mcpServers: { odd: server.entry },
    limits: { inFlightPerSession: 1 },
    timeouts: { drainMs: 600_000 },
  });
  const inFlight = async (): Promise<string[]> => {
    const text = await (await fetch(`${goblin.origin}/metrics`)).text();
    const gauges = text.split("\n").filter((line) => /^mcp(Requests|Backend)InFlight\{/.test(line));
    expect(gauges.length).toBeGreaterThan(1);
    return gauges.filter((line) => !line.endsWith(" 0"));
  };
  return { goblin, inFlight };
}

const raw = (text: string) => ({ name: "odd_raw", arguments: { text } });
const echo = { name: "odd_echo", arguments: { text: "x" } };

describe.each(["legacy", "modern"] as const)(
  "a large answer of a %s server that is no JSON where a URI stands",
  (era) => {
    test("fails its call, once, and nothing stays counted", async () => {
      const { goblin, inFlight } = await start(era);
      const handshake = rawHttp(goblin.url);
      await handshake.initialize();
      const none = stateless(goblin.url);
      for (const client of [handshake, none]) {
        const { messages } = await client.call("tools/call", raw(badUri));
        expect(messages).toMatchObject([{ error: { code: -32603 } }]);
        expect((await client.call("tools/call", echo)).message.result.structuredContent).toEqual({ text: "x" });
      }
      expect(await inFlight()).toEqual([]);
      await goblin.gateway.close({ drain: true });
      // Nothing is under way, so nothing is waited for; timeouts.drainMs is longer than a test.
    });
  },
);

test.each([
  ["a question that is no object", '{"resultType":"input_required","inputRequests":{"a":null}}'],
  [
    "params that are no object",
    '{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":null}}}',
  ],
])("%s fails the call of a client with a session", async (_, text) => {
  const { goblin, inFlight } = await start("modern");
  const client = rawHttp(goblin.url);
  await client.initialize("2025-11-25", { roots: {} });
  const { messages } = await client.call("tools/call", raw(text));
  expect(messages).toMatchObject([{ error: { code: -32603 } }]);
  expect((await client.call("tools/call", echo)).message.result.structuredContent).toEqual({ text: "x" });
  expect(await inFlight()).toEqual([]);
});
