import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startIssuer } from "../fixtures/issuer.ts";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { type Family, parsePrometheus, valueIn } from "../fixtures/prometheus.ts";

afterEach(disposeAll);

/** Of Debian's package prometheus, which CI installs. */
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

async function scrape(origin: string, headers: Record<string, string> = {}): Promise<Map<string, Family>> {
  const response = await fetch(`${origin}/metrics`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parsePrometheus(await response.text());
}

test("the numbers are those of a scripted load", async () => {
  const one = await startScripted({ name: "one" });
  const two = await startScripted({ name: "two", transport: "http" });
  const goblin = await startGoblin({
    mcpServers: { one: one.entry, two: { ...two.entry, tools: { overrides: { sleep: { timeoutMs: 200 } } } } },
    gateway: { port: 0 },
  });
  const http = rawHttp(goblin.url);
  await http.initialize();
  for (let i = 0; i < 7; i++) await http.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
  for (let i = 0; i < 3; i++) await http.call("tools/call", { name: "two_tool_error", arguments: {} });
  for (let i = 0; i < 2; i++) await http.call("tools/call", { name: "one_fail", arguments: { code: -32000 } });
  await http.call("tools/call", { name: "one_fail", arguments: { code: 12345 } });
  await http.call("tools/call", { name: "two_sleep", arguments: { ms: 5000 } });
  for (const name of ["no_such_tool", "another_unknown"]) await http.call("tools/call", { name });
  for (let i = 0; i < 4; i++) await http.call("resources/read", { uri: "one+text:///hello" });
  await http.call("resources/read", { uri: "two+blob:///pixel" });
  await http.call("resources/read", { uri: "one+ask:///elicitation" });
  await http.call("resources/read", { uri: "nobody:///has/this" });
  await http.call("prompts/get", { name: "one_rich" });
  for (let i = 0; i < 5; i++) await http.call("tools/list");
  await http.call("made/up/method");
  await http.call("tools/call", { name: "goblin_health" });
  await http.call("tools/call", { name: "call_tool", arguments: { name: "one_whoami", arguments: {} } });
  await http.call("resources/subscribe", { uri: "one+text:///hello" });

  const found = await scrape(goblin.origin);
  const requests = (serverId: string, method: string, outcome: string) =>
    valueIn(found, "mcpRequestsTotal", { serverId, method, outcome });
  const served = (error?: string, method = "tools/call") =>
    valueIn(found, "mcp_server_operation_duration_seconds_count", {
      mcp_method_name: method,
      ...(error !== undefined && { error_type: error }),
    });
  const asked = (id: string, error?: string) =>
    valueIn(found, "mcp_client_operation_duration_seconds_count", {
      mcp_method_name: "tools/call",
      goblin_server_id: id,
      ...(error !== undefined && { error_type: error }),
    });
  expect([served(), served("tool_error"), served("timeout")]).toEqual([10, 3, 1]);
  expect([served("-32000"), served("_OTHER"), served(undefined, "tools/list")]).toEqual([2, 1, 5]);
  expect([asked("one"), asked("two"), asked("two", "tool_error"), asked("two", "timeout")]).toEqual([
    8,
    undefined,
    3,
    1,
  ]);
  const timedOut = { mcp_method_name: "tools/call", goblin_server_id: "two", error_type: "timeout" };
  const bucket = (le: string) => valueIn(found, "mcp_client_operation_duration_seconds_bucket", { ...timedOut, le });
  expect([bucket("0.1"), bucket("300"), bucket("+Inf")]).toEqual([0, 1, 1]);
  // Seven by the client, one by the gateway's own tool.
  expect(requests("one", "tools/call", "ok")).toBe(8);
  expect(requests("goblin", "tools/call", "ok")).toBe(2);
  expect(requests("two", "tools/call", "tool-error")).toBe(3);
  expect(requests("one", "tools/call", "error")).toBe(3);
  expect(requests("two", "tools/call", "timeout")).toBe(1);
  expect(requests("none", "tools/call", "error")).toBe(2);
  expect(requests("goblin", "tools/list", "ok")).toBe(5);
  expect(requests("none", "other", "error")).toBe(1);
  expect(requests("one", "prompts/get", "ok")).toBe(1);
  expect(requests("one", "resources/subscribe", "ok")).toBe(1);
  const errors = (serverId: string, method: string, code: string) =>
    valueIn(found, "mcpRequestErrorsTotal", { serverId, method, code });
  expect(errors("one", "tools/call", "-32000")).toBe(2);
  expect(errors("one", "tools/call", "other")).toBe(1);
  expect(errors("two", "tools/call", "TIMEOUT")).toBe(1);
  expect(errors("none", "tools/call", "TOOL_NOT_FOUND")).toBe(2);
  expect(errors("none", "other", "METHOD_NOT_FOUND")).toBe(1);
  const reads = (serverId: string, mimeType: string, status: string) =>
    valueIn(found, "mcpResourceReadsTotal", { serverId, mimeType, status });
  expect(reads("one", "text/plain", "success")).toBe(4);
  expect(reads("two", "image/png", "success")).toBe(1);
  expect(reads("one", "unknown", "success")).toBe(1);
  expect(reads("none", "unknown", "failure")).toBe(1);
  expect(valueIn(found, "mcpRequestDurationSeconds_count", { serverId: "one", method: "tools/call" })).toBe(11);
  const slow = valueIn(found, "mcpRequestDurationSeconds_sum", { serverId: "two", method: "tools/call" })!;
  expect(slow).toBeGreaterThan(0.19);
  expect(slow).toBeLessThan(3);
  const within = (le: string) =>
    valueIn(found, "mcpRequestDurationSeconds_bucket", { serverId: "two", method: "tools/call", le });
  expect(within("100")).toBe(4);
  expect(within("+Inf")).toBe(4);
  expect(valueIn(found, "mcpRequestsInFlight", { serverId: "one", method: "tools/call" })).toBe(0);
  expect(valueIn(found, "mcpActiveSubscriptions")).toBe(1);
  expect(valueIn(found, "mcpSessions")).toBe(1);
  expect(valueIn(found, "mcpBackendState", { serverId: "one", state: "ready" })).toBe(1);
  expect(valueIn(found, "mcpBackendState", { serverId: "one", state: "down" })).toBe(0);
  expect(valueIn(found, "mcpCatalogEntries", { serverId: "one", kind: "prompts" })).toBe(3);
  expect(valueIn(found, "mcpCatalogEntries", { serverId: "two", kind: "templates" })).toBe(2);
  expect(valueIn(found, "mcpSyncDurationSeconds_count", { serverId: "one" })).toBe(1);
  expect(valueIn(found, "process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(found.get("nodejs_eventloop_lag_p99_seconds")?.samples).toHaveLength(1);
  await two.stop();
  await until(() => goblin.gateway.servers.status("two")?.state !== "ready");
  await http.call("resources/read", { uri: "two+blob:///pixel" });
  const after = await scrape(goblin.origin);
  const failed = { serverId: "two", mimeType: "image/png", status: "failure" };
  expect(valueIn(after, "mcpResourceReadsTotal", failed)).toBe(1);
  const labels = new Set(
    [...found].flatMap(([name, { samples }]) =>
      name.startsWith("mcp") ? samples.flatMap((sample) => Object.values(sample.labels)) : [],
    ),
  );
  expect([...labels].filter((label) => /unknown_|no_such|nobody|made/.test(label))).toEqual([]);
});

test("what is in flight and what was lost shows while it is so", async () => {
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: one.entry }, limits: { inFlightPerServer: 3 } });
  const { client } = await connectV1({ url: goblin.url });
  const calls = [1, 2, 3].map(() =>
    client.callTool({ name: "one_sleep", arguments: { ms: 20_000 } }).catch((error: unknown) => error),
  );
  const busy = await until(async () => {
    const found = await scrape(goblin.origin);
    return valueIn(found, "mcpRequestsInFlight", { serverId: "one", method: "tools/call" }) === 3 ? found : undefined;
  });
  expect(valueIn(busy, "mcpBackendInFlight", { serverId: "one" })).toBe(2);
  expect(valueIn(busy, "mcpBackendQueueLength", { serverId: "one" })).toBe(1);
  await one.kill();
  await Promise.all(calls);
  const later = await until(async () => {
    const found = await scrape(goblin.origin);
    return valueIn(found, "mcpBackendReconnectsTotal", { serverId: "one" }) === 1 ? found : undefined;
  });
  expect(valueIn(later, "mcpRequestsInFlight", { serverId: "one", method: "tools/call" })).toBe(0);
});

