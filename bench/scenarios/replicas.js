// @ts-check
// Several gateways that share a secret: what that costs a call, what a hand-over costs on both
// sides, how long an update takes to subscribers whose streams are handed over, and how many calls
// two replicas take together. Only with --replicas: the rest of the benchmark knows one gateway.

import { Client } from "../client.js";
import { whole } from "../report.js";
import { httpServer, stdioServer } from "../subjects.js";
import { usageOf } from "../usage.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../lab.js").Cell} Cell */
/** @typedef {import("../lab.js").Sample} Sample */
/** @typedef {import("../subjects.js").Subject} Subject */

const SECRET = "the secret of the benchmark's replicas";
const cluster = { secret: SECRET, listen: "127.0.0.1:0" };
const CONNECTIONS = 16;
const SUBSCRIBERS = 1_000;

/** An address whose sessions are opened at another one. @param {string} url @param {string} home */
function through(url, home) {
  const address = new URL(url);
  address.username = new URL(home).port;
  return address.href;
}

/** @param {Lab} lab */
async function calls(lab) {
  /** @type {{ name: string, cell: Cell }[]} */
  const paths = [];
  for (const era of /** @type {const} */ (["legacy", "modern"])) {
    const servers = { http: httpServer(lab.backendUrl({ tag: `replicas-${era}`, era })) };
    const alone = await lab.goblin({ servers });
    const one = await lab.goblin({ servers, settings: { cluster } });
    const two = await lab.goblin({ servers, settings: { cluster } });
    const load = { era, connections: CONNECTIONS, ask: { kind: /** @type {const} */ ("echo"), tool: "http_echo" } };
    paths.push({ name: `${era}, one gateway`, cell: { subject: alone, load } });
    paths.push({ name: `${era}, a replica, at the owner`, cell: { subject: one, load } });
    if (era === "modern") continue;
    const url = through(two.url, one.url);
    paths.push({ name: "handed over: the replica that got it", cell: { subject: two, load, url } });
    paths.push({ name: "handed over: the owner", cell: { subject: one, load, url } });
  }
  const samples = await lab.compare(paths.map(({ cell }) => cell));
  const rows = paths.map(({ name }, i) => {
    const own = /** @type {Sample} */ (samples[i]);
    return [name, own.perSecond, own.cpuUs, own.p50, own.p99];
  });
  const cpu = (/** @type {string} */ name) =>
    samples[paths.findIndex((path) => path.name === name)]?.cpuUs ?? Number.NaN;
  const bars = ["legacy", "modern"].map((era) => ({
    name: `CPU of a call at a replica against one gateway, ${era}`,
    value: cpu(`${era}, a replica, at the owner`) / cpu(`${era}, one gateway`),
    most: 1.1,
  }));
  await lab.clear();
  const columns = ["path", "calls/s", "CPU µs", "p50 ms", "p99 ms"];
  return { table: { title: `tools/call with replicas, ${CONNECTIONS} connections`, columns, rows }, bars };
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
  seconds: { full: 25, short: 12 },
  async run(lab) {
    const { table, bars } = await calls(lab);
    return { tables: [table, await together(lab), await updates(lab)], bars };
  },
};
