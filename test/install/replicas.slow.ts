/**
 * The replicas of the compose files, without containers: three gateways with their config, Redis,
 * and nginx with its config, on ports of this machine. Clients of both eras come through nginx.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { connectV1, connectV2, disposeAll, onDispose, until } from "../fixtures/peers.ts";
import { freePort, type Served, type ServeHome, startServe } from "../fixtures/serve.ts";
import { hasTool } from "./tools.ts";

afterEach(disposeAll);

const compose = fileURLToPath(new URL("../../deploy/compose", import.meta.url));
const demo = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));
const TOKEN = "0123456789abcdef0123456789abcdef";
const headers = { authorization: `Bearer ${TOKEN}` };

function run(command: string, ...args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: "ignore" });
  onDispose(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  });
  return child;
}

/** The config of the compose file, with the demo's servers, for one replica on this machine. */
function configFor(cluster: number, redis: number): string {
  const text = readFileSync(join(compose, "config/replicas.json"), "utf8")
    .replace("0.0.0.0:3001", `127.0.0.1:${cluster}`)
    .replace("redis://redis:6379", `redis://127.0.0.1:${redis}`);
  const server = JSON.stringify({ command: process.execPath, args: [demo, "clock"] });
  return text.replace(/"time": \{.*\},/, `"time": ${server},`).replace(/ *"everything": .*\n/, "");
}

const canRun = [hasTool("nginx", "-v"), hasTool("redis-server", "--version")].every(Boolean);

test.runIf(canRun)("three replicas behind nginx are one gateway, while one ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "goblin-replicas-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const redis = await freePort();
  run("redis-server", "--port", String(redis), "--save", "", "--bind", "127.0.0.1", "--dir", folder);

  const replicas: Served[] = [];
  const ports: number[] = [];
  for (const name of ["goblin-1", "goblin-2", "goblin-3"]) {
    const cluster = await freePort();
    const configFile = join(folder, `${name}.json`);
    writeFileSync(configFile, configFor(cluster, redis));
    const home: ServeHome = { folder: join(folder, name), configFile, port: await freePort(), write: () => {} };
    const env = { GOBLIN_TOKEN: TOKEN, GOBLIN_SECRET: "what-replicas-share-1234", GOBLIN_HOST: "127.0.0.1" };
    replicas.push(await startServe(home, { ...env, GOBLIN_ADDRESS: `127.0.0.1:${cluster}` }));
    ports.push(home.port);
  }

  const front = await freePort();
  let text = readFileSync(join(compose, "nginx.conf"), "utf8").replace("listen 8080;", `listen 127.0.0.1:${front};`);
  for (const [i, port] of ports.entries()) text = text.replace(`goblin-${i + 1}:3000`, `127.0.0.1:${port}`);
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `daemon off;\nmaster_process off;\npid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\n${text}`,
  );
  run("nginx", "-e", join(folder, "error.log"), "-p", folder, "-c", file);
  const origin = `http://127.0.0.1:${front}`;
  await until(
    () =>
      fetch(`${origin}/health`).then(
        (answer) => answer.ok,
        () => false,
      ),
    { what: "nginx to listen" },
  );

  const connect = () => connectV1({ url: `${origin}/mcp`, headers });
  const sessions = [await connect(), await connect(), await connect()];
  const stateless = await connectV2({ url: `${origin}/mcp`, headers, era: "modern" });
  const now = async (): Promise<void> => {
    for (const { client } of [...sessions, stateless])
      expect(await client.callTool({ name: "time_now", arguments: {} })).toMatchObject({
        structuredContent: { timeZone: "UTC" },
      });
  };
  /** An update reaches each session's stream, whichever replica that is at. */
  const updates = async (): Promise<void> => {
    const before = sessions.map(({ notifications }) => notifications.length);
    await until(() => sessions.every(({ notifications }, i) => notifications.length > before[i]!), {
      what: "an update at each session",
    });
  };
  await until(async () => (await stateless.client.listTools()).tools.some(({ name }) => name === "time_now"));
  for (const { client } of sessions) await client.subscribeResource({ uri: "time+clock://now" });
  for (let i = 0; i < 5; i++) await now();
  await updates();
  // nginx gave each of them something to do.
  for (const replica of replicas) {
    const metrics = await (await fetch(`${replica.origin}/metrics`, { headers })).text();
    expect(metrics).toMatch(/^mcpCallerRequestsTotal\{.*who="owner".*\} [1-9]/m);
  }

  replicas[0]!.signal("SIGTERM");
  expect(await replicas[0]!.exited).toBe(0);
  for (let i = 0; i < 5; i++) await now();
  await updates();
});
