// @ts-check
// The faults that one call can meet at its server: some happen instead of it, some after it was
// executed, some spoil its answer.

import { setTimeout as sleep } from "node:timers/promises";

/** @typedef {{ world: any, connection: any, message: any, channel: any }} Met */

/** @param {Met} met */
const executed = ({ world, message }) => world.book(message.params.arguments?.nonce, message.params.name);

/** @type {Record<string, (met: Met) => void>} */
export const INSTEAD = {
  crash: () => process.exit(1),
  /** Executed, then gone: nobody may send such a call a second time. */
  crashLate(met) {
    executed(met);
    process.exit(1);
  },
  drop: ({ channel }) => channel.cut(),
  dropLate(met) {
    executed(met);
    met.channel.cut();
  },
  hang: executed,
  error({ message, channel }) {
    const data = { nonce: message.params.arguments?.nonce };
    channel.answer(
      JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32000, message: "spoiled", data } }),
    );
  },
  status401: ({ channel }) => channel.status?.(401),
  status404: ({ channel }) => channel.status?.(404),
  status500: ({ channel }) => channel.status?.(500),
  status503: ({ channel }) => channel.status?.(503),
  empty: ({ channel }) => channel.status?.(200),
  loseSession({ connection, channel }) {
    channel.status?.(404);
    connection.drop();
  },
};

/** @param {{ spoil: any, answer: any, channel: any, connection: any }} options */
export async function answerSpoiled({ spoil, answer, channel, connection }) {
  const text = JSON.stringify(answer);
  const half = text.slice(0, text.length >> 1);
  switch (spoil.do) {
    case "late":
      await sleep(3500);
      return channel.answer(text);
    case "twice":
      channel.send(text);
      return channel.answer(text);
    case "wrongId":
      return channel.answer(JSON.stringify({ ...answer, id: "nobody asked" }));
    case "invalidJson":
      return channel.answer(`{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)},"result":{"content":[}}`);
    case "half":
      return channel.partial(half);
    case "closeMidway":
      channel.partial(half);
      await sleep(20);
      return channel.cut();
    case "huge":
      return channel.answer(JSON.stringify({ ...answer, padding: "x".repeat(600_000) }));
    case "flood":
      for (let n = 0; n < 200; n++) connection.listChanged();
      return channel.answer(text);
    default:
      throw new Error(`Unknown fault: ${spoil.do}`);
  }
}
