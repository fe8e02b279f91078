// Three refusals that the conformance suite found to be of the wrong kind: of a version that header
// and body disagree on, of task methods without the tasks extension, and of task methods that the
// extension does not have.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";

afterEach(disposeAll);

const VERSION = "2026-07-28";

async function startFixture(): Promise<string> {
  const child = spawn(process.execPath, ["test/conformance/fixture.js", "--era", "modern"]);
  onDispose(() => child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return line.toString().trim().split(" ")[1]!;
}

async function post(url: string, method: string, params: Record<string, unknown>, meta: Record<string, unknown> = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof params["taskId"] === "string" && { "mcp-name": params["taskId"] }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } }),
  });
  const { error } = (await response.json()) as { error?: { code: number; data?: Record<string, unknown> } };
  return { status: response.status, error };
}

test("a version that contradicts its header is a mismatch, also when nobody speaks it", async () => {
  const { url } = await startGoblin({ mcpServers: {} });
  const contradicted = { "io.modelcontextprotocol/protocolVersion": "v999.0.0" };
  const { status, error } = await post(url, "server/discover", {}, contradicted);
  expect([status, error?.code]).toEqual([400, -32020]);
});

test("tasks are for clients that declare them, and have three methods", async () => {
  const { url } = await startGoblin({
    mcpServers: { fixture: { type: "http", url: await startFixture(), prefix: "" } },
  });
  const extensions = { "io.modelcontextprotocol/tasks": {} };

  const undeclared = await post(url, "tasks/get", { taskId: "unknown" });
  expect([undeclared.status, undeclared.error?.code]).toEqual([400, -32021]);
  expect(undeclared.error?.data?.["requiredCapabilities"]).toEqual({ extensions });

  const declared = { "io.modelcontextprotocol/clientCapabilities": { extensions } };
  const unknown = await post(url, "tasks/get", { taskId: "unknown" }, declared);
  expect([unknown.status, unknown.error?.code]).toEqual([200, -32602]);
  const removed = await post(url, "tasks/result", { taskId: "unknown" }, declared);
  expect([removed.status, removed.error?.code]).toEqual([404, -32601]);
});
