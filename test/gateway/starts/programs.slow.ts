/**
 * Programs that start slowly, badly or not at all: nobody is ended while it may be installing, and
 * the reason says in one line what the user must change.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const status = ({ gateway }: RunningGoblin, id: string) => gateway.servers.status(id)!;
const program = (script: string) => ({ command: process.execPath, args: ["-e", script] });

/** A folder with a program under the name of a package runner that does what the script says. */
function runner(name: string, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "goblin-runner-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, `#!${process.execPath}\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("a program that does not answer yet", () => {
  test("is not ended after connectMs at its first start", async () => {
    const server = await startScripted({ name: "slow", script: { start: { delayMs: 1500 } } });
    const goblin = await startGoblin(
      { mcpServers: { slow: server.entry }, timeouts: { connectMs: 300 } },
      { wait: false },
    );
    void goblin.gateway.start();
    await until(() => status(goblin, "slow").state === "ready");
    expect(await server.events("start")).toHaveLength(1);
    expect(goblin.logs.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("has startMs, and then the reason quotes what it printed", async () => {
    const hello = { command: "/bin/sh", args: ["-c", "echo hello; exec sleep 60"] };
    const goblin = await startGoblin({ mcpServers: { hello }, timeouts: { connectMs: 200, startMs: 1200 } });
    const reason = 'No handshake within 1200 ms: it printed "hello", which is not MCP';
    await until(() => status(goblin, "hello").state === "down" && status(goblin, "hello").reason === reason);
  });

  test("says what it waits for, and how long it will", async () => {
    const hello = program('console.log("hello"); setInterval(() => {}, 1000)');
    const silent = program("setInterval(() => {}, 1000)");
    const goblin = await startGoblin({ mcpServers: { hello, silent }, timeouts: { callMs: 300 } }, { wait: false });
    void goblin.gateway.start();
    await until(() => status(goblin, "hello").reason?.includes("printed"));
    expect(status(goblin, "hello")).toMatchObject({ state: "connecting" });
    expect(status(goblin, "hello").reason).toMatch(
      /^it printed "hello", which is not MCP; waits for its handshake \(gives up in \d+ s\)$/,
    );
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const { message } = await raw.call("tools/call", { name: "hello_any" });
    expect(message.error.message).toMatch(/"hello" is still starting: it printed "hello", which is not MCP; /);
    expect(message.error.data).toMatchObject({ code: "BACKEND_UNAVAILABLE", retryAfterMs: expect.any(Number) });
    expect(status(goblin, "silent").reason).toMatch(/^waits for its handshake \(gives up in (300|2\d\d) s\)$/);
  });
});

describe("a package runner", () => {
  test("is installing until the handshake answers, and calls wait for it", async () => {
    const server = await startScripted({ name: "pack", script: { start: { delayMs: 1000 } } });
    const npx = runner(
      "npx",
      `require("node:child_process").spawn(process.execPath, process.argv.slice(2), { stdio: "inherit" })`,
    );
    const entry = { ...server.entry, command: npx };
    const goblin = await startGoblin({ mcpServers: { pack: entry }, timeouts: { connectMs: 200 } }, { wait: false });
    void goblin.gateway.start();
    await until(() => status(goblin, "pack").reason?.startsWith("npx may be installing it"));
    expect(status(goblin, "pack").state).toBe("installing");
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const answer = await raw.call("tools/call", { name: "pack_echo", arguments: { text: "x" } });
    expect(answer.message.result.structuredContent).toEqual({ text: "x" });
    expect(status(goblin, "pack").state).toBe("ready");
    expect(goblin.logs.filter(({ server }) => server === "pack").map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^installing/),
      "ready",
    ]);
  });

  test("is named in its error, with its package and without its secrets", async () => {
    const npx = runner(
      "npx",
      "console.error(\"npm error 404 'nope-mcp@*' is not found; \" + process.argv[4]); process.exit(1)",
    );
    const nope = { command: npx, args: ["-y", "nope-mcp", "--token=abcdef-123456"] };
    const goblin = await startGoblin({ mcpServers: { nope } });
    expect(status(goblin, "nope").reason).toContain("exited with code 1: 'nope-mcp@*' is not found; [hidden]");
  });

  test("counts down where the API is watched", async () => {
    const npx = runner("npx", "setInterval(() => {}, 1000)");
    const goblin = await startGoblin({ mcpServers: { slow: { command: npx, args: ["p"] } } }, { wait: false });
    void goblin.gateway.start();
    const request = new Request("http://127.0.0.1/api/events", { headers: { host: "127.0.0.1" } });
    const { body } = await goblin.gateway.fetch(request);
    const reasons = new Set<string>();
    let text = "";
    for await (const chunk of body!) {
      text += new TextDecoder().decode(chunk, { stream: true });
      for (const [reason] of text.matchAll(/npx may be installing it \(gives up in \d+ s\)/g)) reasons.add(reason);
      if (reasons.size >= 2) break;
    }
    expect(text).toContain('"state":"installing"');
    const row = await (await goblin.gateway.fetch(new Request("http://127.0.0.1/api/servers", request))).json();
    expect(JSON.stringify(row)).toMatch(
      /"state":"installing","reason":"npx may be installing it \(gives up in \d+ s\)"/,
    );
    const metrics = await (await goblin.gateway.fetch(new Request("http://127.0.0.1/metrics", request))).text();
    expect(metrics).toMatch(/\{serverId="slow",state="installing"\} 1/);
  });

  test("waits for its turn while others install", async () => {
    const npx = runner("npx", "setInterval(() => {}, 1000)");
    const entries = Object.fromEntries([1, 2, 3, 4].map((n) => [`s${n}`, { command: npx, args: [`p${n}`] }]));
    const goblin = await startGoblin({ mcpServers: entries }, { wait: false });
    void goblin.gateway.start();
    await until(() => status(goblin, "s3").reason?.includes("may be installing"));
    expect(status(goblin, "s4")).toMatchObject({ state: "installing", reason: "waits until others are installed" });
  });
});

