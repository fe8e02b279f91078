// @ts-check
// The backend fuzzer: hostile servers of every kind answer calls in every shape, while an honest
// server is called through the same clients.
//
// For each case: the hostile call gets one answer, in valid JSON, that is its own or an error; the
// honest call next to it gets its own; and the hostile server is served again afterwards.

import { hostileCase } from "./backend-cases.js";
import { openClients } from "./clients.js";
import {
  alive,
  answered,
  noInternalError,
  noServerError,
  ownAnswers,
  ownResult,
  served,
  validJson,
  withinBounds,
} from "./judges.js";

/** @typedef {import("./gateway.js").Kind} Kind */
/** @typedef {import("./clients.js").Client} Client */
/** @typedef {import("./judges.js").Seen} Seen */
/** @typedef {import("./judges.js").Verdict} Verdict */
/** @typedef {import("./run.js").Run} Run */

/** Calls of a hostile server may end with their time limit; the shorter it is, the more cases. */
const timeoutMs = 3000;
/** @type {Record<string, Kind>} */
const hostile = {};
for (const copy of ["a", "b"]) {
  hostile[`pipe${copy}`] = { transport: "stdio", era: "legacy", timeoutMs };
  hostile[`newpipe${copy}`] = { transport: "stdio", era: "modern", timeoutMs };
  hostile[`web${copy}`] = { transport: "http", era: "legacy", timeoutMs };
  hostile[`newweb${copy}`] = { transport: "http", era: "modern", timeoutMs };
  hostile[`stream${copy}`] = { transport: "sse", era: "legacy", timeoutMs };
}
export const backendKinds = {
  bank: { transport: /** @type {const} */ ("stdio"), era: /** @type {const} */ ("legacy") },
  ...hostile,
};
const MEND_TRIES = 40;
const MEND_PAUSE_MS = 250;

/** @param {Run} run */
export async function fuzzBackend(run) {
  const before = run.target.usage();
  const names = Object.keys(hostile);
  await Promise.all(names.map((server, n) => attack(run, server, n, names.length)));
  run.judge(-1, "at the end", withinBounds(run.target.usage(), before));
}

/** @param {Run} run @param {string} server @param {number} first @param {number} step */
async function attack(run, server, first, step) {
  const clients = await openClients(run.target.url);
  const { transport } = /** @type {Kind} */ (hostile[server]);
  for (let index = first; run.goesOn(index); index += step) {
    if (run.only !== undefined && index !== run.only) continue;
    const client = /** @type {Client} */ (clients[Math.floor(index / step) % clients.length]);
    const said = hostileCase({ seed: run.seed, index, transport, mark: markOf(index) });
    const story = `${said.what}, from ${server} to the client "${client.kind}"`;
    try {
      await oneCase(run, { index, story, said, client, server });
      run.judge(index, `${story}, and then`, await mended(run, clients[0], server));
    } catch (error) {
      run.judge(index, story, `cannot be judged: ${error}`);
    }
    run.done();
  }
  for (const client of clients) await client.close();
}

/**
 * @param {Run} run
 * @param {{ index: number, story: string, said: import("./backend-cases.js").Hostile, client:
 * Client, server: string }} of
 */
async function oneCase(run, { index, story, said, client, server }) {
  // Small ids, as real clients have them: a server can guess them.
  const ids = /** @type {[number, number]} */ ([1 + ((index * 2) % 8), 2 + ((index * 2) % 8)]);
  const bank = `{"fuzz":"${index}","waitMs":${index % 3 === 0 ? 20 : 0},"end":"${index}"}`;
  const { how, close = false } = said;
  const seen = await client.call([
    { id: ids[0], name: "bank_echo", args: bank },
    { id: ids[1], name: `${server}_say`, args: JSON.stringify({ say: said.bytes.toString("base64"), how, close }) },
  ]);
  const theirs = only(seen, ids[1]);
  const verdicts = [
    alive(run.target.ended()),
    answered(seen),
    noServerError(seen),
    validJson(seen),
    ownAnswers(seen, ids),
    noInternalError(seen),
    served(only(seen, ids[0]), bank),
    ownResult(theirs, markOf(index), server),
    // What is right has to be passed on.
    said.good ? served(theirs, markOf(index)) : undefined,
  ];
  for (const verdict of verdicts) run.judge(index, story, verdict);
}

/** What every right answer to this case has in it. @param {number} index */
function markOf(index) {
  return `mark-${index}-`;
}

/**
 * Whether the server is served again.
 * @param {Run} run
 * @param {Client | undefined} client
 * @param {string} server
 * @returns {Promise<Verdict>}
 */
async function mended(run, client, server) {
  /** @type {Verdict} */
  let verdict = "no client";
  for (let tries = 0; client && verdict !== undefined && tries < MEND_TRIES; tries++) {
    // What was not right at once may be when the time is up.
    if (tries > 0 && !run.goesOn(0)) return undefined;
    if (tries > 0) await new Promise((go) => setTimeout(go, MEND_PAUSE_MS));
    const args = `{"fuzz":"7","end":"7"}`;
    verdict = served(await client.call([{ id: 900 + tries, name: `${server}_echo`, args }]), args);
  }
  return verdict;
}

/** What came back for one of the calls. @param {Seen} seen @param {number} id @returns {Seen} */
function only(seen, id) {
  const messages = seen.messages
    .flatMap((text) => {
      try {
        const value = JSON.parse(text);
        return Array.isArray(value) ? value : [value];
      } catch {
        return [];
      }
    })
    .filter((message) => message?.id === id && !("method" in message))
    .map((message) => JSON.stringify(message));
  return { ...seen, messages };
}
