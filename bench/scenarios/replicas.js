// @ts-check
// Several gateways that share a secret: what that costs a call, what a hand-over costs on both
// sides, how long an update takes to subscribers whose streams are handed over, and how many calls
// two replicas take together. Only with --replicas: the rest of the benchmark knows one gateway.

import { spawnSync } from "node:child_process";
import { Client } from "../client.js";
import { compareVariants } from "../native/compare.js";
import { whole } from "../report.js";
import { createRedis } from "../soak/replicas.js";
import { httpServer, stdioServer } from "../subjects.js";
import { usageOf } from "../usage.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../lab.js").Sample} Sample */
/** @typedef {import("../subjects.js").Subject} Subject */

const SECRET = "the secret of the benchmark's replicas";
const cluster = { secret: SECRET, listen: "127.0.0.1:0" };
const CONNECTIONS = 16;
const SUBSCRIBERS = 1_000;
/** What being a replica may cost a call. */
const MAX_CPU = 1.1;
const MIN_ROUNDS = 6;
const STARTS = 2;
const WARM_MS = 2_000;
const TURN_MS = 400;

/** An address whose sessions are opened at another one. @param {string} url @param {string} home */
function through(url, home) {
  const address = new URL(url);
  address.username = new URL(home).port;
  return address.href;
}

/**
 * The same calls to a gateway alone, to a replica, and to one with Redis if there is one. All of
 * them are at their owner: this is what every call pays.
 * @param {Lab} lab
 */
async function costs({ bin, rounds }) {
  const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
  const redis = hasRedis ? await createRedis() : undefined;
  const settings = [{}, { cluster }, ...(redis ? [{ cluster: { ...cluster, redis: redis.url } }] : [])];
  const names = ["one gateway", "a replica", "a replica, with Redis"];
  /** @type {(string | number)[][]} */
  const rows = [];
  const bars = [];
  let note = "";
  try {
    for (const era of /** @type {const} */ (["legacy", "modern"])) {
      const variants = settings.map((one) => ({ settings: one }));
      const measured = await compareVariants(variants, { era, bin, rounds, starts: STARTS, server: "http" });
      note = measured.note;
      for (const [i] of settings.entries()) {
        const ratio = measured.ratio(i, 0, "cpuUs");
        rows.push([names[i] ?? "", era, measured.of(i, "perSecond"), measured.of(i, "cpuUs"), ratio]);
        if (i > 0) bars.push({ name: `CPU of a call at ${names[i]}, ${era}`, value: ratio, most: MAX_CPU });
      }
    }
  } finally {
    redis?.kill();
  }
  const columns = ["calls, HTTP server", "era", "calls/s", "CPU µs", "× one"];
  const notes = redis ? [note] : [note, "there is no redis-server here"];
  return { table: { title: `tools/call at their owner, ${CONNECTIONS} connections`, columns, rows, notes }, bars };
}

/** What a call costs both replicas if it is handed over. @param {Lab} lab */
async function handOvers(lab) {
  const servers = { http: httpServer(lab.backendUrl({ tag: "handed", era: "legacy" })) };
  const alone = await lab.goblin({ servers });
  const one = await lab.goblin({ servers, settings: { cluster } });
  const two = await lab.goblin({ servers, settings: { cluster } });
  const era = /** @type {const} */ ("legacy");
  const load = { era, connections: CONNECTIONS, ask: { kind: /** @type {const} */ ("echo"), tool: "http_echo" } };
  const url = through(two.url, one.url);
  const paths = [
    { name: "one gateway", cell: { subject: alone, load } },
    { name: "handed over: the replica that got it", cell: { subject: two, load, url } },
    { name: "handed over: the owner", cell: { subject: one, load, url } },
  ];
  const cells = paths.map(({ cell }) => cell);
  const samples = await lab.compare(cells, { warmCalls: 20_000, limit: WARM_MS, duration: TURN_MS });
  await lab.clear();
  const columns = ["path, legacy", "calls/s", "CPU µs", "p50 ms", "p99 ms"];
  const rows = paths.map(({ name }, i) => {
    const own = /** @type {Sample} */ (samples[i]);
    return [name, own.perSecond, own.cpuUs, own.p50, own.p99];
  });
  const notes = ["the load and the server are Node programs beside the gateways"];
  return { title: `Hand-overs, ${CONNECTIONS} connections`, columns, rows, notes };
}

