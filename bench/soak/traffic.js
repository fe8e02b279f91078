// @ts-check
// What the clients do: calls of all kinds to all servers, several at a time; each is judged as soon
// as it is over.

import { pause } from "./wait.js";

const TASK_MS = 4000;
const POLL_MS = 60;

/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./servers.js").Server} Server */
/**
 * @typedef {import("./client.js").World & { random: import("./random.js").Random, clients:
 *   Set<Client>, share: "all" | "session" }} Street
 */

/**
 * A call at random, as this client can make it of this server.
 * @param {Client} client
 * @param {Server} server
 * @param {Street} street
 */
export async function anyCall(client, server, street) {
  const { random, share } = street;
  // A call that was given up may still speak: on a connection that is lent to one client after the
  // other, to the next one.
  const isLent = server.share === "session" && client.era === "modern";
  const hasTasks = server.name === "web" && client.era === "legacy" && client.wireKind !== "sse";
  if (hasTasks && random.chance(0.15)) return call(client, server, "job", {}, street, { task: true });
  // Where nothing but guesses could tell whose a question or a log message is, servers may be left
  // without any.
  const dice = random.next() * (share === "all" || server.telling ? 1 : 0.74);
  if (dice < 0.62)
    return call(
      client,
      server,
      "work",
      { ms: random.chance(0.2) ? 30 : 0, bytes: random.chance(0.1) ? 20_000 : 0 },
      street,
    );
  if (dice < 0.74) return call(client, server, "steps", { steps: 3 }, street);
  if (dice < 0.84) return call(client, server, "tell", { lines: 2 }, street);
  if (dice < 0.92) {
    const canElicit = client.wireKind !== "sse";
    return call(client, server, "ask", { kind: canElicit && random.chance(0.5) ? "elicitation" : "sampling" }, street);
  }
  if (dice < 0.95 && (share === "all" || !isLent))
    return call(client, server, "late", { ms: 60 }, street, { giveUpAfterMs: 20 });
  return call(client, server, "work", {}, street);
}

/**
 * One call; answers whether it has its result.
 * @param {Client} client
 * @param {Server} server
 * @param {string} tool
 * @param {any} args
 * @param {Street} street
 * @param {{ giveUpAfterMs?: number, task?: boolean }} [how]
 */
export async function call(client, server, tool, args, street, { giveUpAfterMs, task = false } = {}) {
  const { ledger, weather, problems } = street;
  const entry = ledger.begin({ client: client.id, gateway: client.gateway, server: server.name, tool });
  const { nonce } = entry;
  if (tool === "steps") entry.progress = args.steps;
  const params = {
    name: `${server.name}_${tool}`,
    arguments: { nonce, ...args },
    ...(task && { task: { ttl: 60_000 } }),
    ...(tool === "steps" && { _meta: { progressToken: client.newToken(nonce) } }),
  };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const began = (/** @type {number} */ _id, /** @type {() => void} */ giveUp) => {
    if (giveUpAfterMs !== undefined) timer = setTimeout(giveUp, giveUpAfterMs);
  };
  let outcome = await client.ask("tools/call", params, { began });
  let rounds = 0;
  const answered = new Set();
  while (outcome.message?.result?.resultType === "input_required") {
    rounds++;
    const { inputRequests = {}, requestState } = outcome.message.result;
    // A call that hangs may be asked what others were given up with, but each of it once.
    const questions = Object.entries(inputRequests);
    const texts = questions.map(([, asked]) => JSON.stringify(asked));
    if (texts.length === 0 || texts.some((text) => answered.has(text))) {
      const again = texts.join(" ").slice(0, 300) || "nothing";
      return finished(ledger.lost(entry, `${client.kind}: asked again, in round ${rounds}: ${again}`));
    }
    for (const text of texts) answered.add(text);
    /** @type {Record<string, any>} */
    const inputResponses = {};
    for (const [key, asked] of questions) inputResponses[key] = client.question(asked.method, asked.params, nonce);
    outcome = await client.ask("tools/call", { ...params, inputResponses, requestState });
  }
  clearTimeout(timer);
  // Between two rounds there is no request that progress could belong to.
  if (rounds > 0) entry.progress = entry.told.progress;
  const { message, cut, givenUp } = outcome;
  if (givenUp) return finished(ledger.cut(entry, "given up"));
  if (cut) return finished(wasCut(cut));
  if (message.error) return finished(refused(message.error));
  if (message.result.task) return taskOf(message.result.task.taskId);
  return got(message.result.structuredContent);

  function finished(/** @type {void} */ _) {
    return false;
  }

  /** @param {string} why */
  function wasCut(why) {
    // A question cannot be answered while nobody listens, and a task is asked for many times.
    const isOneRequest = tool !== "ask" && !task;
    entry.wasStopped = isOneRequest && !client.closed && client.outages.owes(entry.start, performance.now());
    if (client.excuse(entry.start)) ledger.cut(entry);
    else ledger.lost(entry, `${client.kind}: ${why}`);
  }

  /** @param {any} error */
  function refused(error) {
    // What a call had begun is gone with the gateway, or with the server, that knew of it. Servers
    // of the era without sessions know nothing.
    const wasBegun = task || (rounds > 0 && server.era === "legacy");
    const wasForgotten = wasBegun && (client.excuse(entry.start) || !isCalm());
    ledger.refused(entry, wasForgotten ? { data: { code: "BACKEND_UNAVAILABLE" } } : error);
  }

  function isCalm() {
    return weather.isCalm(entry, entry.start, performance.now());
  }

  /** @param {any} content */
  function got(content) {
    if (tool === "tell") entry.logs = content?.sent ?? 0;
    ledger.ok(entry, content);
    const { reply } = content ?? {};
    if (tool === "ask" && reply !== client.replyTo(nonce)) judgeReply(reply);
    return true;
  }

  /** What the server got is not what the client says to this question. @param {any} reply */
  function judgeReply(reply) {
    const text = `${nonce} (${server.name} of ${client.kind}): ${JSON.stringify(reply)}`;
    if (typeof reply !== "object") problems.add("foreignReplies", text);
    // On a connection that several share the gateway may have to refuse the question.
    else if (server.telling && isCalm() && !client.excuse(entry.start)) problems.add("lostQuestions", text);
  }

  /** @param {string} taskId */
  async function taskOf(taskId) {
    ledger.counts.tasks++;
    const end = performance.now() + TASK_MS;
    let polled;
    do {
      await pause(POLL_MS);
      polled = await client.ask("tasks/get", { taskId });
    } while ((polled.cut || polled.message?.result?.status === "working") && performance.now() < end);
    if (polled.message?.result) {
      await peek(taskId);
      polled = await client.ask("tasks/result", { taskId });
    }
    if (polled.message?.result) return got(polled.message.result.structuredContent);
    if (polled.message) return finished(refused(polled.message.error));
    return finished(polled.givenUp ? ledger.cut(entry, "given up") : wasCut(polled.cut ?? "no answer"));
  }

  /** Somebody with another token asks for the task. @param {string} taskId */
  async function peek(taskId) {
    if (client.gateway !== "main") return;
    const other = [...street.clients].find(
      ({ token, era, wireKind, closed }) =>
        !closed && token !== client.token && era === "legacy" && wireKind === "http",
    );
    const seen = other && (await other.ask("tasks/get", { taskId }));
    if (other && seen?.message?.result) {
      problems.add("foreignTasks", `${other.id} can read the task of ${nonce}, which was begun with another token`);
    }
  }
}
