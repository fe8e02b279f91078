// @ts-check
// Resident memory: idle with 1, 10 and 100 backends, and with sessions. What a session costs is
// taken from the second half of a thousand: the first also makes the heap grow to its working size.

import { pause } from "../lab.js";
import { number, whole } from "../report.js";
import { httpServer } from "../subjects.js";
import { usageOf } from "../usage.js";

/** @typedef {import("../lab.js").Lab} Lab */

const SESSIONS = 500;

/** @param {Lab} lab @param {number} count */
function withBackends(lab, count) {
  const servers = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `b${index}`,
      httpServer(lab.backendUrl({ tag: `m${index}`, tools: 10, resources: 10 })),
    ]),
  );
  return lab.goblin({ servers });
}

/** @param {import("../subjects.js").Subject} subject */
const megabytes = async (subject) => (await usageOf(subject.child)).rssBytes / 1e6;

/** @type {import("../run.js").Scenario} */
export const memory = {
  name: "memory",
  seconds: { full: 8, short: 1.5 },
  async run(lab) {
    const counts = !lab.isGoblin ? [1] : lab.short ? [1, 10] : [1, 10, 100];
    const proxy = await lab.beside("proxy", lab.backendUrl({ tag: "m0" }));
    const subjects = await Promise.all(counts.map((count) => withBackends(lab, count)));
    await pause(lab.short ? 400 : 700);
    const sizes = await Promise.all(subjects.map(megabytes));
    const rows = [["raw proxy, idle", await megabytes(proxy), ""]];
    const [idle = 0] = sizes;
    counts.forEach((count, index) => {
      const each = count === 1 ? "" : `${number(((sizes[index] ?? 0) - idle) / (count - 1))} MB each`;
      rows.push([`idle, ${count} backend${count === 1 ? "" : "s"}`, sizes[index] ?? 0, each]);
    });
    /** @type {import("../report.js").Bar[]} */
    const bars = [{ name: "idle memory", value: idle, most: 90, unit: " MB" }];
    const last = counts.at(-1) ?? 1;
    // Ten backends are lost in the noise of a heap.
    if (last === 100)
      bars.push({
        name: "memory for each backend",
        value: ((sizes.at(-1) ?? 0) - idle) / (last - 1),
        most: 1,
        unit: " MB",
      });

    const [small] = subjects;
    if (small && !lab.short) {
      for (const streams of [false, true]) {
        const what = streams ? "sessions with open streams" : "idle sessions";
        /** @type {number[]} */
        const readings = [];
        const crowds = [];
        for (let batch = 0; batch < 2; batch += 1) {
          const crowd = await lab.generator.prepare("sessions", {
            url: small.url,
            era: "legacy",
            count: SESSIONS,
            streams,
          });
          crowds.push(crowd);
          await pause(200);
          readings.push(await megabytes(small));
        }
        const [first = 0, second = 0] = readings;
        const each = ((second - first) * 1000) / SESSIONS;
        rows.push([`${whole(2 * SESSIONS)} ${what}`, second, `${number(each)} kB each`]);
        if (!streams) bars.push({ name: "memory for each idle session", value: each, most: 20, unit: " kB" });
        await Promise.all(crowds.map((crowd) => crowd.close()));
      }
    }
    return { tables: [{ title: "Memory (resident)", columns: ["state", "MB", "more"], rows }], bars };
  },
};
