/**
 * A mistake in the gateway itself, put there from outside: it is logged in full, and everybody goes
 * on.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { connectV2 } from "../fixtures/clients.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const BIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));

/** Made at a signal, when the gateway listens: on a busy machine that takes its time. */
const MISTAKES = `
  process.once("SIGUSR2", () => {
    setTimeout(() => { throw new Error("thrown by mistake"); }, 1);
    setTimeout(() => { Promise.reject(new Error("rejected by mistake")); }, 1);
    setTimeout(() => { throw { toString: 1 }; }, 1);
  });`;

test("what nobody catches is logged with its place; sessions stay", async () => {
  const home = await serveHome({ mcpServers: {} });
  const served = await startServe(home, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(MISTAKES)}`,
  });
  const { client } = await connectV2({ url: served.url });
  served.signal("SIGUSR2");
  await until(() => served.log().split("Unexpected error").length === 4);
  const lines = served
    .log()
    .split("\n")
    .filter((line) => line.includes("Unexpected error"));
  const logged = lines.map((line) => JSON.parse(line) as { level: number; error: string; stack?: string });
  expect(logged.map(({ level, error }) => [level, error]).sort()).toEqual([
    [50, "rejected by mistake"],
    [50, "thrown by mistake"],
    [50, '{"toString":1}'],
  ]);
  expect(logged.find(({ error }) => error === "thrown by mistake")?.stack).toContain("Timeout");
  expect((await client.listTools()).tools).toEqual([]);
  served.signal("SIGTERM");
  expect(await served.exited).toBe(0);
});

test.skipIf(!existsSync("/dev/full"))(
  "a log that cannot be written does not keep the gateway from ending",
  async () => {
    const home = await serveHome({ mcpServers: { dead: { command: "/does/not/exist" } } });
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [BIN, "serve", "--config", home.configFile, "--port", String(home.port)], {
      stdio: ["ignore", "pipe", full],
      env: { ...process.env, XDG_STATE_HOME: home.folder },
    });
    onDispose(() => void child.kill("SIGKILL"));
    closeSync(full);
    await until(async () => (await fetch(`http://127.0.0.1:${home.port}/health`).catch(() => undefined))?.ok);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  },
);
