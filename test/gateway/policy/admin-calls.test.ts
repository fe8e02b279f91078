/**
 * Calls through the API belong to the operator: no rule and no profile stands in their way, and the
 * audit file says who made them.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

interface Line {
  readonly client: { readonly who?: string; readonly name?: string };
  readonly outcome: string;
}

test("an admin calls what rules hide from clients, by name in the audit; over MCP rules hold for it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "goblin-admin-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const audit = join(folder, "audit.jsonl");
  const web = await startScripted({ name: "web" });
  const token = "the-long-token-of-ops";
  const { origin, url } = await startGoblin({
    mcpServers: { web: web.entry },
    log: { audit },
    gateway: { auth: { clients: { ops: { token, admin: true }, ci: { token: "the-long-token-of-ci" } } } },
    policy: { rules: [{ id: "no-add", effect: "deny", tools: ["add"] }] },
  });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "web_add", arguments: { a: 1, b: 2 } });
  const called = await fetch(`${origin}/api/tools/call`, { method: "POST", headers, body });
  expect(called.status).toBe(200);
  const refused = await fetch(`${origin}/api/tools/call`, {
    method: "POST",
    headers: { ...headers, authorization: "Bearer the-long-token-of-ci" },
    body,
  });
  expect(refused.status).toBe(403);
  const http = rawHttp(url);
  http.headers["authorization"] = `Bearer ${token}`;
  await http.initialize();
  const hidden = await http.call("tools/call", { name: "web_add", arguments: { a: 1, b: 2 } });
  expect(hidden.message.error?.message).toContain("Tool not found");
  const lines = await until(() => {
    const all = readFileSync(audit, "utf8").trim().split("\n");
    return all.length < 2 ? undefined : all.map((line) => JSON.parse(line) as Line);
  });
  expect(lines.map(({ client, outcome }) => [client.who, client.name, outcome])).toEqual([
    ["ops", "admin API", "ok"],
    ["ops", "raw", "error"],
  ]);
});
