import { expect, it } from "vitest";
import type { Peer } from "../../../../src/mcp/peers/peer.ts";
import type { Client } from "../../../../src/mcp/protocol/call.ts";
import { type OwnConnection, ownConnections } from "../../../../src/upstream/servers/connections/own-connections.ts";

const peer = { close: async () => {} } as Peer;
const client = (account: string): Client => ({ account }) as Client;

function limited(limit: number) {
  const struck: string[] = [];
  /** Connections that may be closed to make room. */
  const idle: { account: string; connection: OwnConnection }[] = [];
  const connect = ownConnections({
    serverId: "s",
    limit: () => limit,
    onLimit: (name) => struck.push(name),
    connect: async () => peer,
    makeRoom: (account) => {
      const at = idle.findIndex((one) => account === undefined || one.account === account);
      return at === -1 ? undefined : idle.splice(at, 1)[0]!.connection.close();
    },
  });
  const open = (account: string) => connect(client(account), () => {}, new AbortController().signal);
  return { open, idle, struck };
}

it("an account gets half of the connections that the others leave, so that a newcomer finds one", async () => {
  const { open, struck } = limited(8);
  for (let n = 0; n < 4; n++) await open("mallory");
  await expect(open("mallory")).rejects.toThrow("this token or address has its share (4) of clients with a connection");
  for (let n = 0; n < 2; n++) await open("alice");
  await expect(open("alice")).rejects.toThrow("its share (2)");
  await open("bob");
  expect(struck).toEqual(["connectionsPerServer", "connectionsPerServer"]);
});

it("an account that has its share closes its own idle connections, never those of others", async () => {
  const { open, idle } = limited(4);
  idle.push({ account: "alice", connection: await open("alice") });
  idle.push({ account: "mallory", connection: await open("mallory") });
  for (let n = 0; n < 3; n++) await open("mallory").catch(() => {});
  expect(idle.map(({ account }) => account)).toEqual(["alice"]);
  await expect(open("mallory")).rejects.toThrow("its share");
});

it("a connection that is closed frees its place once", async () => {
  const { open } = limited(1);
  const first = await open("alice");
  await expect(open("bob")).rejects.toThrow("too many clients have a connection");
  await first.close();
  await first.close();
  await open("bob");
  await expect(open("alice")).rejects.toThrow("limits.connectionsPerServer is 1");
});
