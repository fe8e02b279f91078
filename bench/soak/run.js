// @ts-check
// One run of the soak: servers, gateways, clients, faults and restarts for a while, then quiet,
// then the judgement.
//
// The gateway is restarted in the first half of the time; its last life has the second half to
// itself, so that what it holds can be compared.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfigFile } from "./config-file.js";
import { createCrowd, SIZE, STDIO_SERVERS } from "./crowd.js";
import { createFaults } from "./faults.js";
import { createGateway, createOutages, freePort } from "./gateway.js";
import { openHub } from "./hub.js";
import { judgeFloor, judgeParts, judgeResources } from "./judges.js";
import { createLedger } from "./ledger.js";
import { createProblems } from "./problems.js";
import { createRandom } from "./random.js";
import { clusterConfig, createRedis, createReplicas } from "./replicas.js";
import { KINDS, startServer } from "./servers.js";
import { createUpdates } from "./updates.js";
import { pause, until } from "./wait.js";
import { createWeather } from "./weather.js";
import { httpWire, sseWire, stdioWire } from "./wires.js";

const TOKENS = ["soak-token-a-0123456789abcdef", "soak-token-b-0123456789abcdef"];
/** The least number of calls in calm weather for a meaningful rate of success. */
const ENOUGH = 300;
const FAULT_EVERY_MS = 700;
const CHANGE_EVERY_MS = 60;
const RESTART_EVERY_MS = 12_000;
/** One that is asked for, one that is not. */
const MIN_RESTARTS = 2;
/** The share of the time that the last life has at least. */
const LAST_LIFE = 0.4;
const SETTLE_MS = 60_000;
/** Nothing more is seen after this long: what is still owed is lost. */
const STILL_MS = 15_000;
/** The programs of a gateway that was asked to stop are gone by then. */
const GONE_MS = 8000;

/** @typedef {import("./client.js").Client} Client */
/**
 * @typedef {{ minutes: number, seed: number, share: "all" | "session", known: string[], replicas?:
 *   number, pauseMs?: number, until?: string, trace?: (line: string) => void, between?:
 *   import("./client.js").Between, imports?: string[], log?: (line: string) => void }} SoakOptions
 */

