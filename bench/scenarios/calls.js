// @ts-check
// Small tool calls, what a gateway does most: Goblin over HTTP and stdio backends beside the
// backend itself, the raw proxy and (in the legacy era, which it knows) the SDK glue; at 1, 16 and
// 64 connections, in both eras.

import { Skip } from "../lab.js";
import { httpServer, stdioServer } from "../subjects.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../lab.js").Cell} Cell */
/** @typedef {import("../lab.js").Sample} Sample */
/** @typedef {{ path: string, cell: Cell }} Path */

const COLUMNS = [
  "path",
  "connections",
  "calls/s",
  "× proxy",
  "CPU µs",
  "× proxy",
  "p50 ms",
  "added",
  "p99 ms",
  "added",
];

/** @param {Lab} lab @param {import("../client.js").Era} era @returns {Promise<Path[]>} */
async function paths(lab, era) {
  const direct = lab.backendUrl({ tag: "calls", era });
  /** @param {Cell["subject"]} subject @param {string} tool @returns {Cell} */
  const cell = (subject, tool) => ({ subject, load: { era, connections: 16, ask: { kind: "echo", tool } } });
  const proxy = await lab.beside("proxy", direct);
  /** @type {Path[]} */
  const list = [
    { path: "direct", cell: { ...cell(lab.backends, "echo"), url: direct } },
    { path: "proxy", cell: cell(proxy, "echo") },
  ];

  const http = httpServer(direct);
  const servers = lab.isGoblin ? { http, stdio: stdioServer({ era, tag: "stdio" }) } : { http };
  const goblin = await lab.goblin({ servers });
  for (const server of Object.keys(servers)) {
    list.push({ path: `${goblin.name}, ${server}`, cell: cell(goblin, goblin.tool(server, "echo")) });
  }
  if (era === "legacy") list.push({ path: "SDK glue", cell: cell(await lab.beside("glue", direct), "echo") });
  return list;
}

/** @param {Lab} lab @param {import("../client.js").Era} era */
async function runEra(lab, era) {
  /** @type {Path[]} */
  const usable = [];
  const notes = [];
  for (const path of await paths(lab, era)) {
    const refusal = await lab.refusal(path.cell);
    if (refusal === undefined) usable.push(path);
    else notes.push(`${path.path}: skipped: ${refusal}`);
    // The one thing that every version of the gateway can do: here a refusal is an answer that is
    // wrong.
    if (refusal !== undefined && era === "legacy") lab.wrong.push(`${path.path}: ${refusal}`);
  }
  for (const { path, cell } of usable) await lab.warm(cell, path === "SDK glue" ? 250 : 3_000, lab.short ? 500 : 2_000);
  // The glue is two orders of magnitude away; one number of connections shows that.
  const connectionCounts = !lab.short ? [1, 16, 64] : era === "legacy" ? [1, 16] : [16];
  // Opening connections to the backend is no part of a call: as many as will be used are there
  // before.
  const connections = Math.max(...connectionCounts);
  for (const { path, cell } of usable) {
    if (connections > 16 && path !== "SDK glue")
      await lab.warm({ ...cell, load: { ...cell.load, connections } }, 1_000);
  }
  const plan = connectionCounts.flatMap((connections) =>
    usable
      .filter(({ path }) => path !== "SDK glue" || connections === 16)
      .map(({ path, cell }) => ({ path, connections, cell: { ...cell, load: { ...cell.load, connections } } })),
  );
  const samples = await lab.compare(plan.map(({ cell }) => cell));
  /** @param {string} path @param {number} connections @returns {Sample | undefined} */
  const find = (path, connections) =>
    samples[plan.findIndex((it) => it.path === path && it.connections === connections)];
  const rows = plan.map(({ path, connections }, index) => {
    const own = /** @type {Sample} */ (samples[index]);
    const proxy = /** @type {Sample} */ (find("proxy", connections));
    const direct = /** @type {Sample} */ (find("direct", connections));
    return [
      path,
      String(connections),
      own.perSecond,
      own.perSecond / proxy.perSecond,
      own.cpuUs,
      own.cpuUs / proxy.cpuUs,
      own.p50,
      own.p50 - direct.p50,
      own.p99,
      own.p99 - direct.p99,
    ];
  });
  await lab.clear();
  return { table: { title: `tools/call, small, ${era} era`, columns: COLUMNS, rows, notes }, bars: bars(era, find) };
}

/** @param {string} era @param {(path: string, connections: number) => Sample | undefined} find */
function bars(era, find) {
  /** @type {import("../report.js").Bar[]} */
  const list = [];
  for (const connections of [16, 64]) {
    const proxy = find("proxy", connections);
    const http = find("goblin, http", connections);
    const stdio = find("goblin, stdio", connections);
    const at = `${era}, ${connections} connections`;
    if (proxy && http) {
      list.push({
        name: `HTTP calls/s against the proxy, ${at}`,
        value: http.perSecond / proxy.perSecond,
        least: connections === 16 ? 0.85 : 0.75,
      });
      list.push({ name: `HTTP CPU against the proxy, ${at}`, value: http.cpuUs / proxy.cpuUs, most: 1.25 });
    }
    if (proxy && stdio) {
      list.push({
        name: `stdio calls/s against the proxy, ${at}`,
        value: stdio.perSecond / proxy.perSecond,
        least: 1.3,
      });
      list.push({ name: `stdio CPU against the proxy, ${at}`, value: stdio.cpuUs / proxy.cpuUs, most: 0.75 });
    }
    const glue = find("SDK glue", connections);
    if (glue && http)
      list.push({ name: `times less CPU than the SDK glue, ${at}`, value: glue.cpuUs / http.cpuUs, least: 15 });
  }
  const [direct, proxy, http] = [find("direct", 1), find("proxy", 1), find("goblin, http", 1)];
  if (direct && proxy && http) {
    const value = (http.p50 - direct.p50) / (proxy.p50 - direct.p50);
    list.push({ name: `added p50 against what the proxy adds, ${era}, 1 connection`, value, most: 1.5 });
  }
  return list;
}

/** @type {import("../run.js").Scenario} */
export const calls = {
  name: "calls",
  least: 3,
  seconds: { full: 29, short: 14 },
  async run(lab) {
    const legacy = await runEra(lab, "legacy");
    try {
      const modern = await runEra(lab, "modern");
      return { tables: [legacy.table, modern.table], bars: [...legacy.bars, ...modern.bars] };
    } catch (error) {
      if (!(error instanceof Skip)) throw error;
      await lab.clear();
      return {
        tables: [{ ...legacy.table, notes: [...legacy.table.notes, `modern era: skipped: ${error.message}`] }],
        bars: legacy.bars,
      };
    }
  },
};
