import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../../fixtures/peers.ts";
import { metaClient } from "./rig.ts";

afterEach(disposeAll);

test("no meta tool shows environment, headers, tokens, keys in URLs or arguments", async () => {
  const secrets = {
    env: "env-secret-1234",
    header: "header-secret-1234",
    query: "query-secret-1234",
    path: "path-secret-1234",
    arg: "arg-secret-1234",
    token: "gateway-token-1234",
  };
  const good = await startScripted({ name: "good", env: { FIXTURE_KEY: secrets.env } });
  // A server that answers the handshake with everything it was given.
  const nosy = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const id = body ? (JSON.parse(body).id ?? null) : null;
      const message = `refused ${request.url} with ${request.headers["authorization"]}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } }));
    });
  });
  await new Promise<void>((resolve) => nosy.listen(0, "127.0.0.1", resolve));
  onDispose(() => nosy.close());
  const { port } = nosy.address() as AddressInfo;
  const { url, logs } = await startGoblin({
    mcpServers: {
      good: good.entry,
      nosy: {
        type: "http",
        url: `http://127.0.0.1:${port}/${secrets.path}/mcp?key=${secrets.query}`,
        headers: { Authorization: `Bearer ${secrets.header}` },
      },
      gone: { command: "no-such-command-here", args: [`--token=${secrets.arg}`], env: { KEY: secrets.env } },
    },
    gateway: { auth: { tokens: [secrets.token] } },
  });
  const client = await metaClientWith(url, secrets.token);
  const health = await client.ask("goblin_health");
  expect(health.status).toBe("degraded");
  const [first, ...others] = health.servers.map(({ state }: { state: string }) => state);
  expect(first).toBe("ready");
  // Both are tried again and again.
  for (const state of others) expect(["down", "connecting"]).toContain(state);
  expect(health.servers[1].reason).toContain("refused");
  const shown = [
    JSON.stringify(health),
    ...(await Promise.all(
      [
        ["catalog_servers", {}],
        ["catalog_servers", { serverId: "nosy" }],
        ["catalog_tools", {}],
        ["describe_tool", { name: "good_echo" }],
        ["call_tool", { name: "nosy_echo" }],
        ["catalog_prompts", {}],
        ["catalog_resources", {}],
        ["catalog_resource_templates", {}],
        ["search_tools", { query: "secret" }],
      ].map(async ([name, args]) => (await client.call(name as string, args)).text),
    )),
    JSON.stringify(logs),
  ].join("\n");
  for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret);
});

async function metaClientWith(url: string, token: string) {
  const original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return original(input, { ...init, headers });
  };
  onDispose(() => {
    globalThis.fetch = original;
  });
  return metaClient(url);
}