/** Both replicas at once, each with its own clients, beside one with as many. @param {Lab} lab */
async function together(lab) {
  const servers = { http: httpServer(lab.backendUrl({ tag: "together", era: "legacy" })) };
  const load = {
    era: /** @type {const} */ ("legacy"),
    connections: CONNECTIONS,
    ask: { kind: /** @type {const} */ ("echo"), tool: "http_echo" },
    durationMs: lab.short ? 500 : 2_000,
  };
  const replicas = [
    await lab.goblin({ servers, settings: { cluster } }),
    await lab.goblin({ servers, settings: { cluster } }),
  ];
  for (const subject of replicas) await lab.warm({ subject, load }, 3_000);
  const perSecond = async (/** @type {Subject[]} */ used) => {
    const jobs = await Promise.all(used.map(({ url }) => lab.generator.prepare("load", { ...load, url })));
    const results = await Promise.all(jobs.map((job) => job.start()));
    for (const job of jobs) await job.close();
    for (const { wrong, firstWrong } of results)
      if (wrong > 0) lab.wrong.push(`replicas at once: ${wrong} wrong, the first: ${firstWrong}`);
    return results.reduce((sum, result) => sum + result.perSecond, 0);
  };
  const rows = [
    ["1", await perSecond(replicas.slice(0, 1))],
    ["2", await perSecond(replicas)],
  ];
  await lab.clear();
  const notes = ["the load and the servers are on the same machine: with few cores, two replicas only share them"];
  return { title: "tools/call, replicas at once", columns: ["replicas", "calls/s"], rows, notes };
}

/** @param {Lab} lab */
async function updates(lab) {
  const servers = { stdio: stdioServer({ resources: 1, tag: "fan" }) };
  const one = await lab.goblin({ servers, settings: { cluster } });
  const two = await lab.goblin({ servers, settings: { cluster } });
  const client = await Client.open(one.url, "legacy");
  const { resources } = await client.ask("resources/list").finally(() => client.close());
  const entry = resources.find((/** @type {any} */ it) => it.description?.startsWith("bench://"));
  const rows = [];
  for (const [name, url] of [
    ["at the owner", one.url],
    ["through another replica", through(two.url, one.url)],
  ]) {
    const job = { url, era: "legacy", count: SUBSCRIBERS, rounds: 3, uri: entry.uri, original: entry.description };
    const crowd = await lab.generator.prepare("subscribers", { ...job, tool: one.tool("stdio", "touch") });
    const before = [await usageOf(one.child), await usageOf(two.child)];
    const result = await crowd.start();
    const after = [await usageOf(one.child), await usageOf(two.child)];
    await crowd.close();
    if (result.lost !== 0) lab.wrong.push(`replicas: ${result.lost} updates lost ${name} (negative: too many)`);
    if (result.strange > 0) lab.wrong.push(`replicas: ${result.strange} updates under another URI ${name}`);
    const used = after.reduce((sum, usage, i) => sum + usage.cpuUs - (before[i]?.cpuUs ?? 0), 0);
    rows.push([name ?? "", whole(SUBSCRIBERS), result.medianMs, used / Math.max(1, result.deliveries)]);
  }
  await lab.clear();
  const columns = ["streams", "subscribers", "ms until the last", "CPU µs each, both"];
  return { title: "notifications/resources/updated with replicas", columns, rows };
}

/** @type {import("../run.js").Scenario} */
export const replicas = {
  name: "replicas",
  seconds: { full: 80, short: 12 },
  least: MIN_ROUNDS,
  async run(lab) {
    const { table, bars } = await costs(lab);
    return { tables: [table, await handOvers(lab), await together(lab), await updates(lab)], bars };
  },
};
