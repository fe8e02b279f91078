import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("a client of each SDK lists and calls tools of stdio, HTTP and SSE servers", async () => {
  const stdio = await startScripted({ transport: "stdio", name: "one" });
  const http = await startScripted({ transport: "http", name: "two" });
  const sse = await startScripted({ transport: "sse", name: "three" });
  const goblin = await startGoblin({ mcpServers: { one: stdio.entry, two: http.entry, three: sse.entry } });
  for (const connect of [connectV1, connectV2]) {
    const { client } = await connect({ url: goblin.url });
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(["one_echo", "two_echo", "three_echo"]));
    for (const name of ["one_echo", "two_echo", "three_echo"]) {
      const result = await client.callTool({ name, arguments: { text: name } });
      expect(result["structuredContent"]).toEqual({ text: name });
    }
  }
});
