// @ts-check
// Crowds of clients that mostly wait: subscribers that expect each update exactly once, sessions
// that only exist, and calls that are never answered. Each is opened a batch at a time, stays until
// closed, and reports what it saw.

import { Client, complaint } from "./client.js";

/** @typedef {import("./client.js").Era} Era */
/** @typedef {{ url: string, era: Era, count: number }} Crowd */
/**
 * @typedef {Crowd & { uri: string, original: string, tool: string, rounds: number }} SubscribersJob
 */
/** @typedef {{ start(): Promise<any>, close(): void }} Prepared */

const BATCH = 50;
const DELIVERY_MS = 5_000;
const SETTLE_MS = 200;

/**
 * @template T
 * @param {number} count
 * @param {(index: number) => Promise<T>} open
 * @returns {Promise<T[]>}
 */
async function inBatches(count, open) {
  /** @type {T[]} */
  const opened = [];
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    opened.push(...(await Promise.all(Array.from({ length: size }, (_, index) => open(from + index)))));
  }
  return opened;
}

/** @param {Client[]} clients */
const closeAll = (clients) => {
  for (const client of clients) client.close();
};

const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

/**
 * Opens a stream and hands on its messages. A quiet stream need not send a byte, not even its head,
 * before its first event; so nothing is awaited here, and a stream that ends is a failure, noticed
 * later.
 * @param {Client} client
 * @param {string} request
 * @param {{ onMessage(message: any): void, onEnd(reason: string): void }} to
 */
function follow(client, request, { onMessage, onEnd }) {
  let text = "";
  client.connection.send(
    request,
    (answer) => onEnd(`stream: ${complaint(answer)}`),
    (piece) => {
      text += piece.toString();
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data:"));
        const json = data?.slice(5).trim();
        if (json) onMessage(JSON.parse(json));
      }
    },
  );
}

/** @param {SubscribersJob} job @returns {Promise<Prepared>} */
export async function prepareSubscribers({ url, era, count, uri, original, tool, rounds }) {
  let expected = 0;
  let arrived = 0;
  let strange = 0;
  let ended = "";
  let done = () => {};
  const to = {
    onEnd: (/** @type {string} */ reason) => {
      ended ||= reason;
    },
    onMessage: (/** @type {any} */ message) => {
      if (message.method !== "notifications/resources/updated") return;
      if (message.params?.uri !== uri) strange += 1;
      arrived += 1;
      if (arrived === expected) done();
    },
  };

  const clients = await inBatches(count, async () => {
    const client = await Client.open(url, era);
    if (era === "legacy") {
      await client.ask("resources/subscribe", { uri });
      follow(client, client.openStream(), to);
    } else {
      const params = `"notifications":{"resourceSubscriptions":["${uri}"]}`;
      follow(client, client.request(7, "subscriptions/listen", params), to);
    }
    return client;
  });
  const toucher = await Client.open(url, era);
  await settle();
  if (ended) {
    closeAll([...clients, toucher]);
    throw new Error(ended);
  }

  async function start() {
    /** @type {number[]} */
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      expected += count;
      const began = performance.now();
      const delivered = new Promise((resolve) => {
        const timer = setTimeout(resolve, DELIVERY_MS);
        done = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
      await toucher.ask("tools/call", { name: tool, arguments: { uri: original } }, tool);
      if (arrived < expected) await delivered;
      times.push(performance.now() - began);
      if (arrived < expected) break;
    }
    await settle();
    times.sort((a, b) => a - b);
    return { deliveries: arrived, lost: expected - arrived, strange, medianMs: times[times.length >> 1] };
  }

  return { start, close: () => closeAll([...clients, toucher]) };
}

/**
 * Sessions without a call: with `streams`, each with its open stream; without, their sockets are
 * closed again. Each subscribes to as many resources as asked for.
 * @param {Crowd & { streams: boolean, subscriptions?: number }} job
 * @returns {Promise<Prepared>}
 */
export async function prepareSessions({ url, count, streams, subscriptions = 0 }) {
  const clients = await inBatches(count, async () => {
    const client = await Client.open(url, "legacy");
    if (subscriptions > 0) {
      const { resources } = await client.ask("resources/list");
      if (resources.length < subscriptions) throw new Error(`${resources.length} resources are listed`);
      for (const { uri } of resources.slice(0, subscriptions)) await client.ask("resources/subscribe", { uri });
    }
    if (streams) follow(client, client.openStream(), { onMessage: () => {}, onEnd: () => {} });
    else client.close();
    return client;
  });
  await settle();
  return { start: async () => ({ sessions: clients.length }), close: () => closeAll(clients) };
}

/**
 * Calls that hang, twenty to a session, a connection each.
 * @param {Crowd & { tool: string }} job
 * @returns {Promise<Prepared>}
 */
export async function prepareWaiting({ url, era, count, tool }) {
  /** @type {Map<number, Promise<Client>>} */
  const sessions = new Map();
  const clients = await inBatches(count, async (index) => {
    const group = Math.floor(index / 20);
    const first = sessions.get(group);
    if (first) return (await first).sibling(url);
    const opening = Client.open(url, era);
    sessions.set(group, opening);
    return opening;
  });
  let answered = 0;
  let firstAnswer = "";
  async function start() {
    clients.forEach((client, index) => {
      client.connection.send(
        client.request(index + 1, "tools/call", `"name":"${tool}","arguments":{}`, tool),
        (answer) => {
          answered += 1;
          firstAnswer ||= complaint(answer);
        },
      );
    });
    await settle();
    return { waiting: count - answered, answered, firstAnswer };
  }
  return { start, close: () => closeAll(clients) };
}
