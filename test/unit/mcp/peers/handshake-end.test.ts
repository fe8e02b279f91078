import { expect, test } from "vitest";
import type { Link, LinkEvents } from "../../../../src/mcp/links/link.ts";
import { connectLegacy } from "../../../../src/mcp/peers/legacy/connect.ts";
import { ModernPeer } from "../../../../src/mcp/peers/modern/peer.ts";
import type { PeerEvents } from "../../../../src/mcp/peers/peer.ts";
import { GoblinError } from "../../../../src/mcp/protocol/errors.ts";

const INFO = { capabilities: {}, serverInfo: { name: "s", version: "1" } };
const lost = new GoblinError("BACKEND_UNAVAILABLE", "The session is gone");

/** A link that answers the first request, and ends before the peer has seen the answer. */
function endingLink(events: LinkEvents, result: object): Link {
  return {
    hasSession: true,
    send(text, { id, accepted } = {}) {
      if (id !== undefined) events.message(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result })), undefined);
      if (id === undefined || text.includes("server/discover")) events.closed(lost, true);
      accepted?.();
    },
    drop() {},
    established() {},
    close: () => Promise.resolve(),
  };
}

const told: string[] = [];
const events = { closed: () => told.push("closed"), problem() {}, changed() {} } as unknown as PeerEvents;

test("a connection that ends during the handshake is no connection", async () => {
  const opening = connectLegacy({
    events,
    clientInfo: { name: "g", version: "1" },
    capabilities: {},
    connectMs: 60_000,
    open: (peer) => Promise.resolve(endingLink(peer, { protocolVersion: "2025-11-25", ...INFO })),
  } as Parameters<typeof connectLegacy>[0]);
  await expect(opening).rejects.toThrow("The connection closed during the handshake");
  expect(told).toEqual([]);
});

test("nor is one of the era without sessions", async () => {
  const peer = new ModernPeer({
    events,
    clientInfo: { name: "g", version: "1" },
    signal: new AbortController().signal,
    cancelByClosing: true,
    sessionsApart: false,
    inputSchema: () => undefined,
    open: (listener) =>
      Promise.resolve(endingLink(listener, { resultType: "complete", supportedVersions: ["2026-07-28"], ...INFO })),
  });
  await expect(peer.open()).rejects.toThrow("The connection closed during the handshake");
});
