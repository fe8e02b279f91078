// @ts-check
// The clients of a run: those that come and go at the one gateway, each kind in its place, and
// those that stay, each with a gateway of its own on stdin and stdout. Everyone calls, several at a
// time, and is subscribed to resources of its own and to one that others hear of, too.

import { createClient } from "./client.js";
import { anyCall, call } from "./traffic.js";
import { pause, until } from "./wait.js";

const COMING = ["http legacy", "http legacy", "http legacy", "http modern", "http modern", "sse legacy"];
const STAYING = ["stdio legacy", "stdio modern"];
/** What the gateways that clients start themselves have. */
export const STDIO_SERVERS = ["pipe", "web", "now"];
export const SIZE = COMING.length + STAYING.length;
const CALLERS = 3;
const SUBSCRIPTIONS = 3;
const PATIENCE_MS = 20_000;
/** The longest pause of a caller between two calls, and after one without a result. */
const PAUSE_MS = 15;
const REFUSED_MS = 200;
/** A server that was away is back by then. */
const BACK_MS = 60_000;

/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./servers.js").Server} Server */
/**
 * @typedef {{ street: import("./traffic.js").Street, servers: readonly Server[], tokens: readonly
 *   string[], isOver: () => boolean, pauseMs?: number }} CrowdOptions
 */

/** @param {CrowdOptions} options */
export function createCrowd({ street, servers, tokens, isOver, pauseMs = PAUSE_MS }) {
  const { clients, random, problems, weather, ledger } = street;
  const ofStdio = servers.filter(({ name }) => STDIO_SERVERS.includes(name));
  /** @type {Client[]} */
  const vanished = [];
  let made = 0;
  /** The clients that run, by their place in the crowd. @type {Map<number, Client | undefined>} */
  const running = new Map();

  return {
    /** The clients that still run, in words, with the calls that they wait for. */
    unfinished: () =>
      [...running].map(([n, client]) =>
        client
          ? `${client.id} (${client.kind}): ${ledger.openOf(client.id).join(", ")}`
          : `number ${n} opens or closes`,
      ),

    /** Everybody works until the run is over. */
    run: () =>
      [...COMING.map((kind) => ({ kind, life: comeAndGo })), ...STAYING.map((kind) => ({ kind, life: stay }))].map(
        ({ kind, life }, n) => {
          running.set(n, undefined);
          return life(kind, (client) => running.set(n, client)).finally(() => running.delete(n));
        },
      ),

    /**
     * The gateway of a client that stays ends; the client starts another.
     * @param {"SIGTERM" | "SIGKILL"} signal
     * @param {import("./random.js").Random} chaos
     */
    endOwn(signal, chaos) {
      const client = chaos.pick([...clients].filter(({ wireKind }) => wireKind === "stdio"));
      if (!client) return;
      const back = client.outages.begin(signal);
      const struck = ofStdio.map(({ name }) => weather.disturb([client.gateway], name, { armed: true }));
      // A gateway that was just starting answers before it goes: only a later one is back.
      void (async () => {
        await client.wire.kill?.(signal);
        const { lives } = client;
        await until(() => client.lives > lives || client.closed, BACK_MS);
        back();
        for (const strike of struck) strike();
      })();
    },

    /** Everybody goes; nothing is left that a session without a client may hold. */
    async leave() {
      for (const client of clients) await client.close();
      for (const client of vanished) await client.endSession();
    },

    /** Every server answers new clients of each kind. @param {string} when */
    async allAnswer(when) {
      for (const server of servers) weather.disturb(["main"], server.name);
      const kinds = [...new Set(COMING)].map(async (kind) => {
        const client = await open(kind);
        await Promise.all(servers.map((server) => answers(client, server, when)));
        await client.close();
      });
      await Promise.all(kinds);
    },
  };

  /** @param {Client} client @param {Server} server @param {string} when */
  async function answers(client, server, when) {
    if (await until(() => call(client, server, "work", {}, street), BACK_MS)) return;
    const why = ledger.reasons.get(server.name);
    problems.add("ending", `${server.name} does not answer a client (${client.kind}) ${when}: ${why}`);
  }

  /** @param {string} kind */
  async function open(kind) {
    const [wire, era] = /** @type {["http" | "sse" | "stdio", "legacy" | "modern"]} */ (kind.split(" "));
    const n = ++made;
    const client = createClient({ id: `c${n}`, wire, era, token: tokens[n % tokens.length] ?? "" }, street);
    await client.open();
    return client;
  }

  /** @param {string} kind @param {(client?: Client) => void} works */
  async function comeAndGo(kind, works) {
    while (!isOver()) {
      const client = await open(kind);
      clients.add(client);
      works(client);
      const leave = performance.now() + random.between(4000, 10_000);
      await work(client, servers, () => isOver() || performance.now() > leave);
      // The last ones stay, to see that they get what they are owed.
      if (isOver()) return;
      works();
      clients.delete(client);
      if (random.chance(0.5)) await client.close();
      else {
        client.vanish();
        vanished.push(client);
      }
    }
  }

  /** @param {string} kind @param {(client?: Client) => void} works */
  async function stay(kind, works) {
    for (const { name } of servers) weather.disturb([`c${made + 1}`], name);
    const client = await open(kind);
    clients.add(client);
    works(client);
    await work(client, ofStdio, isOver);
  }

  /** @param {Client} client @param {readonly Server[]} reachable @param {() => boolean} isDone */
  async function work(client, reachable, isDone) {
    for (let n = 0; n < SUBSCRIPTIONS; n++) {
      client.watch(random.pick(reachable).name, n === 0 ? "note:///all/0" : `note:///${client.id}/${n}`);
    }
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!isDone()) {
        const from = performance.now();
        const isUp = await until(() => client.isUp || isDone(), PATIENCE_MS);
        // Whose gateway is ended again and again while it starts has an excuse, until that was long
        // ago.
        if (!isUp && !client.excuse(from)) problems.add("ending", `${client.id} (${client.kind}) cannot connect`);
        const hasResult = await anyCall(client, random.pick(reachable), street);
        await pause(random.next() * (hasResult ? pauseMs : REFUSED_MS));
      }
    });
    await Promise.all(callers);
  }
}
