// @ts-check
// What a scenario works with: the processes it may start (all stopped when the scenario ends), one
// measurement, and rounds of them interleaved, so that a slow second of the machine hits everybody.
// Wrong answers are remembered; times never fail a run.

import { forkGenerator } from "./generator.js";
import { startBackends, startBeside, startBuffer, startGoblin } from "./subjects.js";
import { usageOf } from "./usage.js";

/** @typedef {import("./subjects.js").Subject} Subject */
/** @typedef {import("./subjects.js").Setup} Setup */
/** @typedef {import("./load-loop.js").LoadJob} LoadJob */
/**
 * `mainUs`: the main thread's part of `cpuUs`; NaN where the system does not tell.
 * @typedef {{ perSecond: number, cpuUs: number, mainUs: number, p50: number, p99: number }} Sample
 */
/** @typedef {{ subject: Subject, load: Omit<LoadJob, "url" | "durationMs">, url?: string }} Cell */
/** @typedef {{ short: boolean, bin: string, subject: string, wrong: string[] }} LabOptions */
/** @typedef {Awaited<ReturnType<typeof createLab>>} Lab */

/** A scenario that cannot run here throws this; the run prints why and goes on. */
export class Skip extends Error {}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {LabOptions} options */
export async function createLab({ short, bin, subject, wrong }) {
  const generator = forkGenerator();
  const backends = await startBackends();
  /** @type {Subject[]} */
  let started = [];
  const cellMs = short ? 130 : 180;

  /** @param {Promise<Subject>} starting */
  async function keep(starting) {
    const it = await starting;
    started.push(it);
    return it;
  }

  /**
   * @param {Subject} it
   * @param {Omit<LoadJob, "url">} load
   * @param {string} [url]
   * @returns {Promise<Sample>}
   */
  async function measure(it, load, url = it.url) {
    const job = await generator.prepare("load", { ...load, url });
    try {
      const before = await usageOf(it.child);
      const result = await job.start();
      const after = await usageOf(it.child);
      if (result.wrong > 0)
        wrong.push(`${it.name}, ${load.ask.kind}: ${result.wrong} wrong, the first: ${result.firstWrong}`);
      const { perSecond, p50, p99, requests } = result;
      const cpuUs = (after.cpuUs - before.cpuUs) / Math.max(1, requests);
      const mainUs = ((after.mainUs ?? NaN) - (before.mainUs ?? NaN)) / Math.max(1, requests);
      return { perSecond, p50, p99, cpuUs, mainUs };
    } finally {
      await job.close();
    }
  }

  /** @param {Cell} cell @param {number} count @param {number} limit In milliseconds. */
  async function warm({ subject: it, load, url }, count, limit = short ? 500 : 1_200) {
    await measure(it, { ...load, count, durationMs: limit }, url);
  }

  return {
    short,
    rounds: 3,
    /** How many processes of a gateway are measured, where that counts. */
    starts: 1,
    generator,
    backends,
    wrong,
    bin,
    isGoblin: subject === "goblin",

    /**
     * The address of a backend of the given kind.
     * @param {Record<string, string | number>} options
     */
    backendUrl: (options) =>
      `${backends.url}?${new URLSearchParams(Object.entries(options).map(([k, v]) => [k, String(v)]))}`,

    /** The system under test: Goblin, or what was asked to stand in for it. @param {Setup} setup */
    async goblin(setup) {
      if (subject === "goblin") {
        try {
          return await keep(startGoblin(bin, setup));
        } catch (error) {
          throw new Skip(`Goblin does not start: ${error instanceof Error ? error.message : error}`);
        }
      }
      const [server, ...more] = Object.values(setup.servers);
      if (!server || !("url" in server) || more.length > 0) throw new Skip(`the ${subject} has one HTTP backend only`);
      return keep(startBeside(/** @type {"proxy" | "glue"} */ (subject), server.url));
    },
    /** @param {"proxy" | "glue"} name @param {string} target */
    beside: (name, target) => keep(startBeside(name, target)),
    /** @param {Buffer} bytes */
    buffer: (bytes) => keep(startBuffer(bytes)),
    /** @param {Subject} it */
    async stop(it) {
      started = started.filter((other) => other !== it);
      await it.stop();
    },

    measure,
    warm,

    /**
     * One request, to see whether the subject can do it at all: why not, if it says no. An answer
     * that is wrong is remembered as such.
     * @param {Cell} cell @returns {Promise<string | undefined>}
     */
    async refusal({ subject: it, load, url = it.url }) {
      try {
        const job = await generator.prepare("load", { ...load, url, connections: 1, count: 1 });
        const result = await job.start();
        await job.close();
        if (result.wrong > result.refused) wrong.push(`${it.name}, ${load.ask.kind}: ${result.firstWrong}`);
        return result.wrong > 0 ? result.firstWrong : undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },

    /**
     * Warms up every cell, then measures all of them round by round, every other round backwards,
     * so that nobody always comes after the same neighbour. Warm-up is by count, within a limit of
     * time: half-compiled code is no measure of anything.
     * @param {Cell[]} cells @returns {Promise<Sample[]>}
     */
    async compare(cells, { warmCalls = 0, duration = cellMs, limit = short ? 500 : 1_200 } = {}) {
      if (warmCalls > 0) for (const cell of cells) await warm(cell, warmCalls, limit);
      /** @type {Sample[][]} */
      const samples = cells.map(() => []);
      for (let round = 0; round < this.rounds; round += 1) {
        const order = [...cells.entries()];
        if (round % 2 === 1) order.reverse();
        for (const [index, { subject: it, load, url }] of order) {
          samples[index]?.push(await measure(it, { ...load, durationMs: duration }, url));
        }
      }
      return samples.map((list) => ({
        perSecond: median(list.map((sample) => sample.perSecond)),
        cpuUs: median(list.map((sample) => sample.cpuUs)),
        mainUs: median(list.map((sample) => sample.mainUs)),
        p50: median(list.map((sample) => sample.p50)),
        p99: median(list.map((sample) => sample.p99)),
      }));
    },

    /** Ends what the scenario has started. */
    async clear() {
      const list = started;
      started = [];
      await Promise.all(list.map((it) => it.stop()));
    },
    async close() {
      await this.clear();
      await backends.stop();
      generator.stop();
    },
  };
}
