// @ts-check
// A soak: `npm run soak -- --minutes N [--seed N]`. The built gateway over ten servers that break at random, with a config that changes
// and clients that come and go; an oracle checks every answer and every update. Fails if any was lost or wrong.

import { spawn } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startBackend } from "./soak/backends.js";
import { createFaults } from "./soak/faults.js";
import { createOracle } from "./soak/oracle.js";
import { openSession } from "./soak/session.js";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "2" }, seed: { type: "string", default: String(Date.now() % 1e6) } },
});
const minutes = Number(values.minutes);
const BIN = fileURLToPath(new URL("../bin/goblin.js", import.meta.url));
const CLIENTS = 8;
const CALLERS = 3;
const FAULT_EVERY_MS = 400;

const random = generator(Number(values.seed));
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const folder = mkdtempSync(join(tmpdir(), "goblin-soak-"));
const transports = /** @type {const} */ ([
  "stdio",
  "stdio",
  "stdio",
  "stdio",
  "stdio",
  "stdio",
  "http",
  "http",
  "http",
  "sse",
]);
const backends = await Promise.all(transports.map((transport, n) => startBackend(folder, `b${n}`, transport)));
const extra = await startBackend(folder, "extra", "stdio");

const state = { generations: /** @type {Record<string, number>} */ ({}), pageSize: 1000, callMs: 1000, extra: false };
const configFile = join(folder, "goblin.json");

/** @param {(state: any) => void} change */
function writeConfig(change) {
  if (state.pageSize < 1) state.pageSize = 1000;
  change(state);
  const used = state.extra ? [...backends, extra] : backends;
  const config = {
    mcpServers: Object.fromEntries(
      used.map((backend) => [backend.id, backend.entry(state.generations[backend.id] ?? 0)]),
    ),
    gateway: { port: 0 },
    lists: { pageSize: state.pageSize },
    timeouts: { callMs: state.callMs, connectMs: 5000 },
    limits: { resultBytes: 500_000 },
    log: { level: "error", format: "json" },
  };
  writeFileSync(`${configFile}.new`, JSON.stringify(config));
  renameSync(`${configFile}.new`, configFile);
}

writeConfig(() => {});
const COLLECT = new URL("./soak/collect.js", import.meta.url).href;
const args = ["--expose-gc", "--import", COLLECT, BIN, "serve", "--config", configFile];
const goblin = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
let stderr = "";
goblin.stderr.on("data", (chunk) => {
  stderr = `${stderr}${chunk}`.slice(-4000);
});
const exited = new Promise((resolve) => goblin.once("exit", (code, signal) => resolve(code ?? signal)));
process.on("exit", () => {
  goblin.kill("SIGKILL");
  for (const backend of backends) backend.stop();
  rmSync(folder, { recursive: true, force: true });
});
const url = await announced();
const origin = new URL(url).origin;
await until(async () => (await fetch(`${origin}/ready`)).ok, 60_000);

const oracle = createOracle();
/** @type {Set<import("./soak/session.js").Session>} */
const sessions = new Set();
const open = () => openSession(url, oracle.updated);
const inject = createFaults({ backends, writeConfig, open, url, random });
const isOver = (
  (end) => () =>
    performance.now() > end
)(performance.now() + minutes * 60_000);
let faults = 0;

await Promise.all(Array.from({ length: CALLERS * 2 }, (_, n) => oneCall(backends[n % 10], undefined)));
const heapBefore = await heap();
console.log(`soak: ${minutes} min, seed ${values.seed}, ${backends.length} servers, ${CLIENTS} clients at a time`);
const running = [breakThings(), touchThings(), ...Array.from({ length: CLIENTS }, () => comeAndGo())];
// What a running gateway keeps (compiled code, the newest calls, the log) is there after a while; from then on nothing may be added.
const heapWarm = await pause(minutes * 15_000).then(heap);
await Promise.all(running);

for (const backend of backends) backend.script({});
writeConfig(() => {});
await until(allReady, 120_000);
const final = await open();
for (const backend of backends) {
  const ok = await until(() => oneCall(backend, final), 30_000);
  if (!ok) oracle.lost("final", `${backend.id} does not answer`);
}
await until(async () => oracle.owed === 0, 15_000);
oracle.settle();
for (const session of [...sessions, final]) await session.close();
await pause(1000);
const heapAfter = await heap();
goblin.kill("SIGTERM");
const code = await Promise.race([exited, pause(20_000).then(() => "no exit")]);

