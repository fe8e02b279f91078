/**
 * Servers that misbehave on the wire: garbage, invalid JSON, answers to nobody, answers twice. It
 * is logged, it is never fatal, and nobody else is affected.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type ScriptedOptions, startScripted, until } from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";

afterEach(disposeAll);

async function open(bad: ScriptedOptions, entry: Record<string, unknown> = {}) {
  const server = await startScripted({ ...bad, name: "bad" });
  const good = await startScripted({ name: "good" });
  const goblin = await startGoblin({ mcpServers: { bad: { ...server.entry, ...entry }, good: good.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const call = async (name: string, args: object = {}) =>
    (await client.call("tools/call", { name, arguments: args })).message;
  /** The good server and the bad one work. */
  const allWell = async () => {
    expect((await call("good_add", { a: 1, b: 2 })).result.structuredContent).toEqual({ sum: 3 });
    expect((await call("bad_add", { a: 2, b: 2 })).result.structuredContent).toEqual({ sum: 4 });
  };
  return { goblin, server, call, allWell };
}

const warnings = ({ logs }: RunningGoblin) =>
  logs.filter((line) => line.level === "warn" && line["server"] === "bad").map((line) => line.msg);

test("garbage before the handshake is logged and skipped", async () => {
  const garbage = "Welcome to my server!\n{not json}\n\n[]\n42";
  const { goblin, allWell } = await open({ script: { start: { garbage } } });
  await allWell();
  expect(warnings(goblin)).toContain("Not a JSON message");
});

test("endless garbage is logged only now and then", async () => {
  const { goblin, call, allWell } = await open({});
  await call("bad_garbage", { text: "garbage\n".repeat(5000) });
  await allWell();
  await until(() => warnings(goblin).includes("Not a JSON message"));
  expect(warnings(goblin).length).toBeLessThan(20);
});

describe.each(variants<"stdio" | "http" | "sse">(["stdio", "sse"], ["http"]))("over %s", (transport) => {
  const rule = (fault: object) => ({ rules: [{ method: "tools/call", name: "echo", times: 1, ...fault }] });

  test("the same answer twice: the first counts", async () => {
    const { goblin, call, allWell } = await open({ transport, script: rule({ do: "twice" }) });
    expect((await call("bad_echo", { text: "once" })).result.structuredContent).toEqual({ text: "once" });
    await allWell();
    await until(() => warnings(goblin).some((text) => text.startsWith("A second answer")));
  });

  test("an answer to nobody besides the right one", async () => {
    for (const id of variants<unknown>([999_999], ["never-sent", -1])) {
      const { goblin, call, allWell } = await open({ transport, script: rule({ do: "wrongId", id, also: true }) });
      expect((await call("bad_echo", { text: "mine" })).result.structuredContent).toEqual({ text: "mine" });
      await allWell();
      await until(() => warnings(goblin).some((text) => text.startsWith("An answer to a request that was never sent")));
      await disposeAll();
    }
  });

  test("invalid JSON instead of an answer", async () => {
    const script = rule({ do: "invalidJson" });
    const { goblin, call, allWell } = await open({ transport, script });
    const { error } = await call("bad_echo");
    // Over HTTP the answer is the request's own; elsewhere its beginning says whose it was.
    expect(error).toMatchObject({ code: -32603, data: { code: "BACKEND_ERROR", serverId: "bad" } });
    await allWell();
    if (transport !== "http") expect(warnings(goblin)).toContain("Not a JSON message");
  });

  test.each([
    ["a result that is no object", '"just text"', { ok: true }],
    ["an error without code and message", undefined, { code: -32603, message: "Unknown error" }],
  ])("%s", async (_, text, wanted) => {
    const { call, allWell } = await open({ transport });
    const { result, error } = await call("bad_raw", text ? { text } : { error: '{"x":1}' });
    if (text) expect(result).toBe("just text");
    else expect(error).toEqual({ ...wanted, x: 1, data: { serverId: "bad" } });
    await allWell();
  });

  test("progress, log messages and updates with nonsense in them", async () => {
    const { call, allWell } = await open({ transport });
    for (const params of ["", ',"params":{}', ',"params":null', ',"params":{"progressToken":{},"level":[],"uri":5}']) {
      for (const method of ["progress", "message", "resources/updated", "cancelled", "tools/list_changed"]) {
        const note = `{"jsonrpc":"2.0","method":"notifications/${method}"${params}}`;
        await call("bad_garbage", { text: transport === "stdio" ? `${note}\n` : `event: message\ndata: ${note}\n\n` });
      }
    }
    await allWell();
  });
});

test("a late answer to a cancelled call is nothing to speak of", async () => {
  const script = { rules: [{ method: "tools/call", name: "echo", do: "late", ms: 300 }] };
  const { goblin, server, call, allWell } = await open(
    { script },
    { tools: { overrides: { echo: { timeoutMs: 100 } } } },
  );
  expect((await call("bad_echo")).error.data.code).toBe("TIMEOUT");
  await server.waitFor((r) => r.dir === "out" && r.message?.result?.structuredContent);
  await allWell();
  // Only the timeout itself is.
  expect(warnings(goblin).filter((msg) => !msg.startsWith("tools/call failed: Timeout"))).toEqual([]);
});

test("what a program prints at each start is said once until it changes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "goblin-bad-"));
  const starts = join(folder, "starts");
  // The time is no change.
  const program = `
    require("node:fs").appendFileSync(${JSON.stringify(starts)}, "x");
    const n = require("node:fs").readFileSync(${JSON.stringify(starts)}).length;
    console.log("[" + Date.now() + "] " + (n < 3 ? "starting" : "failing"));
    process.exit(1);
  `;
  const goblin = await startGoblin({ mcpServers: { bad: { command: process.execPath, args: ["-e", program] } } });
  const said = () =>
    goblin.logs
      .filter((line) => line.msg === "Not a JSON message")
      .map((line) => String(line.extra?.["detail"]).replace(/\d+/, "now"));
  await until(() => said().includes("[now] failing"));
  expect(said()).toEqual(["[now] starting", "[now] failing"]);
  await rm(folder, { recursive: true, force: true });
});
