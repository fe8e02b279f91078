// @ts-check
// One client of the soak, of either era over any wire. It counts its ids and progress tokens from 1
// like all others, so that whatever is mixed up meets somebody; it judges whatever reaches it by
// the nonce in it; and it comes back when its gateway went away.

import { ownerOf, words } from "./ledger.js";
import { createSession } from "./session.js";
import { createStateless } from "./stateless.js";
import { pause } from "./wait.js";

/** No answer for this long, whatever happens to servers: there will be none. */
const PATIENCE_MS = 25_000;
const READ_AGAIN_MS = 200;

/**
 * @typedef {{ id: string, wire: "http" | "sse" | "stdio", era: "legacy" | "modern", token: string
 *   }} Who
 */
/** @typedef {import("./updates.js").Subscription} Subscription */
/**
 * @typedef {{ message?: any, cut?: string, givenUp?: boolean }} Outcome `givenUp`: by the client,
 *   or not sent at all
 */
/**
 * @typedef {{ toGateway(client: Client, message: any, send: (message: any) => void): void,
 *   toClient(client: Client, message: any, deliver: (message: any) => void): void }} Between
 */
/**
 * @typedef {{ problems: import("./problems.js").Problems, ledger: import("./ledger.js").Ledger,
 *   updates: import("./updates.js").Updates, weather: import("./weather.js").Weather, between:
 *   Between, outagesOf(gateway: string): ReturnType<typeof import("./gateway.js").createOutages>,
 *   wireFor(who: Who, gateway: string, user: import("./wires.js").User):
 *   import("./wires.js").ClientWire }} World
 */
/** @typedef {ReturnType<typeof createClient>} Client */

