/** Requests are sent at the end of a turn, together. Until then, anything may happen. */
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Connection, openSocket, shared } from "../../../../src/lib/http-client/connection.ts";
import { ask, connectTo, moment, POST } from "../../../fixtures/connections.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";
import { until } from "../../../fixtures/until.ts";

afterEach(disposeAll);

const ok = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A server that answers every packet, as all requests here are one. */
async function listen() {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      requests.push(chunk.toString("latin1"));
      socket.write(ok("{}"));
    });
  });
  return { ...(await connectTo(server, "http://127.0.0.1")), requests };
}

test("takes nothing for an answer that comes before the request was sent", async () => {
  const { origin, requests } = await listen();
  const address = { url: new URL(origin), connectMs: 5000 };
  const socket = openSocket(address, undefined, (count) => made.read(count));
  const made: Connection = new Connection(socket, address, { answered: () => {}, onClose: () => {} });
  onDispose(() => made.destroy());
  await once(socket, "connect");
  const seen: unknown[] = [];
  const failed = new Promise<void>((resolve) => {
    const user = { head: () => seen.push("head"), body: () => seen.push("body"), complete: () => seen.push("end") };
    made.send("POST / HTTP/1.1\r\n", "{}", { ...user, failed: () => resolve() });
  });
  // As if the server had sent this by itself, in the turn in which the request was made.
  made.read(shared.write(ok("[]"), "latin1"));
  await failed;
  await moment();
  expect([seen, requests]).toEqual([[], []]);
});

test("sends what it was given, also if it is given up at once", async () => {
  const { connections, requests } = await listen();
  await ask(connections);
  await moment();
  const error = await new Promise((resolve) => {
    const user = { head: () => {}, body: () => {}, complete: () => {}, failed: resolve };
    connections.send(connections.headOf(POST), '"given up"', user).abort(new Error("not wanted"));
  });
  expect(error).toEqual(new Error("not wanted"));
  await until(() => requests.length === 2);
  expect(requests[1]).toContain('"given up"');
});
