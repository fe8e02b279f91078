// @ts-check
// The front fuzzer: clients that send anything at all, while an honest client makes its calls
// beside them.
//
// Every request is answered, under its own id, in valid JSON, without a server error; arguments
// reach the server and come back as the bytes they were; the honest client is always served; the
// process lives, and what it uses is bounded.

import { openClients, openSession } from "./clients.js";
import { frontCase } from "./front-cases.js";
import {
  alive,
  answered,
  lossless,
  noInternalError,
  noServerError,
  ownAnswers,
  served,
  validJson,
  withinBounds,
} from "./judges.js";
import { send, sendRaw } from "./wire.js";

/** @typedef {import("./run.js").Run} Run */

export const frontKinds = {
  honest: { transport: /** @type {const} */ ("stdio"), era: /** @type {const} */ ("legacy") },
  web: { transport: /** @type {const} */ ("http"), era: /** @type {const} */ ("modern") },
};
const WORKERS = 6;
const HONEST_EVERY_MS = 40;
/** What was cut off needs a moment to be cleared away. */
const SETTLE_MS = 1500;

/** @param {Run} run */
export async function fuzzFront(run) {
  const { url } = run.target;
  const sessions = { newest: await openSession(url, "2025-11-25"), batches: await openSession(url, "2025-03-26") };
  const clients = await openClients(url);
  const before = run.target.usage();
  let over = false;
  const beside = besides(run, clients, () => over);
  await Promise.all(Array.from({ length: WORKERS }, (_, n) => work(run, sessions, n)));
  over = true;
  await beside;
  for (const client of clients) await client.close();
  await new Promise((go) => setTimeout(go, SETTLE_MS));
  run.judge(-1, "at the end", alive(run.target.ended()));
  run.judge(-1, "at the end", withinBounds(run.target.usage(), before));
}

/** @param {Run} run @param {import("./front-cases.js").Sessions} sessions @param {number} first */
async function work(run, sessions, first) {
  const { origin } = new URL(run.target.url);
  const own = Object.values(sessions).map((headers) => headers["mcp-session-id"]);
  for (let index = first; run.goesOn(index); index += WORKERS) {
    if (run.only !== undefined && index !== run.only) continue;
    const made = frontCase({ seed: run.seed, index, sessions });
    const story = `${made.kind}: ${made.what.slice(0, 1500)}`;
    try {
      const seen = made.sent ? await send(origin, made.sent) : await sendRaw(origin, made.raw ?? Buffer.alloc(0));
      for (const verdict of verdictsOn(made, seen, run.target.ended())) run.judge(index, story, verdict);
      await endSession(origin, seen, own);
    } catch (error) {
      run.judge(index, story, `cannot be judged: ${error}`);
    }
    run.done();
  }
}

/**
 * @param {import("./front-cases.js").FrontCase} made
 * @param {import("./judges.js").Seen} seen
 * @param {string | undefined} ended
 */
function verdictsOn({ raw, ids, lossless: args, api }, seen, ended) {
  return [
    alive(ended),
    // A malformed request may be refused by closing the connection.
    answered(seen, { mayClose: raw !== undefined }),
    api ? undefined : noServerError(seen),
    validJson(seen),
    noInternalError(seen),
    ids && ownAnswers(seen, ids),
    args === undefined ? undefined : lossless(seen, args),
  ];
}

/**
 * The sessions that a case opened would add up.
 * @param {string} origin
 * @param {import("./wire.js").Answer} seen
 * @param {unknown[]} own
 */
async function endSession(origin, { headers }, own) {
  const session = headers["mcp-session-id"];
  if (typeof session !== "string" || own.includes(session)) return;
  await send(origin, { method: "DELETE", path: "/mcp", headers: { "mcp-session-id": session } });
}

/**
 * @param {Run} run
 * @param {readonly import("./clients.js").Client[]} clients
 * @param {() => boolean} isOver
 */
async function besides(run, clients, isOver) {
  for (let n = 0; !isOver(); n++) {
    const client = /** @type {import("./clients.js").Client} */ (clients[n % clients.length]);
    const args = `{"fuzz":"${n}","end":"${n}"}`;
    const name = n % 2 === 0 ? "honest_echo" : "web_echo";
    run.judge(-1, `the honest client "${client.kind}"`, served(await client.call([{ id: n, name, args }]), args));
    await new Promise((go) => setTimeout(go, HONEST_EVERY_MS));
  }
}
