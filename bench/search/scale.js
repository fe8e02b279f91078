// Ten thousand made-up tools of two hundred servers: how long the index takes to build, how long it
// keeps the event loop from anything else while it does, and how long queries take, on the settled
// index and while all is pending. The entries come from a seeded generator, so that every run
// measures the same.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const VERBS = "get list create update delete search find send read write run start stop move copy merge export";
const NOUNS =
  "issue task page file folder commit branch message channel user team project card board table record document query " +
  "index cluster pod node deployment service log metric alert dashboard chart image screenshot browser tab element " +
  "form location route place weather forecast invoice payment customer order product cart ticket comment label";
const SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo za bra cle dri flo gru sta tre pli".split(
  " ",
);
const VOCABULARY = 4_000;
const FLATTEN = 30;

/**
 * Words by how common they are: English ones first, made-up ones after them. Drawn by the
 * Zipf-Mandelbrot law they occur about as often as in real tools: the most common one in a third of
 * the entries, the thousandth in a hundredth.
 */
function createLanguage(random) {
  const words = `${VERBS} ${NOUNS}`.split(" ");
  while (words.length < VOCABULARY) {
    words.push(Array.from({ length: 3 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join(""));
  }
  const word = () => words[Math.floor(FLATTEN * ((VOCABULARY + FLATTEN) / FLATTEN) ** random() - FLATTEN)];
  return { word, sentence: (length) => Array.from({ length }, word).join(" ") };
}

/** Documents by server id. */
export function syntheticServers(count, perServer = 50) {
  const { word, sentence } = createLanguage(seeded(42));
  const servers = new Map();
  for (let at = 0; at < count; at++) {
    const serverId = `server${Math.floor(at / perServer)}`;
    const originalName = `${word()}_${word()}_${word()}_${at}`;
    const doc = {
      key: `tool:${serverId}:${originalName}`,
      kind: "tool",
      name: `${serverId}_${originalName}`,
      originalName,
      serverId,
      description: `${sentence(10)}. ${sentence(25)}`,
      args: Array.from({ length: 4 }, () => ({ name: `${word()}Id`, description: sentence(6) })),
    };
    servers.set(serverId, [...(servers.get(serverId) ?? []), doc]);
  }
  // Through JSON, as from a backend: strings that were put together here would be slower to read
  // for the first time.
  return new Map(JSON.parse(JSON.stringify([...servers])));
}

/** What making up the entries left behind is not the index's. */
function collectGarbage() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

/** Prints the measurements; `createSearchIndex` is the one under test. */
export async function benchScale(createSearchIndex, { entries = 10_000, log }) {
  const servers = syntheticServers(entries);
  collectGarbage();
  const index = createSearchIndex();

  const beats = heartbeat();
  await beats.next();
  const started = performance.now();
  let queueing = 0;
  for (const [serverId, docs] of servers) {
    queueing += timed(() => index.replaceServer(serverId, docs));
    await beats.next();
  }
  await index.settled();
  const built = performance.now();
  const blocked = beats.stop();

  const unsettled = createSearchIndex();
  for (const [serverId, docs] of servers) unsettled.replaceServer(serverId, docs);
  const pending = timed(() => unsettled.search("create a new issue", { kind: "tool", limit: 10 }));
  unsettled.close();

  const { word } = createLanguage(seeded(7));
  const times = [];
  for (let at = 0; at < 600; at++) {
    const typo = at % 10 === 0 ? "serch " : "";
    const query = `how do I ${typo}${word()} the ${word()} of a ${word()} in my ${word()}`;
    times.push(timed(() => index.search(query, { kind: "tool", limit: 10 })));
  }
  const settledTimes = times.slice(100).sort((a, b) => a - b);

  const changed = (servers.get("server3") ?? []).map((doc) => ({ ...doc, description: `${doc.description} anew` }));
  const before = performance.now();
  index.replaceServer("server3", changed);
  await index.settled();
  const replaced = performance.now() - before;
  index.close();

  log(`entries                            ${entries}`);
  log(`queued in                          ${queueing.toFixed(1)} ms`);
  log(`built in                           ${(built - started).toFixed(0)} ms`);
  log(`longest block while building       ${blocked.toFixed(1)} ms`);
  log(`first query, everything pending    ${pending.toFixed(1)} ms`);
  log(`query median                       ${settledTimes[Math.floor(settledTimes.length / 2)].toFixed(2)} ms`);
  log(`query p99                          ${settledTimes[Math.floor(settledTimes.length * 0.99)].toFixed(2)} ms`);
  log(`one server of 50 replaced in       ${replaced.toFixed(1)} ms`);
}

/** Notes the longest time between two turns of the event loop. */
function heartbeat() {
  let last = performance.now();
  let longest = 0;
  let running = true;
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(beat);
  };
  setImmediate(beat);
  return {
    next: () => new Promise((resolve) => setImmediate(resolve)),
    stop: () => {
      running = false;
      return longest;
    },
  };
}

function timed(action) {
  const start = performance.now();
  action();
  return performance.now() - start;
}

function seeded(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
