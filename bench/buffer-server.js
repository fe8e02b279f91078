// @ts-check
// Serves one Buffer to every POST: the ceiling for a list, which cannot be answered faster than by
// sending its bytes. node bench/buffer-server.js <file with the bytes>

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const bytes = readFileSync(process.argv[2] ?? "");

const server = createServer((req, res) => {
  req.resume();
  req.on("end", () => {
    res.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
    res.end(bytes);
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${address.port}/mcp`);
});
process.on("disconnect", () => process.exit(0));