/** @param {SoakOptions} options */
export async function runSoak({
  minutes,
  seed,
  share,
  known,
  replicas = 1,
  until: wanted,
  pauseMs,
  between,
  imports = [],
  log = () => {},
  trace = () => {},
}) {
  // What goes wrong, and in which order, depends on the seed alone; the clients' dice depend on the
  // time that answers take, too.
  const chaos = createRandom(seed);
  const random = createRandom(seed + 1);
  const problems = createProblems(known, trace);
  // Each replica has its own connections: one that works says nothing about those of the others.
  const personal = KINDS.filter((kind) => replicas > 1 || kind.share === "session").map(({ name }) => name);
  const weather = createWeather(new Set(personal));
  const folder = mkdtempSync(join(tmpdir(), "goblin-soak-"));
  const hub = await openHub();
  const servers = await Promise.all(KINDS.map((kind) => startServer(kind, { folder, hub })));
  const names = servers.map(({ name }) => name);
  const ledger = createLedger({ problems, weather, folder, servers: names });
  const updates = createUpdates({ problems, hub, folder, random });

  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const address = { port, tokens: TOKENS };
  const redis = replicas === 1 ? undefined : await createRedis();
  const cluster = redis && clusterConfig(redis.url);
  const config = createConfigFile({ path: join(folder, "goblin.json"), servers, ...address, cluster });
  const ofStdio = servers.filter(({ name }) => STDIO_SERVERS.includes(name));
  const stdioConfig = createConfigFile({ path: join(folder, "stdio.json"), servers: ofStdio, ...address });

  const one = { configFile: config.path, folder, imports, problems };
  const gateway = redis ? await createReplicas({ ...one, count: replicas, port, redis }) : createGateway(one);
  /** @type {Map<string, ReturnType<typeof createOutages>>} */
  const outages = new Map([["main", gateway.outages]]);
  const outagesOf = (/** @type {string} */ name) => {
    const known = outages.get(name) ?? createOutages();
    outages.set(name, known);
    return known;
  };
  /** @type {Set<Client>} */
  const clients = new Set();
  const street = {
    problems,
    ledger,
    updates,
    weather,
    random,
    clients,
    outagesOf,
    wireFor,
    between: between ?? plain,
    share,
  };
  const crowd = createCrowd({
    street,
    servers,
    tokens: TOKENS,
    isOver: () => isOver,
    ...(pauseMs !== undefined && { pauseMs }),
  });
  let faults = 0;
  let peakRss = 0;
  let isOver = false;
  let isJudged = false;
  process.once("exit", () => {
    endAll();
    removeFolder();
  });

  try {
    await gateway.start();
    log(`soak: ${minutes} min, seed ${seed}, ${servers.length} servers, ${SIZE} clients at a time`);
    await crowd.allAnswer("at the start");
    const before = await gateway.reading();
    const start = performance.now();
    const length = minutes * 60_000;
    let end = Number.POSITIVE_INFINITY;
    const inject = createFaults({
      servers,
      hub,
      weather,
      config,
      random: chaos,
      url: origin,
      token: TOKENS[0] ?? "",
      gateways: () => [...outages.keys()],
      endOwnGateway: (signal) => crowd.endOwn(signal, chaos),
    });
    const running = [...crowd.run(), breakThings(inject, () => end - length / 10), changeThings()];
    const found = until(() => isFound() || isJudged, Number.POSITIVE_INFINITY);
    const watch = setInterval(() => {
      peakRss = Math.max(peakRss, gateway.rss());
      ledger.readBooks();
      if (wanted === "floor" && ledger.counts.calm > ENOUGH) judgeFloor(ledger.counts, ledger.calmFailures, problems);
      if (performance.now() > end || isFound()) isOver = true;
    }, 250);
    const isCalm = () => performance.now() > start + length / 2 || isOver;
    const shaken = "shake" in gateway ? gateway.shake(isCalm, strikeAll) : undefined;
    await restart(start + length / 2);
    await shaken;
    // However long the restarts took, there is time for the last life to be judged by.
    end = Math.max(start + length, performance.now() + length * LAST_LIFE);
    await Promise.race([pause((end - performance.now()) / 4), found]);
    const warm = await gateway.reading();
    const late = pause(end - performance.now() + SETTLE_MS).then(() =>
      problems.add("ending", `these clients did not finish: ${crowd.unfinished().join("; ")}`),
    );
    await Promise.race([Promise.all(running), found, late]);
    clearInterval(watch);
    isJudged = true;
    if (isFound()) return result({ before, warm, after: warm, peakRss });
    await crowd.allAnswer("at the end");
    await settleUpdates();
    updates.settle();
    await crowd.leave();
    await pause(1500);
    const after = await gateway.reading();
    const telling = new Set(servers.filter((server) => server.telling).map(({ name }) => name));
    ledger.settle({ isOut: (name, from, to) => outagesOf(name).covers(from, to), telling });
    const readings = { before, warm, after, peakRss };
    judgeFloor(ledger.counts, ledger.calmFailures, problems);
    judgeParts({ ...ledger.counts, ...updates.counts }, problems);
    judgeResources(readings, problems, replicas);
    await gateway.stop("SIGTERM");
    const left = () => servers.filter(({ wire }) => wire === "stdio").flatMap(({ name }) => hub.of(name));
    await until(() => left().length === 0, GONE_MS);
    for (const { name, pid } of left()) problems.add("ending", `${name} (process ${pid}) was left behind`);
    return result(readings);
  } finally {
    endAll();
    await until(() => hub.isEmpty, GONE_MS);
    removeFolder();
  }

  function endAll() {
    for (const client of clients) client.vanish();
    gateway.kill();
    redis?.kill();
    for (const server of servers) server.stop();
    hub.close();
  }

  function removeFolder() {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Somebody still writes into it; temporary files may stay.
    }
  }

  /** @param {Parameters<typeof judgeResources>[0]} readings */
  function result(readings) {
    const { counts, calmReasons } = ledger;
    return { problems, counts, calmReasons, updates: updates.counts, faults, lives: gateway.lives, readings };
  }

  /** What the run was to find, if it was to find something. */
  function isFound() {
    return wanted !== undefined && problems.count(/** @type {import("./problems.js").Kind} */ (wanted)) > 0;
  }

  async function over() {
    while (!isOver) await pause(50);
  }

  /**
   * @param {import("./client.js").Who} who
   * @param {string} name
   * @param {import("./wires.js").User} user
   */
  function wireFor({ wire, token }, name, user) {
    const headers = { authorization: `Bearer ${token}` };
    if (wire === "stdio") return stdioWire({ configFile: stdioConfig.path, name, problems }, user);
    return wire === "sse"
      ? sseWire({ url: `${origin}/sse`, headers }, user)
      : httpWire({ url: `${origin}/mcp`, headers }, user);
  }

  /** @param {() => string} inject @param {() => number} end */
  async function breakThings(inject, end) {
    while (!isOver && performance.now() < end()) {
      await pause(FAULT_EVERY_MS * chaos.between(0.5, 1.5));
      if (isOver) break;
      trace(`${Math.round(performance.now())} ms: ${inject()}`);
      faults++;
    }
    config.write();
  }

  async function changeThings() {
    while (!isOver) {
      await pause(CHANGE_EVERY_MS);
      updates.change();
    }
  }

  /** @param {number} until */
  async function restart(until) {
    const every = Math.min(RESTART_EVERY_MS, (until - performance.now()) / 3);
    for (let n = 0; n < MIN_RESTARTS || performance.now() + every < until; n++) {
      await Promise.race([pause(every), over()]);
      if (isOver) return;
      const strike = strikeAll();
      config.mayBreak = false;
      config.write();
      trace(`${Math.round(performance.now())} ms: the gateway: ${n % 2 === 0 ? "SIGTERM" : "SIGKILL"}`);
      await gateway.restart(n % 2 === 0 ? "SIGTERM" : "SIGKILL", () => pause(500 * Math.random()));
      trace(`${Math.round(performance.now())} ms: the gateway is back`);
      strike();
      config.mayBreak = true;
    }
  }

  /** All calls meet bad weather, until after the returned function was called. */
  function strikeAll() {
    const struck = servers.map(({ name }) => weather.disturb(["main"], name, { armed: true }));
    return () => {
      for (const strike of struck) strike();
    };
  }

  async function settleUpdates() {
    let { open: left } = updates;
    let since = performance.now();
    const end = since + SETTLE_MS;
    while (left > 0 && performance.now() < end && performance.now() - since < STILL_MS) {
      await pause(100);
      if (updates.open < left) since = performance.now();
      left = updates.open;
    }
  }
}

/** Nobody stands between. @type {import("./client.js").Between} */
const plain = {
  toGateway: (_client, message, send) => send(message),
  toClient: (_client, message, deliver) => deliver(message),
};
