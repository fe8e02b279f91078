// @ts-check
// A client's side of the protocol with a handshake: over HTTP the session outlives its connections
// and its gateway; over the other wires it ends with the stream, and the client makes a new one and
// subscribes anew.

import { request } from "node:http";
import { note } from "./updates.js";
import { pause } from "./wait.js";

const AGAIN_MS = 300;
const VERSION = { http: "2025-11-25", sse: "2024-11-05", stdio: "2025-11-25" };

/** @param {import("./client.js").Client} client @param {import("./client.js").World} world */
export function createSession(client, world) {
  const { problems, updates } = world;
  const { wire, wireKind } = client;
  const isSse = wireKind === "sse";
  let isOpen = false;
  /** @type {Promise<void> | undefined} */
  let beginning;
  let renewing = false;
  /** @type {Promise<void>} */
  let renewed = Promise.resolve();
  let watching = false;

  const speaker = {
    /** Makes the session; others that want it meanwhile wait for the same one. */
    begin() {
      beginning ??= handshake().finally(() => {
        beginning = undefined;
      });
      return beginning;
    },
    /**
     * @param {string} method
     * @param {any} params
     * @param {{ began?: (id: number, giveUp: () => void) => void }} [options]
     */
    ask: (method, params, options) => client.exchange(method, params, options),
    /** @param {number} id */
    giveUp(id) {
      client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "enough" } });
    },
    /** The stream that was the session is gone. */
    down() {
      if (!renewing) renewed = renew();
      return renewed;
    },
    /** @type {((method: string, params: any) => void) | undefined} */
    notified: undefined,
    /** @param {number} code */
    status(code) {
      if (code !== 404 || wireKind !== "http" || !isOpen || renewing || client.closed) return;
      renewing = true;
      isOpen = false;
      problems.add("lostSessions", `${client.id} (${client.kind}): HTTP 404`);
      for (const subscription of updates.of(client)) subscription.active = false;
      void speaker.begin().then(() => {
        renewing = false;
        speaker.watch();
      });
    },
    /** Subscribes to what is wanted, again and again until all of it is granted. */
    watch() {
      if (!watching) void subscribe();
    },
    async end() {
      if (wireKind !== "http") return;
      await new Promise((resolve) => {
        const req = request(wire.url ?? "", { method: "DELETE", headers: wire.headers }, (res) => {
          res.resume();
          res.on("close", resolve);
        });
        req.on("error", resolve);
        req.end();
      });
    },
  };
  return speaker;

  async function renew() {
    renewing = true;
    isOpen = false;
    for (const subscription of updates.of(client)) subscription.active = false;
    await pause(AGAIN_MS / 3);
    await client.wire.open();
    renewing = false;
    // The handshake that was under way may have been for the stream before.
    while (!isOpen && !client.closed) await speaker.begin();
    speaker.watch();
  }

  async function handshake() {
    const capabilities = { sampling: {}, ...(!isSse && { elicitation: {}, tasks: { requests: {} } }) };
    const clientInfo = { name: client.id, version: "1" };
    const params = { protocolVersion: VERSION[wireKind], capabilities, clientInfo };
    while (!client.closed) {
      delete wire.headers["mcp-session-id"];
      delete wire.headers["mcp-protocol-version"];
      const { message } = await client.exchange("initialize", params);
      if (message?.result) break;
      await pause(AGAIN_MS);
    }
    if (client.closed) return;
    if (wireKind === "http") wire.headers["mcp-protocol-version"] = VERSION.http;
    client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    isOpen = true;
    wire.stand();
    await client.exchange("logging/setLevel", { level: "info" });
  }

  async function subscribe() {
    watching = true;
    for (;;) {
      const missing = updates.of(client).filter(({ active }) => !active);
      if (client.closed || missing.length === 0) break;
      for (const subscription of missing) {
        if (!isOpen) break;
        const { server, uri } = subscription;
        const { message } = await client.exchange("resources/subscribe", { uri: `${server}+${uri}` });
        if (!message?.result || !isOpen) continue;
        subscription.active = true;
        note(subscription, "granted");
        // What changed before the subscription was not promised, but is to be known.
        void client.read(subscription);
      }
      await pause(AGAIN_MS);
    }
    watching = false;
  }
}
