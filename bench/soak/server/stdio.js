// @ts-check
// One connection over stdin and stdout, one message a line. Ends with stdin.

import { createConnection } from "./connection.js";

/** @param {import("./main.js").World} world */
export function serveStdio(world) {
  const write = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);
  const connection = createConnection(world, { push: write });
  const channel = {
    send: write,
    answer: write,
    accept: () => {},
    partial: (/** @type {string} */ text) => void process.stdout.write(text),
    cut: () => process.exit(1),
  };
  process.stdout.on("error", () => process.exit(0));
  let rest = "";
  process.stdin
    .setEncoding("utf8")
    .on("data", (chunk) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") void connection.receive(line, channel);
    })
    .on("end", () => process.exit(0));
}
