// @ts-check
// The line that every server process of the soak holds open to the soak, no matter what started it:
// by it the soak changes resources, puts faults in, and knows which processes are alive. A server
// whose line breaks ends itself, so nothing outlives the soak.

import { createServer } from "node:net";

/** @typedef {{ name: string, pid: number, port: number, send(order: object): void }} Line */
/** @typedef {Awaited<ReturnType<typeof openHub>>} Hub */

export async function openHub() {
  /** @type {Set<Line>} */
  const lines = new Set();
  /** @type {Map<number, () => void>} */
  const waiting = new Map();
  /** Called when a process has ended. @type {Map<Line, (() => void)[]>} */
  const mourners = new Map();
  let spoils = 0;

  const server = createServer((socket) => {
    /** @type {Line} */
    const line = { name: "", pid: 0, port: 0, send: (order) => void socket.write(`${JSON.stringify(order)}\n`) };
    let rest = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      const parts = `${rest}${chunk}`.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) heard(line, JSON.parse(part));
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      lines.delete(line);
      for (const told of mourners.get(line) ?? []) told();
      mourners.delete(line);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

  /** @param {Line} line @param {any} message */
  function heard(line, { name, pid, listening, used }) {
    if (name) {
      Object.assign(line, { name, pid });
      lines.add(line);
    }
    if (listening) line.port = listening;
    waiting.get(used)?.();
    waiting.delete(used);
  }

  return {
    port,
    get isEmpty() {
      return lines.size === 0;
    },
    /** The processes of a server. @param {string} name */
    of: (name) => [...lines].filter((line) => line.name === name),
    /** @param {string} name @param {object} order */
    tell(name, order) {
      for (const line of lines) if (line.name === name) line.send(order);
    },
    /**
     * Calls `gone` when all of these processes have ended.
     * @param {readonly Line[]} processes
     * @param {() => void} gone
     */
    whenGone(processes, gone) {
      let left = processes.length;
      if (left === 0) return gone();
      const one = () => void (--left === 0 && gone());
      for (const line of processes) mourners.set(line, [...(mourners.get(line) ?? []), one]);
    },
    /**
     * Puts a fault into one process; `used` is called when a call met it.
     * @param {Line} line
     * @param {string} kind
     * @param {() => void} used
     */
    spoil(line, kind, used) {
      const id = ++spoils;
      waiting.set(id, used);
      line.send({ spoil: { id, do: kind } });
    },
    close() {
      server.close();
      for (const line of lines) line.send({ exit: 0 });
    },
  };
}