describe("why it is down, in one line", () => {
  const cases: [what: string, entry: Record<string, unknown>, reason: string | RegExp][] = [
    [
      "a complaint on stderr",
      program('console.error("starting"); console.error("GITHUB_TOKEN is required"); process.exit(1)'),
      "exited with code 1: GITHUB_TOKEN is required",
    ],
    [
      "a complaint without a line break",
      program('process.stderr.write("KEY is missing"); process.exitCode = 3'),
      "exited with code 3: KEY is missing",
    ],
    ["silence", program("process.exit(7)"), "exited with code 7"],
    [
      "words on stdout",
      program('console.log("Usage: foo"); process.exit(0)'),
      'exited with code 0: it printed "Usage: foo", which is not MCP',
    ],
    [
      "arguments in the command",
      { command: "npx -y --token=secret-token" },
      'Cannot start "npx …": it is not one program; put the arguments into "args": "command": "npx", "args": [ … ]',
    ],
    [
      "no such command",
      { command: "no-such-command" },
      /^Cannot start "no-such-command": command not found in PATH \(.+/,
    ],
    ["no such file", { command: "/no/such/file" }, 'Cannot start "/no/such/file": there is no such file'],
    ["no such folder", { ...program(""), cwd: "/no/such/folder" }, /: its "cwd" "\/no\/such\/folder" does not exist$/],
    [
      "a secret in the complaint",
      { ...program('console.error("bad key " + process.env.KEY); process.exit(1)'), env: { KEY: "s3cret-value" } },
      "exited with code 1: bad key [hidden]",
    ],
  ];
  test("in status, log and the errors of calls", async () => {
    const mcpServers = Object.fromEntries(cases.map(([, entry], n) => [`c${n}`, entry]));
    const goblin = await startGoblin({ mcpServers });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    for (const [n, [what, , reason]] of cases.entries()) {
      await until(() => status(goblin, `c${n}`).state === "down");
      const expected = typeof reason === "string" ? expect.stringContaining(reason) : expect.stringMatching(reason);
      expect([what, status(goblin, `c${n}`).reason]).toEqual([what, expected]);
      const told = goblin.logs.find(({ server, extra }) => server === `c${n}` && extra?.["state"] === "down");
      expect(told?.msg.startsWith("down: ")).toBe(true);
      expect(told?.msg).toMatch(/ \(retry in [\d.]+ s\)$/);
      expect([what, told?.extra?.["reason"]]).toEqual([what, expected]);
      const { message } = await raw.call("tools/call", { name: `c${n}_any` });
      expect([what, message.error.data.reason]).toEqual([what, expected]);
      expect(message.error.data.retryAfterMs).toBeGreaterThanOrEqual(0);
    }
    expect(JSON.stringify(goblin.logs)).not.toMatch(/s3cret-value|secret-token/);
  });

  test("the log says it once, also what stderr repeats, until something changes", async () => {
    const folder = mkdtempSync(join(tmpdir(), "goblin-once-"));
    onDispose(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "why");
    writeFileSync(file, "KEY is missing");
    const crash = program(
      `console.error(process.pid + " " + require("node:fs").readFileSync(${JSON.stringify(file)})); process.exit(1)`,
    );
    const goblin = await startGoblin({ mcpServers: { crash } });
    const lines = () => goblin.logs.filter(({ server }) => server === "crash").map(({ msg }) => msg);
    const attempts = async (count: number) => {
      let seen = 0;
      const count1 = (id: string): void => {
        if (id === "crash" && status(goblin, "crash").state === "down") seen++;
      };
      goblin.gateway.servers.on("status", count1);
      await until(() => seen >= count);
      goblin.gateway.servers.off("status", count1);
    };
    await attempts(2);
    expect(lines()).toEqual([
      expect.stringMatching(/^connecting/),
      expect.stringMatching(/^\d+ KEY is missing$/),
      expect.stringMatching(/^down: exited with code 1: \d+ KEY is missing \(retry in 0\.\d s\)$/),
    ]);
    writeFileSync(file, "OTHER is missing");
    await attempts(1);
    expect(lines().slice(3)).toEqual([
      expect.stringMatching(/OTHER is missing$/),
      expect.stringMatching(/^down: exited with code 1: \d+ OTHER is missing/),
    ]);
  });

  test("the log says once what a program prints that is not MCP, however often it is started", async () => {
    const chatty = program('console.log("hello"); process.exit(1)');
    const goblin = await startGoblin({ mcpServers: { chatty } });
    let starts = 0;
    goblin.gateway.servers.on("status", (_id, { state }) => {
      if (state === "down") starts++;
    });
    await until(() => starts >= 2, { what: "two more starts" });
    expect(goblin.logs.filter(({ msg }) => msg === "Not a JSON message")).toHaveLength(1);
  });

  test("a clean stop reports nothing", async () => {
    const server = await startScripted({ name: "fine" });
    const goblin = await startGoblin({ mcpServers: { fine: server.entry } });
    const before = goblin.logs.length;
    await goblin.gateway.close();
    expect(goblin.logs.slice(before).map(({ msg }) => msg)).not.toContain(expect.stringContaining("disabled"));
    expect(goblin.logs.slice(before).filter(({ server }) => server === "fine")).toEqual([]);
  });
});

test("a call on a client's own connection says so too", async () => {
  const server = await startScripted({ name: "own", script: { rules: [{ method: "tools/call", do: "crash" }] } });
  const goblin = await startGoblin({ mcpServers: { own: { ...server.entry, share: "session" } } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const { message } = await raw.call("tools/call", { name: "own_echo", arguments: { text: "x" } });
  expect(message.error.data).toMatchObject({ code: "BACKEND_UNAVAILABLE", retryAfterMs: expect.any(Number) });
});

test("a call in flight when its server dies says when to try again", async () => {
  const server = await startScripted({ name: "mortal", script: { rules: [{ method: "tools/call", do: "crash" }] } });
  const goblin = await startGoblin({ mcpServers: { mortal: server.entry } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const { message } = await raw.call("tools/call", { name: "mortal_echo", arguments: { text: "x" } });
  expect(message.error).toMatchObject({ code: -32011, data: { code: "BACKEND_UNAVAILABLE" } });
  expect(message.error.data.retryAfterMs).toBeGreaterThanOrEqual(0);
});
