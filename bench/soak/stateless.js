// @ts-check
// A client's side of the protocol without a handshake: every request describes its client,
// questions come as results, and one listen stream brings the updates. When that stream ends the
// client listens anew and reads everything, since it may have missed something.

import { note } from "./updates.js";
import { pause } from "./wait.js";

const META = "io.modelcontextprotocol/";
const VERSION = "2026-07-28";
const AGAIN_MS = 300;
const FOR_EVER_MS = 2 ** 31 - 1;
/** @type {Record<string, string>} */
const NAMED = { "tools/call": "name", "resources/read": "uri" };

/** @param {import("./client.js").Client} client @param {import("./client.js").World} world */
export function createStateless(client, world) {
  const { updates } = world;
  /** The listen request whose stream is the newest. */
  let current = 0;
  let listening = false;
  let stop = () => {};

  const speaker = {
    async begin() {
      if (client.wireKind === "stdio") await speaker.ask("server/discover", {});
    },
    /**
     * @param {string} method
     * @param {any} params
     * @param {{ began?: (id: number, giveUp: () => void) => void, patienceMs?: number }} [options]
     */
    ask(method, params, options = {}) {
      const _meta = {
        ...params._meta,
        [`${META}protocolVersion`]: VERSION,
        [`${META}clientCapabilities`]: { sampling: {}, elicitation: {} },
        [`${META}clientInfo`]: { name: client.id, version: "1" },
        [`${META}logLevel`]: "info",
      };
      const named = params[NAMED[method] ?? ""];
      const headers = { "mcp-protocol-version": VERSION, "mcp-method": method, ...(named && { "mcp-name": named }) };
      return client.exchange(method, { ...params, _meta }, { ...options, headers });
    },
    /** @param {number} id @param {() => void} abort */
    giveUp(id, abort) {
      if (client.wireKind === "http") abort();
      else client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    },
    async down() {
      await pause(AGAIN_MS / 3);
      await client.wire.open();
      await speaker.begin();
    },
    /** @type {((code: number) => void) | undefined} */
    status: undefined,
    watch() {
      if (listening) stop();
      else void listen();
    },
    /** @param {string} method @param {any} params */
    notified(method, params) {
      if (method !== "notifications/subscriptions/acknowledged" || params._meta?.[`${META}subscriptionId`] !== current)
        return;
      const honoured = params.notifications?.resourceSubscriptions ?? [];
      for (const subscription of updates.of(client)) {
        subscription.active = honoured.includes(`${subscription.server}+${subscription.uri}`);
        if (!subscription.active) continue;
        note(subscription, "granted");
        void client.read(subscription);
      }
      // What was not granted (its server is away) is asked for again.
      if (updates.of(client).some(({ active }) => !active)) setTimeout(() => stop(), AGAIN_MS);
    },
    /** @type {(() => Promise<void>) | undefined} */
    end: undefined,
  };
  return speaker;

  async function listen() {
    listening = true;
    while (!client.closed) {
      const resourceSubscriptions = updates.of(client).map(({ server, uri }) => `${server}+${uri}`);
      const notifications = { resourceSubscriptions, toolsListChanged: true };
      await speaker.ask(
        "subscriptions/listen",
        { notifications },
        {
          patienceMs: FOR_EVER_MS,
          began(id, giveUp) {
            current = id;
            stop = giveUp;
          },
        },
      );
      for (const subscription of updates.of(client)) subscription.active = false;
      await pause(50);
    }
    listening = false;
  }
}
