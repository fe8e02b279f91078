/**
 * The routes that are served without Hono answer as they do with it, and nothing loads it before
 * another route is asked for.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(disposeAll);

const APP = "https://app.example";
const token = { authorization: "Bearer client-token-1" };
const json = { ...token, "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Method, path, and headers; and the status. */
const asked: [string, string, Record<string, string>, number][] = [
  ["GET", "/health", {}, 200],
  ["GET", "/health?full=1", {}, 200],
  ["GET", "/ready", { origin: APP }, 200],
  ["GET", "/ready", { origin: "https://evil.example" }, 403],
  ["GET", "/health/", {}, 404],
  ["HEAD", "/health", {}, 200],
  ["POST", "/health", {}, 404],
  ["GET", "/mcp", {}, 401],
  ["GET", "/mcp", { ...token, accept: "application/json" }, 406],
  ["GET", "/mcp?x=1", { ...token, accept: "text/event-stream" }, 400],
  ["GET", "/mcp", { ...token, "mcp-protocol-version": "2026-07-28" }, 405],
  ["GET", "/mcp/p/none", { ...token, accept: "text/event-stream" }, 404],
  ["GET", "/mcp/p/a/b", token, 404],
  ["DELETE", "/mcp/", token, 400],
  ["DELETE", "/mcp", { ...token, origin: APP, "mcp-session-id": "unknown" }, 404],
  ["PUT", "/mcp", token, 405],
  ["HEAD", "/mcp", token, 405],
  ["POST", "/mcp?x=1", json, 400],
  ["POST", "/mcp/s/none", json, 404],
  ["POST", "/sse", json, 405],
  ["GET", "/sse/p/none", token, 404],
  ["POST", "/messages", json, 400],
  ["POST", "/messages?sessionId=unknown", json, 404],
  ["GET", "/messages", token, 405],
  ["GET", "/mcpx", token, 404],
];
const compared = ["content-type", "allow", "www-authenticate", "access-control-allow-origin", "vary"];

test("the answers are those of the routes with Hono", async () => {
  const gatewaySettings = { allowedOrigins: [APP], auth: { tokens: ["client-token-1"] } };
  const { gateway, origin } = await startGoblin({ gateway: gatewaySettings, mcpServers: {} });
  const seen = async (answer: Response) => ({
    status: answer.status,
    headers: compared.map((name) => answer.headers.get(name)),
    body: await answer.text(),
  });
  for (const [method, path, headers, status] of asked) {
    const init = { method, headers, ...(method === "POST" && { body: "{" }) };
    const what = `${method} ${path} ${JSON.stringify(headers)}`;
    const direct = await seen(await fetch(origin + path, init));
    expect(direct.status, what).toBe(status);
    expect(direct, what).toEqual(await seen(await gateway.fetch(new Request(origin + path, init))));
  }
});

const WEB = "NativeModule internal/deps/undici/undici";
/** From 22 on, Node loads them with its HTTP server. */
const comesWithHttp = Number(process.versions.node.split(".")[0]) >= 22;

test.skipIf(comesWithHttp)(
  "a gateway that serves clients and probes loads Node's web objects only for another route",
  async () => {
    const one = await startScripted({ name: "one" });
    const home = await serveHome({ mcpServers: { one: one.entry } });
    const report = `
    process.on("SIGUSR2", () => console.log(process.moduleLoadList.includes(${JSON.stringify(WEB)})));
  `;
    const goblin = await startServe(home, {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(report)}`,
    });
    const reported = async (count: number): Promise<string[]> => {
      goblin.signal("SIGUSR2");
      const lines = (): string[] => goblin.out().match(/^(true|false)$/gm) ?? [];
      await until(() => lines().length === count, { what: "the report" });
      return lines();
    };
    await until(async () => (await fetch(`${goblin.origin}/ready`)).ok, { what: "/ready" });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    expect((await raw.call("tools/list")).message.result.tools).not.toEqual([]);
    expect((await fetch(`${goblin.origin}/health`)).status).toBe(200);
    expect(await reported(1)).toEqual(["false"]);
    expect((await fetch(`${goblin.origin}/api/servers`)).status).toBe(200);
    expect(await reported(2)).toEqual(["false", "true"]);
  },
);

test("clients are told how long an idle connection stays open", async () => {
  const { url } = await startGoblin({});
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const { headers } = await fetch(url, { method: "POST", headers: { ...json, authorization: "" }, body });
  expect([headers.get("connection"), headers.get("keep-alive")]).toEqual(["keep-alive", "timeout=60"]);
});
