/** Messages as a link delivers them, to the parts of a peer that take them. */
import { expect, test } from "vitest";
import { Pending } from "../../../../src/mcp/peers/pending.ts";
import { Receiver } from "../../../../src/mcp/peers/receiver.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

function listen({ readsBatches = false } = {}) {
  const pending = new Pending();
  const events: string[] = [];
  const receiver = new Receiver({
    pending,
    peer: {
      waiting: (id) => pending.has(id),
      failed: (id, error) => void events.push(`failed ${id}: ${error.message}`),
      problem: (message) => void events.push(`problem: ${message}`),
    },
    isClosed: () => false,
    readsBatches,
    request: ({ method }) => void events.push(`request ${method}`),
    notification: ({ method }, { stream }) => void events.push(`notification ${method} on ${stream}`),
  });
  return {
    events,
    sent: (): { id: number; answer: Promise<Answer> } => {
      const id = pending.nextId();
      return { id, answer: new Promise((resolve) => pending.add(id, undefined, resolve)) };
    },
    receive: (text: string, stream?: number) => receiver.receive(Buffer.from(text), stream, undefined),
  };
}

const answer = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{"n":${id}}}`;

test("answers settle their requests, and the rest goes to the peer", async () => {
  const { events, sent, receive } = listen();
  const first = sent();
  receive('{"jsonrpc":"2.0","id":"q","method":"ping"}');
  receive('{"jsonrpc":"2.0","method":"notifications/message","params":{}}', 7);
  receive(answer(first.id));
  expect(await first.answer).toMatchObject({ ok: true, raw: '{"n":1}' });
  receive(answer(first.id));
  receive(answer(99));
  expect(events).toEqual([
    "request ping",
    "notification notifications/message on 7",
    "problem: A second answer to one request (id 1)",
    "problem: An answer to a request that was never sent (id 99)",
  ]);
});

test("a whole message behind a broken one on the same line is read", async () => {
  const { events, sent, receive } = listen();
  const [broken, whole] = [sent(), sent()];
  receive(`{"jsonrpc":"2.0","id":${broken.id},"result":{"te${answer(whole.id)}`);
  expect(await whole.answer).toMatchObject({ ok: true, raw: '{"n":2}' });
  expect(events).toEqual([`failed ${broken.id}: The server's answer is not valid JSON`, "problem: Not a JSON message"]);
});

test("an array is read only where the version has batches", async () => {
  const without = listen();
  without.receive(`[${answer(without.sent().id)}]`);
  expect(without.events).toEqual(["problem: Not a JSON-RPC message: a message must be a JSON object"]);

  const withBatches = listen({ readsBatches: true });
  const [first, second] = [withBatches.sent(), withBatches.sent()];
  withBatches.receive(` [${answer(first.id)},${answer(second.id)}]`);
  expect(await Promise.all([first.answer, second.answer])).toMatchObject([{ raw: '{"n":1}' }, { raw: '{"n":2}' }]);
  expect(withBatches.events).toEqual([]);
});
