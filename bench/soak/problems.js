// @ts-check
// What went wrong, by kind, with the first few of each in words. A kind that is named as known is
// counted and shown, but fails nothing.

const KEPT = 4;

/** What each kind means, in the order in which they are printed. */
const KINDS = /** @type {const} */ ({
  lostAnswers: "requests without an answer",
  broken: "messages that are no JSON",
  secondAnswers: "answers that nobody waited for",
  foreignAnswers: "answers with somebody else's content",
  executedTwice: "calls that their server executed twice",
  notExecuted: "results of calls that no server executed",
  foreignProgress: "progress of somebody else's call",
  foreignLogs: "log messages of somebody else's call",
  foreignQuestions: "questions of somebody else's call",
  foreignReplies: "questions that were answered by somebody else",
  lostQuestions: "questions in calm weather that did not reach their client, though whose they are is known",
  foreignTasks: "tasks of somebody else",
  foreignUpdates: "updates that were not subscribed to",
  lostUpdates: "changes that a subscriber did not hear of",
  lostProgress: "calls in calm weather whose progress was not complete",
  lostLogs: "calls in calm weather whose log messages were not complete",
  lostSessions: "sessions that a restart ended",
  cutByStop: "calls that ran in a graceful stop and lost their answer",
  misleading: "refusals that are not true",
  internal: "internal errors",
  floor: "too few successes",
  resources: "memory or descriptors grew",
  log: "errors in the gateway's log",
  ending: "not as it should be at the end",
});

/** @typedef {keyof typeof KINDS} Kind */
/** @typedef {ReturnType<typeof createProblems>} Problems */

/**
 * @param {readonly string[]} known
 * @param {(line: string) => void} [trace] hears of each as it is found
 */
export function createProblems(known, trace = () => {}) {
  for (const name of known) if (!Object.hasOwn(KINDS, name)) throw new Error(`--known: there is no kind "${name}"`);
  /** @type {Map<Kind, { count: number, texts: string[] }>} */
  const found = new Map();
  const isKnown = (/** @type {Kind} */ kind) => known.includes(kind);

  return {
    /** @param {Kind} kind @param {string} text */
    add(kind, text) {
      const entry = found.get(kind) ?? { count: 0, texts: [] };
      found.set(kind, entry);
      entry.count++;
      trace(`${Math.round(performance.now())} ms: ${kind}: ${text.slice(0, 1000)}`);
      if (entry.texts.length < KEPT) entry.texts.push(text.slice(0, 1000));
    },
    /** @param {Kind} kind */
    count: (kind) => found.get(kind)?.count ?? 0,
    get failed() {
      return [...found.keys()].some((kind) => !isKnown(kind));
    },
    /** One line for each kind that was found, and the first few of it. */
    lines() {
      return /** @type {Kind[]} */ (Object.keys(KINDS)).flatMap((kind) => {
        const entry = found.get(kind);
        if (!entry) return [];
        const head = `${isKnown(kind) ? "known " : ""}${kind}: ${entry.count} (${KINDS[kind]})`;
        return [head, ...entry.texts.map((text) => `  ${text}`)];
      });
    },
  };
}
