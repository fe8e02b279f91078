import { afterEach, expect, test } from "vitest";
import { createLogger, logBookOf } from "../../src/observe/telemetry/logger.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

function recorder() {
  const lines: string[] = [];
  return { lines, stream: { write: (text: string) => lines.push(text) } };
}

test("a new level holds for the logger and for children made before and after", () => {
  const { lines, stream } = recorder();
  const log = createLogger({ level: "info", format: "json", stream });
  const before = log.child({ server: "a" });
  const book = logBookOf(log);
  before.debug("unheard");
  book.setLevel("debug");
  const after = before.child({ part: "x" });
  log.debug("one");
  before.debug("two");
  after.debug("three");
  book.setLevel("error");
  for (const each of [log, before, after]) each.warn("unheard");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["one", "two", "three"]);
  expect(book.level).toBe("error");
});

test("the newest lines are kept, and no more than that", () => {
  const log = createLogger({ level: "info", format: "json", stream: { write: () => {} } });
  for (let i = 1; i <= 2500; i++) log.info({ n: i }, `line ${i}`);
  const lines = logBookOf(log).lines();
  expect(lines).toHaveLength(2000);
  expect(lines[0]?.msg).toBe("line 501");
  expect(lines.at(-1)).toMatchObject({ level: "info", msg: "line 2500", extra: { n: 2500 } });
});

test("a line of any length takes little room", () => {
  const log = createLogger({ level: "info", format: "json", stream: { write: () => {} } });
  log.info({ server: "a", more: 1 }, "x".repeat(1_000_000));
  const [line] = logBookOf(log).lines();
  expect(line).toEqual({ time: expect.any(Number), level: "info", server: "a", msg: `${"x".repeat(20_000)}…` });
});

test("known secrets are masked in values, whatever they are part of, and keys stay", () => {
  const { lines, stream } = recorder();
  const log = createLogger({ level: "info", format: "json", stream });
  logBookOf(log).masker.hide(["server", 'quo"ted\\secret', "sk-123456"]);
  log.info({ server: "a", url: "https://x/?k=sk-123456" }, 'the server said quo"ted\\secret and sk-123456!');
  expect(JSON.parse(lines[0]!)).toMatchObject({
    server: "a",
    url: "https://x/?k=[hidden]",
    msg: "the [hidden] said [hidden] and [hidden]!",
  });
});

test("configured secrets that a server writes to stderr do not reach the log; request ids in errors do", async () => {
  const one = await startScripted({ name: "one", env: { API_KEY: "s3cret-env-value" } });
  const web = await startScripted({ name: "web", transport: "http" });
  const goblin = await startGoblin({
    mcpServers: {
      one: {
        ...one.entry,
        command: process.execPath,
        args: ["-e", 'console.error("key", process.env.API_KEY); setTimeout(() => {}, 60000)'],
      },
      web: { ...web.entry, headers: { Authorization: "Bearer tok-abcdef" } },
    },
    timeouts: { connectMs: 1500, startMs: 1500 },
  });
  const line = await until(() => goblin.logs.find((entry) => entry.extra?.["stream"] === "stderr"));
  expect(line).toMatchObject({ server: "one", msg: "key [hidden]" });
  expect(JSON.stringify(goblin.logs)).not.toContain("s3cret-env-value");
  expect(JSON.stringify(goblin.logs)).not.toContain("tok-abcdef");

  const http = rawHttp(goblin.url);
  await http.initialize();
  const { message } = await http.call("tools/call", { name: "nothing" });
  const id = message.error.data.requestId as string;
  expect(id).toMatch(/^[0-9a-z]+-[0-9a-z]+$/);
  expect(goblin.logs.some((entry) => entry.extra?.["requestId"] === id)).toBe(true);
});
