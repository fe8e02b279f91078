// @ts-check
// The cost of a call must not depend on how much there is beside it: 1×, 10× and 100× the backends, the tools, the sessions, the subscriptions.

import { httpServer } from "../subjects.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {{ backends: number, tools: number, sessions: number, subscriptions: number }} World */

/** @type {World} */
const BASE = { backends: 1, tools: 50, sessions: 10, subscriptions: 10 };
// By count, not by time: a process that has seen fewer calls than another is less compiled, and that would look like growth (or hide it).
const WARM_CALLS = 700;
const CALLS = 300;
const LIMIT_MS = 4_000;
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
    return { tables: [{ title: "Growth: tools/call, 16 connections", columns, rows }], bars };
  },
};
