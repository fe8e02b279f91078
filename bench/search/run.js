// How well search finds tools, measured on real tool definitions: installs the public MCP servers
// of servers.json into a temporary folder, asks each for its tools, indexes them and asks the
// questions of questions.json. Prints recall@5 and MRR of the search and, beside it, of a plain
// substring search. Every third question was held out while weights were tuned. Nothing of the
// servers is stored in the repository.
//
// It also counts the tokens of whole dialogues, for every way to list tools (dialogues.js).
//
//   node bench/search/run.js [--verbose] [--fresh] [--scale] [--dialogues]
//
// --verbose prints the questions that are missed, --fresh asks the servers again instead of using
// the last answers, --scale measures ten thousand made-up entries instead, --dialogues only
// counts tokens, which needs no network. Needs a build: dist/upstream/catalog/search/.

import { existsSync, readFileSync } from "node:fs";
import { benchDialogues } from "./dialogues.js";
import { installServers } from "./install.js";
import { listTools } from "./list-tools.js";
import { benchScale } from "./scale.js";

const INSTALL_MS = 180_000;
const LIST_MS = 30_000;
const AT = 5;

const flags = new Set(process.argv.slice(2));
const log = (line) => console.log(line);
const built = new URL("../../dist/upstream/catalog/search/search-index.js", import.meta.url);
if (!existsSync(built)) {
  console.error("bench:search needs a build: npm run build");
  process.exit(1);
}
const { createSearchIndex } = await import(built);

async function benchRelevance() {
  const { servers } = readJson("./servers.json");
  const { questions } = readJson("./questions.json");
  const { ready, failed } = await installServers(servers, { deadlineMs: INSTALL_MS, log });
  for (const { server, reason } of failed) log(`not installed: ${server.package}: ${reason}`);

  const docs = await collect(ready);
  const serverCount = new Set(docs.map((doc) => doc.serverId)).size;
  log(`${serverCount} servers, ${docs.length} tools, ${questions.length} questions`);

  const known = new Set(docs.map((doc) => doc.key));
  const lost = questions.flatMap(({ answers }) => answers).filter((answer) => !known.has(answer));
  if (lost.length > 0) log(`answers that no server lists (they count as misses): ${lost.join(", ")}`);

  const index = createSearchIndex();
  for (const server of ready) {
    index.replaceServer(
      server.id,
      docs.filter((doc) => doc.serverId === server.id),
    );
  }
  await index.settled();
  const search = (question) => index.search(question, { kind: "tool", limit: 10 }).map(({ key }) => key);
  const substring = createSubstringSearch(docs);

  log("");
  log("                          recall@5    MRR   first");
  report("search, tuned on", questions.filter(tuned), search);
  report("search, held out", questions.filter(heldOut), search);
  report("search, all", questions, search);
  report("substring, all", questions, substring);
  if (flags.has("--verbose")) printMisses(questions, search);
  index.close();
}

const heldOut = (_, at) => at % 3 === 2;
const tuned = (question, at) => !heldOut(question, at);

async function collect(servers) {
  const lists = new Map();
  const queue = [...servers];
  const worker = async () => {
    for (let server = queue.shift(); server !== undefined; server = queue.shift()) {
      try {
        lists.set(server.id, await listTools(server, { timeoutMs: LIST_MS, fresh: flags.has("--fresh") }));
      } catch (error) {
        log(`not listed: ${server.package}: ${error.message}`);
      }
    }
  };
  await Promise.all([worker(), worker()]);
  return servers.flatMap((server) => (lists.get(server.id) ?? []).map((tool) => docOf(server.id, tool)));
}

/** The document of a tool as the catalog makes it. */
function docOf(serverId, tool) {
  const title = tool.title ?? tool.annotations?.title;
  const args = Object.entries(tool.inputSchema?.properties ?? {}).map(([name, schema]) =>
    typeof schema?.description === "string" ? { name, description: schema.description } : { name },
  );
  return {
    key: `${serverId}/${tool.name}`,
    kind: "tool",
    name: `${serverId}_${tool.name}`,
    originalName: tool.name,
    serverId,
    args,
    ...(title === undefined ? {} : { title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
  };
}

/** What one would write without an index: the entries that contain most of the question's words. */
function createSubstringSearch(docs) {
  const texts = docs.map((doc) => ({
    doc,
    text: `${doc.name} ${doc.title ?? ""} ${doc.description ?? ""}`.toLowerCase(),
  }));
  return (question) => {
    const words = question.toLowerCase().match(/\w+/g);
    return texts
      .map(({ doc, text }) => ({ doc, hits: words.filter((word) => text.includes(word)).length }))
      .filter(({ hits }) => hits > 0)
      .sort((a, b) => b.hits - a.hits || (a.doc.name < b.doc.name ? -1 : 1))
      .slice(0, 10)
      .map(({ doc }) => doc.key);
  };
}

/** The rank of the first right answer, 0 for none in the first ten. */
const rankOf = ({ question, answers }, search) => search(question).findIndex((key) => answers.includes(key)) + 1;

function report(name, questions, search) {
  const ranks = questions.map((question) => rankOf(question, search));
  const share = (right) => (ranks.filter(right).length / ranks.length).toFixed(3);
  const mrr = ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length;
  const recall = share((rank) => rank > 0 && rank <= AT);
  const label = `${name} (${ranks.length})`;
  log(
    `${label.padEnd(26)}${recall.padStart(8)}${mrr.toFixed(3).padStart(7)}${share((rank) => rank === 1).padStart(8)}`,
  );
}

function printMisses(questions, search) {
  log("");
  for (const [at, question] of questions.entries()) {
    const rank = rankOf(question, search);
    if (rank > 0 && rank <= AT) continue;
    log(
      `${heldOut(question, at) ? "held out" : "tuned on"}  "${question.question}"  rank ${rank === 0 ? "none" : rank}`,
    );
    log(`          wanted ${question.answers.join(" or ")}`);
    log(`          found  ${search(question.question).slice(0, AT).join(", ")}`);
  }
}

function readJson(name) {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}

if (flags.has("--scale")) await benchScale(createSearchIndex, { log });
else {
  if (!flags.has("--dialogues")) await benchRelevance();
  await benchDialogues({ log });
}
