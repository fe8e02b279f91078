// @ts-check
// The closed loop: N connections, each sends its next request when the answer to the last one has
// come and was found right. All connections (and sessions) are open before the first request
// leaves: `start` is the barrier. Bounded by time or by count, and in any case by a grace period
// after which missing answers count as wrong.

import { Client } from "./client.js";
import { createKind } from "./requests.js";

/**
 * @typedef {object} LoadJob
 * @property {string} url
 * @property {import("./client.js").Era} era
 * @property {number} connections
 * @property {number} [durationMs]
 * @property {number} [count] Requests in all; what comes first of this and `durationMs` ends the
 *   run.
 * @property {import("./requests.js").Ask} ask
 */
/**
 * @typedef {{ requests: number, elapsedMs: number, perSecond: number, p50: number, p99: number,
 *   wrong: number, refused: number, firstWrong?: string }} LoadResult
 */

const GRACE_MS = 10_000;
const ENOUGH_WRONG = 100;
/** Ids start high so that all have the same number of digits. */
const FIRST_ID = 1_000_000;

let issued = 0;

/** @param {Float64Array} sorted @param {number} share */
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** @param {LoadJob} job */
export async function prepareLoad(job) {
  const kind = createKind(job.ask);
  const clients = await openClients(job);
  return {
    start: () => run(job, kind, clients),
    close: () => {
      for (const client of clients) client.close();
    },
  };
}

/** @param {LoadJob} job */
async function openClients({ url, era, connections }) {
  const results = await Promise.allSettled(Array.from({ length: connections }, () => Client.open(url, era)));
  const clients = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const refused = results.find((result) => result.status === "rejected");
  if (!refused) return clients;
  for (const client of clients) client.close();
  throw refused.reason;
}

/**
 * @param {LoadJob} job
 * @param {import("./requests.js").Kind} kind
 * @param {Client[]} clients
 * @returns {Promise<LoadResult>}
 */
function run({ durationMs = Infinity, count = Infinity }, kind, clients) {
  return new Promise((resolve) => {
    /** @type {number[]} */
    const latencies = [];
    let sent = 0;
    let wrong = 0;
    let refused = 0;
    let active = clients.length;
    /** @type {string | undefined} */
    let firstWrong;
    const began = performance.now();
    const deadline = began + durationMs;
    const limit = Math.min(durationMs, 60_000) + GRACE_MS;
    const watchdog = setTimeout(() => finish(`${active} answers missing after ${limit} ms`), limit);

    /** @param {string} [missing] */
    function finish(missing) {
      clearTimeout(watchdog);
      if (missing !== undefined) {
        wrong += active;
        firstWrong ??= missing;
        for (const client of clients) client.close();
      }
      const elapsedMs = performance.now() - began;
      const sorted = Float64Array.from(latencies).sort();
      const requests = latencies.length;
      const perSecond = (requests / elapsedMs) * 1000;
      const result = {
        requests,
        elapsedMs,
        perSecond,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
        wrong,
        refused,
      };
      resolve(firstWrong === undefined ? result : { ...result, firstWrong });
    }

    /** @param {Client} client @param {boolean} numeric */
    function next(client, numeric) {
      const at = performance.now();
      if (at >= deadline || sent >= count || wrong >= ENOUGH_WRONG) return stop();
      sent += 1;
      issued += 1;
      const n = issued;
      const id = numeric ? FIRST_ID + n : `id-${n}`;
      client.connection.send(kind.write(client, id, n), (answer) => {
        latencies.push(performance.now() - at);
        const problem = kind.check(answer, id, n);
        if (problem !== undefined) {
          wrong += 1;
          if (problem.refused) refused += 1;
          firstWrong ??= problem.text;
        }
        if (answer.error === undefined) next(client, numeric);
        else stop();
      });
    }

    function stop() {
      active -= 1;
      if (active === 0) finish();
    }

    // Every other client uses string ids, as some real ones do.
    clients.forEach((client, index) => {
      next(client, kind.numericIds || index % 2 === 0);
    });
  });
}
