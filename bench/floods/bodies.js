// @ts-check
// Floods of large request bodies.

import { MB, pause, sendChunks, startClient, times } from "./parts.js";

const name = "s_work";
const hang = { methods: { "tools/call": () => new Promise(() => {}) } };

/** @type {readonly import("./floods.js").Flood[]} */
export const bodyFloods = [
  {
    row: "M5",
    what: "256 calls of 4 MB to an HTTP server that does not answer",
    server: hang,
    run: async (gateway) => {
      const client = await startClient(gateway);
      const body = { name, arguments: { text: "x".repeat(3.9 * MB) } };
      const calls = times(
        256,
        () => Promise.race([client.call("tools/call", body).catch(() => {}), pause(12_000)]),
        256,
      );
      await Promise.race([calls, pause(12_000)]);
    },
  },
  {
    row: "–",
    what: "40 calls of 4 MB full of []",
    run: async (gateway) => {
      const client = await startClient(gateway);
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{"list":[${"[],".repeat(1.3 * MB)}[]]}}}`;
      await times(40, () => Promise.race([client.send(body).catch(() => {}), pause(12_000)]), 20);
    },
  },
  {
    row: "–",
    what: "20 calls of 2 MB in chunks of one byte",
    run: async (gateway) => {
      const { headers } = await startClient(gateway);
      const byte = "1\r\n \r\n".repeat(20_000);
      await times(20, () => sendChunks(gateway, headers, { text: byte, times: 100 }), 20);
    },
  },
];