/** @param {Who} who @param {World} world */
export function createClient(who, world) {
  const { id, wire: wireKind, era, token } = who;
  const { problems, ledger, updates, between } = world;
  const gateway = wireKind === "stdio" ? id : "main";
  const outages = world.outagesOf(gateway);
  /** @type {Map<number, (outcome: Outcome) => void>} */
  const pending = new Map();
  /** Requests that were given up; their answers may still come. @type {Set<unknown>} */
  const givenUp = new Set();
  /** @type {Map<string, string>} */
  const tokens = new Map();
  /**
   * What is being read, and whether it has to be read once more.
   * @type {Map<Subscription, boolean>}
   */
  const reading = new Map();
  let lastId = 0;
  let lastToken = 0;
  /** How often its stream went away. */
  let downs = 0;
  let closed = false;

  const wire = world.wireFor(who, gateway, {
    take: (message) => between.toClient(client, message, handle),
    ended(ended, why) {
      // It may have arrived all the same, and this wire has its answers on a stream of their own.
      if (wireKind === "sse" && /^POST: (?:HTTP 502|E)/.test(why)) givenUp.add(ended);
      settle(ended, { cut: why });
    },
    unsent: (ended) => settle(ended, { givenUp: true }),
    status: (code) => speaker.status?.(code),
    broken: (text) => problems.add("broken", `${id} (${client.kind}) got ${text}`),
    down() {
      for (const each of [...pending.keys()]) settle(each, { cut: "the stream is gone" });
      client.isUp = false;
      const own = ++downs;
      // If it went down again meanwhile, it is back when it is back from that.
      if (!closed) void speaker.down().then(() => own === downs && cameBack());
    },
  });

  const client = {
    id,
    token,
    gateway,
    kind: `${wireKind} ${era}`,
    wireKind,
    era,
    wire,
    /** How often it began, where that is with its stream. */
    lives: 1,
    isUp: true,
    get closed() {
      return closed;
    },
    outages,
    handle,
    /** @param {any} message */
    send: (message) => between.toGateway(client, message, (sent) => void wire.send(sent)),

    /**
     * One request and what became of it.
     * @param {string} method
     * @param {any} params
     * @param {{ headers?: Record<string, string>, began?: (id: number, giveUp: () => void) => void,
     *   patienceMs?: number }} [options]
     * @returns {Promise<Outcome>}
     */
    exchange(method, params, { headers, began, patienceMs = PATIENCE_MS } = {}) {
      const own = ++lastId;
      const start = performance.now();
      // A new stream may be there already, on which it has not introduced itself.
      if (wireKind === "sse" && !client.isUp && method !== "initialize") return Promise.resolve({ givenUp: true });
      return new Promise((/** @type {(outcome: Outcome) => void} */ resolve) => {
        const timer = setTimeout(() => settle(own, { cut: `no answer for ${patienceMs} ms` }), patienceMs);
        pending.set(own, (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        });
        /** @type {{ abort(): void } | undefined} */
        let sent;
        between.toGateway(client, { jsonrpc: "2.0", id: own, method, params }, (message) => {
          const exchange = wire.send(message, headers);
          if (message.id === own) sent = exchange;
        });
        began?.(own, () => {
          givenUp.add(own);
          speaker.giveUp(own, () => sent?.abort());
          settle(own, { givenUp: true });
        });
      }).then((outcome) => {
        if (outcome.cut && method !== "tools/call" && method !== "subscriptions/listen" && !excuse(start)) {
          problems.add("lostAnswers", `${id} (${client.kind}): ${method} ${params.uri ?? ""}: ${outcome.cut}`);
        }
        return outcome;
      });
    },
    /** Why a request that began then may have no answer. @param {number} start */
    excuse,
    newToken(/** @type {string} */ nonce) {
      const made = `p${++lastToken}`;
      tokens.set(made, nonce);
      return made;
    },
    /** What this client says when it is asked. @param {string} nonce */
    replyTo: (nonce) => `${id} says ${nonce}`,
    question,
    /** @param {Subscription} subscription */
    read,

    async open() {
      await wire.open();
      await speaker.begin();
    },
    /**
     * Asks to hear of a resource, until it is granted.
     * @param {string} server
     * @param {string} uri
     */
    watch(server, uri) {
      updates.add(client, server, uri);
      speaker.watch();
    },
    /**
     * @param {string} method
     * @param {any} params
     * @param {{ began?: (id: number, giveUp: () => void) => void }} [options]
     */
    ask: (method, params, options) => speaker.ask(method, params, options),
    async close() {
      closed = true;
      updates.gone(client);
      await speaker.end?.();
      wire.close();
      for (const each of [...pending.keys()]) settle(each, { givenUp: true });
    },
    /** Ends the session of a client that went away, so that what it held is free. */
    endSession: () => speaker.end?.(),
    /** Goes away without a word. */
    vanish() {
      closed = true;
      updates.gone(client);
      wire.close();
      for (const each of [...pending.keys()]) settle(each, { givenUp: true });
    },
  };
  const speaker = era === "legacy" ? createSession(client, world) : createStateless(client, world);
  return client;

  function cameBack() {
    client.lives++;
    client.isUp = true;
  }

  /** @param {number} start */
  function excuse(start) {
    return closed || outages.covers(start, performance.now());
  }

  /** @param {any} requestId @param {Outcome} outcome */
  function settle(requestId, outcome) {
    const resolve = pending.get(requestId);
    pending.delete(requestId);
    resolve?.(outcome);
  }

  /** @param {any} message */
  function handle(message) {
    if (closed) return;
    if (message.method === undefined) return answered(message);
    if (message.id !== undefined) return asked(message);
    notified(message);
  }

  /** @param {any} message */
  function answered(message) {
    if (pending.has(message.id)) return settle(message.id, { message });
    if (givenUp.has(message.id)) return;
    // A replica that handed a request over has not read which one it was.
    if (message.id === null && message.error?.data?.code === "REPLICA_UNAVAILABLE") return;
    problems.add("secondAnswers", `${id} (${client.kind}): ${JSON.stringify(message).slice(0, 200)}`);
  }

  /** @param {any} message */
  function asked({ id: asker, method, params }) {
    client.send({ jsonrpc: "2.0", id: asker, result: method === "ping" ? {} : question(method, params) });
  }

  /**
   * Judges a question and answers it; `of` is the call that it came in the answer to.
   * @param {string} method
   * @param {any} params
   * @param {string} [of]
   */
  function question(method, params, of) {
    ledger.counts.questions++;
    const isSampling = method === "sampling/createMessage";
    const nonce = String(isSampling ? params.messages?.[0]?.content?.text : params.message);
    const entry = own("foreignQuestions", nonce);
    // What the program asks names no call: among calls of one client, any may be asked.
    const namesCall = entry && entry.server !== "pipe";
    if (namesCall && of !== undefined && of !== nonce) {
      problems.add("foreignQuestions", `${of} (${client.kind}) was answered with the question of ${words(entry)}`);
    }
    const reply = client.replyTo(nonce);
    if (isSampling) return { model: "soak", role: "assistant", content: { type: "text", text: reply } };
    return { action: "accept", content: { reply } };
  }

  /** @param {any} message */
  function notified({ method, params = {} }) {
    switch (method) {
      case "notifications/progress": {
        ledger.counts.progress++;
        const nonce = String(params.message);
        const entry = own("foreignProgress", nonce);
        if (entry && tokens.get(params.progressToken) !== nonce) {
          problems.add("foreignProgress", `${id}: token ${params.progressToken} is not that of ${words(entry)}`);
        }
        if (entry) entry.told.progress++;
        return;
      }
      case "notifications/message": {
        ledger.counts.logs++;
        const entry = own("foreignLogs", String(params.data?.nonce));
        if (entry) entry.told.logs++;
        return;
      }
      case "notifications/tasks/status":
        own("foreignTasks", String(params.statusMessage));
        return;
      case "notifications/resources/updated": {
        const [, server = "", uri = ""] = /^(\w+)\+(.*)$/.exec(params.uri ?? "") ?? [];
        const subscription = updates.told(client, server, uri);
        if (subscription) void read(subscription);
        return;
      }
      default:
        speaker.notified?.(method, params);
    }
  }

  /**
   * The call that something belongs to, if it is this client's.
   * @param {import("./problems.js").Kind} kind
   * @param {string} nonce
   */
  function own(kind, nonce) {
    const entry = ledger.get(nonce);
    if (entry && ownerOf(nonce) === id) return entry;
    problems.add(kind, `${id} (${client.kind}) got what belongs to ${entry ? words(entry) : nonce}`);
    return undefined;
  }

  /**
   * Reads a resource that changed, until it can be read; once more if it changed meanwhile.
   * @param {Subscription} subscription
   */
  async function read(subscription) {
    const isRead = reading.has(subscription);
    reading.set(subscription, true);
    if (isRead) return;
    const { server, uri } = subscription;
    while (!closed && reading.get(subscription)) {
      reading.set(subscription, false);
      const { message } = await client.ask("resources/read", { uri: `${server}+${uri}` });
      const version = Number(message?.result?.contents?.[0]?.text);
      if (!Number.isNaN(version)) updates.read(subscription, version);
      else {
        reading.set(subscription, true);
        await pause(READ_AGAIN_MS);
      }
    }
    reading.delete(subscription);
  }
}