const { counts, problems } = oracle;
const mb = (/** @type {number} */ bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`;
console.log(
  `calls             ${counts.calls} (${counts.answered} answered by servers, ${counts.refused} refused with a reason)`,
);
console.log(`updates           ${counts.updates}`);
console.log(`faults survived   ${faults}`);
console.log(`lost answers      ${counts.lostAnswers}`);
console.log(`lost updates      ${counts.lostUpdates}`);
console.log(`wrong deliveries  ${counts.wrongDeliveries}`);
const readings = `${mb(heapBefore)} at the start, ${mb(heapWarm)} after a quarter, ${mb(heapAfter)} at the end`;
console.log(`heap              ${readings}`);
for (const problem of problems) console.log(`  ${problem}`);
if (code !== 0) console.log(`goblin ended with ${code}\n${stderr}`);
const failed = counts.lostAnswers + counts.lostUpdates + counts.wrongDeliveries > 0 || code !== 0;
process.exit(failed ? 1 : 0);

async function breakThings() {
  while (!isOver()) {
    await pause(FAULT_EVERY_MS * (0.5 + random()));
    await inject().then(
      () => faults++,
      (error) => oracle.lost("fault", error),
    );
  }
}

/** Changes a resource through the gateway; whoever is subscribed by then must hear of it. */
async function touchThings() {
  const session = await open();
  while (!isOver()) {
    await pause(150 + random() * 150);
    const backend = pick(backends);
    const since = performance.now();
    const listeners = [...sessions].filter((s) => (s.subscribed.get(backend.id) ?? Number.POSITIVE_INFINITY) < since);
    const asked = { id: session.nextId(), server: backend.id, check: () => true };
    const params = { name: `${backend.id}_touch`, arguments: { uri: "text:///hello" } };
    const done = await ask(session, asked, params);
    if (done)
      oracle.changed(
        listeners.filter((listener) => sessions.has(listener)),
        backend.id,
        since,
      );
  }
  await session.close();
}

async function comeAndGo() {
  while (!isOver()) {
    const session = await open();
    for (let n = 0; n < 3; n++) await session.subscribe(pick(backends).id);
    sessions.add(session);
    const stay = performance.now() + 2000 + random() * 8000;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (performance.now() < stay && !isOver()) {
          await oneCall(pick(backends), session);
          await pause(random() * 20);
        }
      }),
    );
    // The last ones stay, to see that they get what they are owed.
    if (isOver()) return;
    sessions.delete(session);
    oracle.gone(session);
    if (random() < 0.5) await session.close();
    else session.vanish();
  }
}

/** @param {any} backend @param {import("./soak/session.js").Session | undefined} given */
async function oneCall(backend, given) {
  const session = given ?? (await open());
  const id = session.nextId();
  const server = backend.id;
  const text = `${id} ${random()}`;
  const asked =
    random() < 0.6
      ? { tool: "echo", args: { text }, check: (/** @type {any} */ result) => result.structuredContent?.text === text }
      : { tool: "whoami", args: {}, check: (/** @type {any} */ result) => result.structuredContent?.name === server };
  const params = { name: `${server}_${asked.tool}`, arguments: asked.args };
  const ok = await ask(session, { id, server, check: asked.check }, params);
  if (!given) await session.close();
  return ok;
}

/** @param {import("./soak/session.js").Session} session @param {{ id: string, server: string, check: (result: any) => boolean }} asked @param {object} params */
async function ask(session, asked, params) {
  try {
    const { messages } = await session.post({ id: asked.id, method: "tools/call", params });
    return oracle.judge(asked, messages);
  } catch (error) {
    oracle.lost(asked.id, error);
    return false;
  }
}

async function allReady() {
  const { items } = /** @type {any} */ (await (await fetch(`${origin}/api/servers`)).json());
  const bad = items.filter((/** @type {any} */ { state: is }) => is !== "ready");
  for (const { id } of bad) {
    const headers = { "content-type": "application/json" };
    await fetch(`${origin}/api/servers/${id}/restart`, { method: "POST", headers, body: "{}" }).catch(() => {});
  }
  return bad.length === 0;
}

/** What is left after a collection. */
async function heap() {
  goblin.kill("SIGUSR2");
  await pause(500);
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes\S* (\d+)/m.exec(text)?.[1]);
}

async function announced() {
  for await (const line of createInterface({ input: goblin.stdout })) {
    const found = /http:\/\/\S+\/mcp/.exec(line);
    if (found) return found[0];
  }
  throw new Error(`goblin did not start: ${stderr}`);
}

/** @param {() => Promise<unknown>} predicate @param {number} ms */
async function until(predicate, ms) {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (await predicate()) return true;
    await pause(200);
  }
  return false;
}

/** @template T @param {readonly T[]} list @returns {T} */
function pick(list) {
  return /** @type {T} */ (list[Math.floor(random() * list.length)]);
}

/** A small seeded generator, so that a run can be repeated. @param {number} seed */
function generator(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
