// @ts-check
// The parent's side of the load generator: forks it and turns its messages into promises.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** @typedef {ReturnType<typeof forkGenerator>} Generator */

const LIMIT_MS = 80_000;

export function forkGenerator() {
  const child = fork(fileURLToPath(new URL("load.js", import.meta.url)));
  /**
   * @type {Map<string, { resolve(value: any): void, reject(error: Error): void, timer:
   *   NodeJS.Timeout }>}
   */
  const waiting = new Map();
  let keys = 0;

  child.on("message", (/** @type {any} */ { key, step, result, error }) => {
    const entry = waiting.get(`${step} ${key}`);
    if (!entry) return;
    waiting.delete(`${step} ${key}`);
    clearTimeout(entry.timer);
    if (error === undefined) entry.resolve(result);
    else entry.reject(new Error(error));
  });
  child.on("exit", () => {
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(new Error("the load generator ended"));
    }
    waiting.clear();
  });

  /**
   * @param {{ step: string, key: number, type?: string, job?: object }} order
   * @returns {Promise<any>}
   */
  function tell(order) {
    const name = `${order.step} ${order.key}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the load generator did not answer: ${name}`)), LIMIT_MS);
      waiting.set(name, { resolve, reject, timer });
      child.send(order);
    });
  }

  return {
    /** @param {"load" | "subscribers" | "sessions" | "waiting"} type @param {object} job */
    async prepare(type, job) {
      keys += 1;
      const key = keys;
      await tell({ step: "prepare", key, type, job });
      return {
        start: () => tell({ step: "start", key }),
        close: () => tell({ step: "close", key }),
      };
    },
    stop: () => child.kill("SIGKILL"),
  };
}
