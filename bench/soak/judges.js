// @ts-check
// The judgements over a whole run: how much succeeded, and what the gateway's last life held at its
// end.

const MB = 1_048_576;
/**
 * In calm weather nearly everything succeeds; over all, faults and restarts included, most does.
 */
const CALM_FAILED = 0.01;
const FLOOR = 0.7;
/** If hardly any call met calm weather, the floor above it says nothing. */
const CALM_SHARE = 0.25;
/**
 * What a gateway may hold more at the end of its life than after a quarter of it, when nobody is
 * connected any more.
 */
const HEAP_FACTOR = 1.3;
const HEAP_MB = 6;
/** Connections to servers that are kept for the next client. */
const DESCRIPTORS = 48;
const RSS_MB = 350;

/** @typedef {{ heap: number, descriptors: number, rss: number }} Reading */
/** @typedef {import("./problems.js").Problems} Problems */

/**
 * @param {{ calls: number, ok: number, refused: number, cut: number, calm: number, calmFailed:
 *   number }} counts
 * @param {readonly string[]} failures in calm weather
 * @param {Problems} problems
 */
export function judgeFloor({ ok, refused, cut, calm, calmFailed }, failures, problems) {
  const all = ok + refused + cut;
  const percent = (/** @type {number} */ part, /** @type {number} */ of) =>
    `${((100 * part) / Math.max(1, of)).toFixed(1)} %`;
  if (ok < FLOOR * all)
    problems.add("floor", `only ${percent(ok, all)} of all calls have a result; ${FLOOR * 100} % is the least`);
  if (calm < CALM_SHARE * all) problems.add("floor", `only ${percent(calm, all)} of all calls met calm weather`);
  if (calmFailed > CALM_FAILED * calm) {
    problems.add(
      "floor",
      `${percent(calmFailed, calm)} of the calls in calm weather failed; ${CALM_FAILED * 100} % is the most; the first: ${failures.join("; ")}`,
    );
  }
}

/**
 * What did not take part was not tried.
 * @param {{ progress: number, logs: number, questions: number, tasks: number, updates: number }}
 *   counts
 * @param {Problems} problems
 */
export function judgeParts({ progress, logs, questions, tasks, updates }, problems) {
  for (const [part, count] of Object.entries({ progress, logs, questions, tasks, updates })) {
    if (count === 0) problems.add("floor", `there were no ${part}`);
  }
}

/**
 * @param {{ before: Reading, warm: Reading, after: Reading, peakRss: number }} readings
 * @param {Problems} problems
 * @param {number} [gateways] whose sums the readings are
 */
export function judgeResources({ before, warm, after, peakRss }, problems, gateways = 1) {
  const most = warm.heap * HEAP_FACTOR + HEAP_MB * MB * gateways;
  const mb = (/** @type {number} */ bytes) => `${(bytes / MB).toFixed(1)} MB`;
  if (!(after.heap <= most))
    problems.add("resources", `heap: ${mb(after.heap)} at the end, ${mb(warm.heap)} after a quarter of that life`);
  if (after.descriptors > before.descriptors + DESCRIPTORS * gateways) {
    problems.add(
      "resources",
      `descriptors: ${after.descriptors} at the end without clients, ${before.descriptors} at the start`,
    );
  }
  if (peakRss > RSS_MB * MB * gateways)
    problems.add("resources", `resident memory: ${mb(peakRss)} at its peak; ${RSS_MB * gateways} MB is the most`);
}
