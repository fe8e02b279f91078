/** `goblin calls` and `goblin record`, against a running gateway and a recording. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

async function start(more: Record<string, unknown> = {}) {
  const server = await startScripted({ name: "one" });
  const home = commandHome();
  const goblin = await startGoblin(
    { mcpServers: { one: server.entry }, ...more },
    { env: { XDG_STATE_HOME: home.folder } },
  );
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const run = (...args: string[]) => home.goblin(...args, "--url", goblin.origin);
  return { goblin, raw, home, run };
}

test("a list, one call in full, as curl that works, and as an archive", async () => {
  const { goblin, raw, run } = await start();
  const args = { text: "it's \u202e; rm -rf $HOME", password: "hunter2-hunter2" };
  await raw.call("tools/call", { name: "one_echo", arguments: args, _meta: { progressToken: 1 } });
  await raw.call("tools/call", { name: "one_fail", arguments: { code: -32123 } });
  const rows = JSON.parse((await run("calls", "--json")).out);
  expect(rows.map(({ name, outcome }: { name: string; outcome: string }) => [name, outcome])).toEqual([
    ["one_echo", "ok"],
    ["one_fail", "error"],
  ]);
  const table = await run("calls");
  expect(table.out).toMatch(/TIME +ID +OUTCOME.*\n.*ok.*one_echo\n.*error.*one_fail\n/);
  expect(JSON.parse((await run("calls", "--failed", "--json")).out)).toHaveLength(1);
  expect((await run("calls", "--server", "two")).err).toContain("no calls");

  const id = rows[0].requestId as string;
  const shown = await run("calls", "show", id);
  expect(shown.out).toMatch(/^tools\/call one_echo: ok\n/);
  expect(shown.out).toContain("at the server");
  expect(shown.out).not.toContain("\u202e");
  const curl = (await run("calls", "show", id, "--curl")).out;
  expect(curl + shown.out).not.toContain("hunter2");
  expect(curl).not.toContain("progressToken");
  expect(curl).toMatch(/^# Secrets in it are masked: put them in first\.\ncurl /);
  // The gateway is in this process: it must not be blocked.
  const { stdout: answer } = await promisify(execFile)("sh", ["-c", curl]);
  expect(answer).toContain("event: result");
  expect(answer).toContain("rm -rf $HOME");
  const { log } = JSON.parse((await run("calls", "--har")).out);
  expect(log).toMatchObject({ version: "1.2", creator: { name: "goblin" } });
  const entry = log.entries[0];
  expect(entry.request).toMatchObject({ method: "POST", url: goblin.url, postData: { mimeType: "application/json" } });
  expect(JSON.parse(entry.response.content.text).result.content).toHaveLength(1);
  expect(entry.timings.send + entry.timings.wait + entry.timings.receive).toBeCloseTo(entry.time, 3);
  const gone = await run("calls", "show", "none");
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining("calls.keep")]);
});

test("--follow goes on with each call as it ends", async () => {
  const { goblin, raw, home } = await start();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "before" } });
  const child = home.start(["calls", "--follow", "--json", "--url", goblin.origin]);
  let out = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  await until(() => out.includes("one_echo"));
  await until(async () => {
    await raw.call("tools/call", { name: "one_add", arguments: { a: 1, b: 2 } });
    return out.includes("one_add");
  });
  child.kill("SIGINT");
  await until(() => child.exitCode !== null);
  expect(child.exitCode).toBe(0);
  for (const line of out.trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ serverId: "one" });
});

test("goblin record, and the calls of the recording", async () => {
  const { goblin, raw, run, home } = await start();
  expect((await run("record")).out).toContain("Nothing is being recorded");
  expect((await run("record", "--for", "soon")).code).toBe(2);
  const begun = await run("record", "--for", "10m");
  expect(begun.out).toMatch(/^Recording all servers to .*recordings.*, until \d\d:\d\d:\d\d\n/);
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "hi" } });
  await raw.call("tools/call", { name: "one_tool_error", arguments: {} });
  const ended = JSON.parse((await run("record", "--stop", "--json")).out).recording;
  await goblin.gateway.close();
  const path = `${ended.dir}/${ended.run}`;
  const rows = JSON.parse((await home.goblin("calls", "--from", path, "--json")).out);
  expect(rows).toMatchObject([
    { name: "one_echo", outcome: "ok", serverId: "one", ms: expect.any(Number) },
    { name: "one_tool_error", outcome: "tool-error" },
  ]);
  const shown = await home.goblin("calls", "show", rows[0].requestId, "--from", path);
  expect(shown.out).toContain('"text": "hi"');
  const waterfall = /^took .* in the gateway before, .* at the server, .* in the gateway after$/m;
  expect(shown.out).toMatch(waterfall);
  const { timing, ms } = JSON.parse(
    (await home.goblin("calls", "show", rows[0].requestId, "--from", path, "--json")).out,
  );
  expect(timing.beforeMs + timing.serverMs + timing.afterMs).toBeCloseTo(ms, 1);
  // Its lines are those of single messages.
  expect((await home.goblin("calls", "show", rows[1].requestId, "--from", path)).out).toMatch(waterfall);
  const curl = await home.goblin("calls", "--from", path, "--curl", "--url", "127.0.0.1:4567");
  expect(curl.out).toContain("curl -sSN 'http://127.0.0.1:4567/api/calls'");
  const none = await home.goblin("calls", "--from", home.folder);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining("holds no recording")]);
});
