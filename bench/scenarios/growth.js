// @ts-check
// The cost of a call must not depend on how much there is beside it: 1×, 10× and 100× the backends,
// the tools, the sessions, the subscriptions. Nor must the cost of a change in one server's list:
// that part is measured on the catalog alone, which is where the lists are combined.

import { fillerName } from "../backend-answers.js";
import { median } from "../lab.js";
import { whole } from "../report.js";
import { httpServer } from "../subjects.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {{ backends: number, tools: number, sessions: number, subscriptions: number }} World */

/** @type {World} */
const BASE = { backends: 1, tools: 50, sessions: 10, subscriptions: 10 };
// By count, not by time: a process that has seen fewer calls than another is less compiled, and
// that would look like growth (or hide it).
const WARM_CALLS = 600;
const CALLS = 250;
const LIMIT_MS = 4_000;
const CHANGES = 60;
const DIMENSIONS = /** @type {const} */ (["backends", "tools", "sessions", "subscriptions"]);

/** @param {Lab} lab @param {World} world @returns {Promise<import("../lab.js").Cell>} */
async function build(lab, { backends, tools, sessions, subscriptions }) {
  const servers = Object.fromEntries(
    Array.from({ length: backends }, (_, index) => [
      `b${index}`,
      httpServer(lab.backendUrl({ tag: `g${index}`, tools, resources: backends === 1 ? 100 : 10 })),
    ]),
  );
  const goblin = await lab.goblin({ servers });
  const crowd = { url: goblin.url, era: "legacy", streams: true };
  const each = subscriptions / BASE.sessions;
  await lab.generator.prepare("sessions", { ...crowd, count: BASE.sessions, subscriptions: each });
  if (sessions > BASE.sessions) await lab.generator.prepare("sessions", { ...crowd, count: sessions - BASE.sessions });
  return {
    subject: goblin,
    load: {
      era: "legacy",
      connections: 16,
      count: CALLS,
      ask: { kind: "echo", tool: goblin.tool(`b${backends - 1}`, "echo") },
    },
  };
}

/**
 * The milliseconds that the catalog needs when one server of 50 tools changes among this many
 * others.
 * @param {number} servers
 */
async function changeMs(servers) {
  const { Catalog } = await import("../../dist/upstream/catalog/catalog.js");
  const { emptyLists } = await import("../../dist/upstream/catalog/definitions.js");
  const { readPage } = await import("../../dist/upstream/catalog/sync/read-page.js");
  const own = { allow: ["*"], deny: [], overrides: {} };
  /** @type {import("../../dist/upstream/catalog/snapshot.js").SnapshotSettings} */
  const settings = {
    maxNameLength: 64,
    uris: "prefixed",
    pageSize: 100,
    local: [],
    exposure: { mode: "all", budgetTokens: 0 },
  };
  const catalog = new Catalog(settings);
  const listOf = async (/** @type {number} */ server, /** @type {number} */ version) => {
    const tools = Array.from({ length: BASE.tools }, (_, n) => ({
      name: fillerName(n),
      description: `Version ${version} of server ${server}`,
      inputSchema: { type: "object" },
    }));
    return { ...emptyLists, tools: (await readPage(JSON.stringify({ tools }), "tools", 1_000_000)).definitions };
  };
  for (let server = 0; server < servers; server += 1) {
    catalog.put({ id: `s${server}`, prefix: `s${server}_`, tools: own });
    catalog.update(`s${server}`, await listOf(server, 0));
  }
  await catalog.caughtUp();
  let tools = catalog.snapshot.pagers.tools.entries.length;
  if (tools !== servers * BASE.tools) throw new Error(`${tools} tools instead of ${servers * BASE.tools}`);
  const times = [];
  for (let version = 1; version <= CHANGES; version += 1) {
    const lists = await listOf(0, version);
    await new Promise(setImmediate);
    const began = performance.now();
    catalog.update("s0", lists);
    await catalog.caughtUp();
    tools = catalog.snapshot.pagers.tools.entries.length;
    times.push(performance.now() - began);
  }
  return median(times);
}

async function changes() {
  await changeMs(1);
  const rows = [];
  for (const times of [1, 10, 100]) {
    const ms = await changeMs(times);
    rows.push([whole(times * BASE.tools), ms, ms / Number(rows[0]?.[1] ?? ms)]);
  }
  return { title: "Growth: one server's list of 50 tools changes", columns: ["tools in all", "ms", "ratio"], rows };
}

/** @type {import("../run.js").Scenario} */
export const growth = {
  name: "growth",
  seconds: { full: 15, short: 0 },
  async run(lab) {
    const worlds = [
      BASE,
      ...DIMENSIONS.flatMap((key) => [10, 100].map((times) => ({ ...BASE, [key]: BASE[key] * times }))),
    ];
    const cells = await Promise.all(worlds.map((world) => build(lab, world)));
    const samples = await lab.compare(cells, { warmCalls: WARM_CALLS, limit: LIMIT_MS, duration: LIMIT_MS });
    const [base, ...grown] = samples.map((sample) => sample.cpuUs);
    /** @type {import("../report.js").Bar[]} */
    const bars = [];
    const rows = DIMENSIONS.map((key, index) => {
      const [ten = NaN, hundred = NaN] = grown.slice(2 * index, 2 * index + 2);
      const one = base ?? NaN;
      bars.push({ name: `a call with 100 × the ${key}`, value: hundred / one, most: 1.2 });
      return [`${key} (1× = ${BASE[key]})`, one, ten, hundred, ten / one, hundred / one];
    });
    const columns = ["of", "CPU µs, 1×", "10×", "100×", "10× ratio", "100× ratio"];
    const calls = { title: "Growth: tools/call, 16 connections", columns, rows };
    return { tables: lab.isGoblin ? [calls, await changes()] : [calls], bars };
  },
};
