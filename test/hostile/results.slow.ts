/**
 * Results of 60 MB are kept while the gateway's heap is small, others are served all along, and a
 * disk that is full loses nothing.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile, writeAgain } from "../fixtures/hostile.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { type Given, idIn, linkIn, session, textResult } from "../gateway/results/scene.ts";

afterEach(disposeAll);

const MB = 1_000_000;
const row = '{\\"id\\":12345678901234567890,\\"title\\":\\"an é issue\\",\\"html\\":\\"<p>x</p>\\"},';

/** Answers a call with JSON of this many bytes in a text. */
const large =
  (bytes: number) =>
  async ({ id }: Given, response: Given) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"{\\"items\\":[`);
    await writeAgain(response, row.repeat(10_000), Math.ceil(bytes / row.length / 10_000));
    response.end('{\\"id\\":1}]}"}]}}');
  };

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1000;
}

test("60 MB, again and again: memory stays flat, others do not wait, parts can be read", async () => {
  const tools = [{ name: "dump", inputSchema: { type: "object" } }];
  const bad = await startHostile({ methods: { "tools/list": () => ({ tools }), "tools/call": large(60 * MB) } });
  const good = await startScripted({ name: "good" });
  const home = await serveHome({
    mcpServers: { bad: bad.entry, good: good.entry },
    results: { over: "spill", memoryBytes: 1_000_000, keptBytes: 200 * MB },
  });
  const served = await startServe(home, { NODE_OPTIONS: "--max-old-space-size=128" });
  const client = rawHttp(served.url);
  await client.initialize();
  const call = async (name: string, args: object = {}): Promise<Given> =>
    (await client.call("tools/call", { name, arguments: args })).message.result;
  await until(async () => (await client.call("tools/list", {})).text.includes("bad_dump"));
  const peaks: number[] = [];
  let last: Given;
  for (let round = 0; round < 4; round++) {
    last = await call("bad_dump");
    expect(last.content[1].text).toContain("{ id: number, title: string, html: string }[");
    expect((await call("good_add", { a: 1, b: 2 })).structuredContent.sum).toBe(3);
    peaks.push(memoryOf(served.child.pid!));
  }
  // Without spilling, three more of them would be 180 MB.
  expect(peaks.at(-1)! - peaks[0]!).toBeLessThan(100);
  const id = idIn(last);
  expect((await call("read_result", { id, path: "items[5].id" })).content[0].text).toBe("12345678901234567890");
  expect((await call("read_result", { id, path: "items", grep: "nowhere" })).content[0].text).toMatch(/^\(nothing: /);
  const { text } = await client.call("resources/read", { uri: linkIn(last).uri });
  expect(text.length).toBeGreaterThan(59 * MB);
}, 300_000);

test.skipIf(process.getuid?.() !== 0 || !existsSync("/proc/mounts"))(
  "a full disk: the result is passed on whole, and nothing is left of it",
  async () => {
    const state = mkdtempSync(join(tmpdir(), "goblin-full-"));
    const folder = join(state, "goblin");
    mkdirSync(folder);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
    onDispose(() => {
      execFileSync("umount", ["-l", folder]);
      rmSync(state, { recursive: true, force: true });
    });
    const web = await startScripted({ transport: "http" });
    const goblin = await startGoblin(
      { mcpServers: { web: web.entry }, metaTools: {}, results: { over: "spill", maxTokens: 500, memoryBytes: 0 } },
      { env: { ...process.env, XDG_STATE_HOME: state } },
    );
    const client = await session(goblin.url);
    const whole = await client.tool("web_big", { bytes: 3 * MB });
    expect(whole.content[0].text).toHaveLength(3 * MB);
    expect(goblin.logs.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^A long result could not be kept, and was passed on whole: ENOSPC/),
    );
    const [own] = readdirSync(join(folder, "results"));
    expect(readdirSync(join(folder, "results", own!))).toEqual([]);
    // What fits is kept again.
    expect((await client.returning(textResult("word ".repeat(5000)))).content).toHaveLength(3);
  },
  120_000,
);
