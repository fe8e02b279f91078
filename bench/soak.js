// @ts-check
// A soak: `npm run soak -- --minutes N [--seed N] [--replicas N] [--share all|session] [--known
// kind,…] [--until kind] [--pause MS] [--verbose] [--mutant NAME]`.
//
// The built gateway over servers of both eras on all transports that break at random, with clients
// of all kinds that come and go, a config that changes, restarts and kills. Servers keep a book of
// what they execute, every message carries its owner, and whatever is lost, doubled, foreign or too
// rare fails the run: exit code 1, the reasons, and the seed.

import { parseArgs } from "node:util";
import { createMutant } from "./soak/mutants.js";
import { runSoak } from "./soak/run.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
    /** The number of gateways that share the clients, with a Redis from two on. */
    replicas: { type: "string", default: "1" },
    /**
     * Which servers ask and tell: all, or only those where a stream or a connection of the client's
     * own says whose it is.
     */
    share: { type: "string", default: "all" },
    /** Kinds of problems that are counted and shown, but fail nothing. */
    known: { type: "string", default: "" },
    /** The longest pause of a caller between two calls; longer beside other work. */
    pause: { type: "string" },
    /** Ends as soon as a problem of this kind was found. */
    until: { type: "string" },
    /** Prints every fault as it is put in, and every problem as it is found. */
    verbose: { type: "boolean", default: false },
    /**
     * A fault between clients and gateway, or in the gateway's process, that the soak has to find.
     */
    mutant: { type: "string" },
  },
});
const mb = (/** @type {number} */ bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`;
const percent = (/** @type {number} */ part, /** @type {number} */ of) =>
  `${((100 * part) / Math.max(1, of)).toFixed(1)} %`;
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
  process.once(signal, () => process.exit(130));

const { problems, counts, calmReasons, updates, faults, lives, readings } = await runSoak({
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  replicas: Number(values.replicas),
  share: values.share === "session" ? "session" : "all",
  known: values.known.split(",").filter((kind) => kind !== ""),
  ...(values.pause !== undefined && { pauseMs: Number(values.pause) }),
  ...(values.until !== undefined && { until: values.until }),
  log: console.log,
  ...(values.verbose && { trace: console.log }),
  ...(values.mutant === undefined ? {} : createMutant(values.mutant)),
});

const { before, warm, after, peakRss } = readings;
const judged = counts.ok + counts.refused + counts.cut;
console.log(
  `calls             ${counts.calls} (${counts.ok} with a result, ${counts.refused} refused with a reason, ${counts.cut} cut)`,
);
console.log(
  `success           ${percent(counts.ok, judged)} of all, ${percent(counts.calm - counts.calmFailed, counts.calm)} of ${counts.calm} in calm weather`,
);
const failures = [...calmReasons].sort(([, a], [, b]) => b - a).slice(0, 8);
for (const [reason, count] of failures) console.log(`  ${String(count).padStart(6)} in calm weather: ${reason}`);
console.log(
  `messages          ${counts.progress} progress, ${counts.logs} log, ${counts.questions} questions, ${counts.tasks} tasks`,
);
console.log(`updates           ${updates.updates} of ${updates.changes} changes`);
console.log(`faults survived   ${faults}, and ${lives - 1} ends of the gateway`);
console.log(`lost answers      ${problems.count("lostAnswers")}`);
console.log(`lost updates      ${problems.count("lostUpdates")}`);
console.log(`executed twice    ${problems.count("executedTwice")}`);
console.log(
  `heap              ${mb(before.heap)} at the start, ${mb(warm.heap)} after a quarter of the last life, ${mb(after.heap)} at the end`,
);
console.log(
  `descriptors       ${before.descriptors} at the start, ${after.descriptors} at the end; resident memory at most ${mb(peakRss)}`,
);
for (const line of problems.lines()) console.log(`  ${line}`);
console.log(problems.failed ? `FAILED (seed ${values.seed})` : "passed");
process.exit(problems.failed ? 1 : 0);