test("requests are counted by who sent them, under names of the config only", async () => {
  const [one, issuer] = await Promise.all([startScripted({ name: "one" }), startIssuer()]);
  const goblin = await startGoblin({
    mcpServers: { one: one.entry },
    profiles: { research: { servers: ["one"] }, quiet: {} },
    gateway: {
      publicUrl: "https://goblin.example",
      auth: {
        tokens: ["a-plain-token"],
        clients: {
          ci: { token: "token-of-ci", profile: "research" },
          desk: { token: "d", profile: ["research", "quiet"] },
        },
        oauth: { issuers: [{ issuer: issuer.url }] },
      },
      admin: { tokens: ["an-admin-token"] },
    },
  });
  const signed = await Promise.all(["alice", "bob", "carol"].map((sub) => issuer.sign({ claims: { sub } })));
  for (const token of ["token-of-ci", "d", "a-plain-token", ...signed]) {
    const http = rawHttp(goblin.url);
    http.headers = { authorization: `Bearer ${token}` };
    await http.initialize();
    await http.call("tools/list");
    await http.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
    await http.call("tools/call", { name: "nothing" });
  }
  const found = await scrape(goblin.origin, { authorization: "Bearer an-admin-token" });
  const counted = (who: string, profile: string) =>
    ["ok", "error"].map((outcome) => valueIn(found, "mcpCallerRequestsTotal", { who, profile, outcome }));
  expect(counted("ci", "research")).toEqual([2, 1]);
  expect(counted("desk", "several profiles")).toEqual([2, 1]);
  expect(counted("unnamed token", "")).toEqual([2, 1]);
  expect(counted(issuer.url, "")).toEqual([6, 3]);
  // No person becomes a label.
  expect(found.get("mcpCallerRequestsTotal")?.samples).toHaveLength(8);
});

