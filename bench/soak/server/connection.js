// @ts-check
// One client's connection, whatever the wire. The wire gives every message a channel:
//   send(text)     on the stream of this request, before its answer
//   answer(text)   the answer, and the end of that stream
//   accept()       nothing is to be said
//   cut()          an end without an answer
//   status?(code)  over HTTP, that status and nothing else
// and the connection three ways: `push` for what belongs to no request, `shut` to break its own
// stream, `lose` to forget its session.

import { methods } from "./methods.js";
import { answerSpoiled, INSTEAD } from "./spoil.js";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/**
 * @typedef {{ send(text: string): void, answer(text: string): void, accept(): void, cut(): void,
 *   partial(text: string): void, status?(code: number): void, onClose?(listener: () => void): void
 *   }} Channel
 */
/** @typedef {{ push(text: string): void, shut?(): void, lose?(): void }} Ways */

/** @param {import("./main.js").World} world @param {Ways} ways */
export function createConnection(world, { push, shut = () => {}, lose = () => {} }) {
  /** @type {Map<string, (answer: any) => void>} */
  const waiting = new Map();
  /**
   * Without sessions several gateways meet here, and their ids with them.
   * @type {Set<{ id: string | number, uris: string[], lists: boolean, channel: Channel }>}
   */
  const listens = new Set();
  let asked = 0;

  const connection = {
    initialized: false,
    /** The least important level that is sent; undefined: all. @type {string | undefined} */
    level: undefined,
    capabilities: /** @type {Record<string, unknown>} */ ({}),
    /** @type {Set<string>} */
    subscribed: new Set(),
    listens,
    push,

    /** @param {string} uri */
    updated(uri) {
      const note = { method: "notifications/resources/updated", params: { uri } };
      if (connection.subscribed.has(uri)) push(textOf(note));
      for (const { id, uris, channel } of listens) if (uris.includes(uri)) channel.send(textOf(stamped(note, id)));
    },
    listChanged() {
      const note = { method: "notifications/tools/list_changed", params: {} };
      if (connection.initialized) push(textOf(note));
      for (const { id, lists, channel } of listens) if (lists) channel.send(textOf(stamped(note, id)));
    },
    closeStreams() {
      for (const listen of listens) {
        listens.delete(listen);
        const { id, channel } = listen;
        if (world.wire === "stdio")
          channel.send(textOf({ method: "notifications/cancelled", params: { requestId: id } }));
        else channel.cut();
      }
      shut();
    },
    /** Forgets the session, where there are any. */
    drop() {
      if (!world.modern) world.connections.delete(connection);
      connection.closeStreams();
      lose();
    },
    close() {
      world.connections.delete(connection);
    },

    /** @param {string} text @param {Channel} channel */
    async receive(text, channel) {
      const message = JSON.parse(text);
      if (message.method === undefined) {
        channel.accept();
        waiting.get(message.id)?.(message);
        return void waiting.delete(message.id);
      }
      if (message.id === undefined) {
        if (message.method === "notifications/cancelled") {
          for (const listen of listens) if (listen.id === message.params?.requestId) listens.delete(listen);
        }
        return channel.accept();
      }
      const isCall = message.method === "tools/call" && message.params?.requestState === undefined;
      const spoil = isCall ? world.takeSpoil() : undefined;
      if (spoil && INSTEAD[spoil.do]) return INSTEAD[spoil.do]?.({ world, connection, message, channel });
      const answer = await answerTo(message, channel);
      if (answer === undefined) return;
      if (spoil) return answerSpoiled({ spoil, answer, channel, connection });
      channel.answer(JSON.stringify(answer));
    },
  };
  world.connections.add(connection);
  return connection;

  /** @param {any} message @param {Channel} channel */
  async function answerTo({ id, method, params = {} }, channel) {
    const call = {
      world,
      connection,
      channel,
      id,
      params,
      /** @param {object} note */
      send: (note) => channel.send(textOf(note)),
      /**
       * A request to the client; its answer, or the error that it was refused with.
       * @param {object} question
       */
      request: (question) =>
        new Promise((/** @type {(answer: any) => void} */ resolve) => {
          const own = `ask-${process.pid}-${++asked}`;
          waiting.set(own, resolve);
          channel.send(JSON.stringify({ jsonrpc: "2.0", id: own, ...question }));
        }),
    };
    try {
      const run = methods(world)[method];
      if (!run) throw { code: -32601, message: `Method not found: ${method}` };
      const result = await run(call);
      return result === undefined ? undefined : { jsonrpc: "2.0", id, result };
    } catch (/** @type {any} */ error) {
      return {
        jsonrpc: "2.0",
        id,
        error: { code: error.code ?? -32603, message: String(error.message), data: error.data },
      };
    }
  }
}

/** @param {object} note */
function textOf(note) {
  return JSON.stringify({ jsonrpc: "2.0", ...note });
}

/** @param {{ method: string, params: object }} note @param {string | number} id */
export function stamped({ method, params }, id) {
  return { method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } };
}
