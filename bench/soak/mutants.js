// @ts-check
// Faults that the soak has to find, for its own test: a man in the middle between clients and
// gateway, or a leak in the gateway's process.

import { createRandom } from "./random.js";

/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./client.js").Between} Between */
/** @typedef {{ between?: Between, imports?: string[] }} Mutant */

const SWAP_EVERY = 1000;

/** @type {Between} */
const plain = {
  toGateway: (_client, message, send) => send(message),
  toClient: (_client, message, deliver) => deliver(message),
};
const isCall = (/** @type {any} */ message) => message.method === "tools/call";
/** A file that the gateway's process loads. @param {string} source */
const load = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

/** @type {Record<string, () => Mutant>} */
const mutants = {
  /** Every call is executed twice. */
  twice() {
    const copies = new Set();
    let count = 0;
    return {
      between: {
        toGateway(_client, message, send) {
          send(message);
          if (!isCall(message)) return;
          const id = `copy-${++count}`;
          copies.add(id);
          const { progressToken: _, ...meta } = message.params._meta ?? {};
          send({ ...message, id, params: { ...message.params, _meta: meta } });
        },
        toClient(_client, message, deliver) {
          if (message.method !== undefined || !copies.delete(message.id)) deliver(message);
        },
      },
    };
  },
  /** Every log message goes to everybody. */
  logs() {
    /** @type {Set<Client>} */
    const all = new Set();
    return {
      between: {
        toGateway(client, message, send) {
          all.add(client);
          send(message);
        },
        toClient(_client, message, deliver) {
          if (message.method !== "notifications/message") return deliver(message);
          for (const other of all) other.handle(message);
        },
      },
    };
  },
  /** 60 of 100 calls are refused, with the best of reasons. */
  refuse() {
    const random = createRandom(1);
    return {
      between: {
        ...plain,
        toGateway(client, message, send) {
          if (!isCall(message) || random.chance(0.4)) return send(message);
          const error = { code: -32011, message: "Server is unavailable", data: { code: "BACKEND_UNAVAILABLE" } };
          setImmediate(() => client.handle({ jsonrpc: "2.0", id: message.id, error }));
        },
      },
    };
  },
  /** Half of all updates are dropped. */
  updates() {
    const random = createRandom(1);
    return {
      between: {
        ...plain,
        toClient(_client, message, deliver) {
          if (message.method !== "notifications/resources/updated" || random.chance(0.5)) deliver(message);
        },
      },
    };
  },
  /** Once in 1 000 calls, two clients get each other's answers. */
  swap() {
    let calls = 0;
    /** @type {{ client: Client, message: any, send: (message: any) => void } | undefined} */
    let held;
    const withArguments = (/** @type {any} */ message, /** @type {any} */ other) => {
      const params = { ...message.params, arguments: other.params.arguments };
      return { ...message, params };
    };
    return {
      between: {
        ...plain,
        toGateway(client, message, send) {
          if (!isCall(message) || !message.params.name.endsWith("_work")) return send(message);
          if (held && held.client !== client && held.message.params.name === message.params.name) {
            held.send(withArguments(held.message, message));
            send(withArguments(message, held.message));
            held = undefined;
          } else if (++calls % SWAP_EVERY === 0 && !held) held = { client, message, send };
          else send(message);
        },
      },
    };
  },
  /** One answer in 200 does not arrive. */
  lose() {
    let answers = 0;
    return {
      between: {
        ...plain,
        toClient(_client, message, deliver) {
          if (message.method !== undefined || ++answers % 200 !== 0) deliver(message);
        },
      },
    };
  },
  /** Answers that are sent after the gateway was asked to stop do not arrive. */
  stop: () => ({
    imports: [
      load(`
        import { Socket } from "node:net";
        process.once("SIGTERM", () => {
          const { write } = Socket.prototype;
          Socket.prototype.write = function (...given) {
            if (!String(given[0]).startsWith("HTTP/1.1 200")) return write.apply(this, given);
            this.destroy();
            return false;
          };
        });
      `),
    ],
  }),
  heap: () => ({
    imports: [load(`globalThis.kept = []; setInterval(() => kept.push(new Array(150_000).fill(0)), 100).unref();`)],
  }),
  descriptors: () => ({
    imports: [load(`import { openSync } from "node:fs"; setInterval(() => openSync("/dev/null"), 50).unref();`)],
  }),
  mistake: () => ({ imports: [load(`setTimeout(() => Promise.reject(new Error("soak")), 3000).unref();`)] }),
};

const MUTANTS = Object.keys(mutants);

/** @param {string} name @returns {Mutant} */
export function createMutant(name) {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`There is no mutant "${name}"; there are ${MUTANTS.join(", ")}`);
  return mutant();
}