test("A-M5: a client's token shows only the servers that it may see, and no callers", async () => {
  const [web, vault] = await Promise.all([startScripted({ name: "web" }), startScripted({ name: "vault" })]);
  const goblin = await startGoblin({
    mcpServers: { web: web.entry, vault: vault.entry },
    profiles: { surf: { servers: ["web"] } },
    policy: { rules: [{ effect: "deny", who: { clients: ["ruled"] }, server: "vault" }] },
    gateway: {
      auth: {
        tokens: ["a-plain-token"],
        clients: {
          bob: { token: "token-of-bob" },
          ci: { token: "token-of-ci", profile: "surf" },
          ruled: { token: "token-of-ruled" },
        },
      },
      admin: { tokens: ["an-admin-token"] },
    },
  });
  for (const name of ["web_echo", "vault_echo"]) {
    const http = rawHttp(goblin.url);
    http.headers = { authorization: "Bearer token-of-bob" };
    await http.initialize();
    await http.call("tools/call", { name, arguments: { text: "x" } });
  }
  const page = async (token: string): Promise<string> => {
    const answer = await fetch(`${goblin.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    parsePrometheus(text);
    return text;
  };
  const all = await page("an-admin-token");
  for (const said of ['serverId="vault"', 'server_id="web"', 'who="bob"']) expect(all).toContain(said);
  for (const token of ["token-of-ci", "token-of-ruled"]) {
    const limited = await page(token);
    expect(limited).toContain('mcpRequestsTotal{serverId="web",method="tools/call",outcome="ok"} 1');
    expect(limited).not.toMatch(/vault|bob/);
  }
  const plain = await page("a-plain-token");
  expect(plain).toContain('server_id="vault"');
  expect(plain).not.toContain("bob");
});

test("the page is guarded like everything else", async () => {
  const goblin = await startGoblin({ gateway: { auth: { tokens: ["metrics-token-1"] } } });
  expect((await fetch(`${goblin.origin}/metrics`)).status).toBe(401);
  await scrape(goblin.origin, { authorization: "Bearer metrics-token-1" });
});

test("docs/metrics.md lists exactly the families there are, and the dashboard queries only those", async () => {
  const goblin = await startGoblin({});
  const found = await scrape(goblin.origin);
  const own = [...found].filter(([name]) => /^mcp[A-Z]|^mcp_(?:server|client)_operation_/.test(name));
  const docs = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  const rows = [...docs.matchAll(/^\| `(mcp\w+)` *\| (\w+) *\|/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(rows.sort()).toEqual(own.map(([name, { type }]) => `${name} ${type}`).sort());
  const dashboard = readFileSync(new URL("../../docs/grafana-dashboard.json", import.meta.url), "utf8");
  const queries = [...dashboard.matchAll(/"(?:expr|query)": "((?:[^"\\]|\\.)*)"/g)].map(([, query]) => query!);
  const used = queries.flatMap((query) => query.match(/\b(?:mcp[A-Z]\w*|process_\w+|nodejs_\w+)\b/g) ?? []);
  expect(used.length).toBeGreaterThan(10);
  const unknown = used.filter((name) => !found.has(name) && !found.has(name.replace(/_(bucket|sum|count)$/, "")));
  expect(unknown).toEqual([]);
});

test("every metric has a second name that Prometheus' own linter accepts", async () => {
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: one.entry } });
  const page = async (names: string) => (await fetch(`${goblin.origin}/metrics${names}`)).text();
  const [both, snake, camel] = await Promise.all(["", "?names=snake_case", "?names=camelCase"].map(page));
  const families = (text: string | undefined) => [...parsePrometheus(text!).keys()].filter((name) => /^mcp/.test(name));
  expect(families(camel)).toContain("mcpRequestsTotal");
  expect(families(camel).filter((name) => name.includes("_"))).toEqual([]);
  expect(families(snake)).toContain("mcp_request_duration_seconds");
  expect(families(snake).filter((name) => /[A-Z]/.test(name))).toEqual([]);
  // The two names of the semantic conventions have one spelling.
  const conventional = families(snake).filter((name) => /_operation_duration_seconds$/.test(name));
  expect(conventional).toHaveLength(2);
  expect(families(snake)).toHaveLength(families(camel).length + 2);
  expect(families(both)).toHaveLength(2 * families(camel).length + 2);
  const [now, then] = [parsePrometheus(both!), { server_id: "one", kind: "tools" }];
  expect(valueIn(now, "mcp_catalog_entries", then)).toBe(
    valueIn(now, "mcpCatalogEntries", { serverId: "one", kind: "tools" }),
  );
  expect(both).not.toMatch(/ Nan$/m);
  expect((await fetch(`${goblin.origin}/metrics?names=other`)).status).toBe(400);
  if (!hasPromtool) return;
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: snake, encoding: "utf8" });
  // Families of the process have the names that every Node program has.
  const own = `${stdout}${stderr}`.split("\n").filter((line) => /^mcp/.test(line));
  expect([own, status === 0 || own.length === 0]).toEqual([[], true]);
});
