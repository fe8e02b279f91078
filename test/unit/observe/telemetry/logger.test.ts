import { afterEach, expect, test, vi } from "vitest";
import { createLogger } from "../../../../src/observe/telemetry/logger.ts";

afterEach(() => vi.unstubAllEnvs());

function lines(format: "auto" | "pretty", isTTY: boolean) {
  const written: string[] = [];
  const log = createLogger({ level: "info", format, stream: { isTTY, write: (text: string) => written.push(text) } });
  const down = { server: "exits", state: "down", reason: "exited with code 1", retryInMs: 16_000 };
  log.warn(down, "down: exited with code 1 (retry in 16 s)");
  log.info({ server: "exits", stream: "stderr" }, "hello");
  return written.map((line) => line.replace(/\d\d:\d\d:\d\d\.\d{3}/, "TIME"));
}

test("on a terminal a state is a sign, the server and the words, without the details again", () => {
  vi.stubEnv("NO_COLOR", "1");
  expect(lines("auto", true)).toEqual([
    "TIME warn  ✗ exits  down: exited with code 1 (retry in 16 s)\n",
    "TIME info  exits | hello\n",
  ]);
});

test("with colours, unless NO_COLOR is set", () => {
  vi.stubEnv("NO_COLOR", "");
  expect(lines("auto", true)[0]).toBe(
    "\u001b[90mTIME\u001b[0m \u001b[33mwarn \u001b[0m \u001b[31m✗ exits\u001b[0m  down: exited with code 1 (retry in 16 s)\n",
  );
  expect(lines("pretty", false)[0]).toBe("TIME warn  ✗ exits  down: exited with code 1 (retry in 16 s)\n");
});

test("elsewhere it is JSON with every detail", () => {
  expect(JSON.parse(lines("auto", false)[0]!)).toMatchObject({
    server: "exits",
    state: "down",
    reason: "exited with code 1",
    retryInMs: 16_000,
    msg: "down: exited with code 1 (retry in 16 s)",
  });
});
