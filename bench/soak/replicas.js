// @ts-check
// Several gateways in place of one: they share a secret and a Redis, and a proxy sends each request
// to the next one that is not out. To the soak they are one gateway with one address. It restarts
// them one after the other; besides that, one is stopped for a while, and Redis is restarted.

import { spawn } from "node:child_process";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { createGateway, createOutages, freePort } from "./gateway.js";
import { pause, until } from "./wait.js";

const SECRET = "the secret of the soak's replicas";
const TIMEOUT_MS = 1500;
const SHAKE_EVERY_MS = 5000;
/** Longer than a lease: another replica takes the sessions over. */
const ASLEEP_MS = 4500;
const REDIS_GONE_MS = 1500;

/** @typedef {Awaited<ReturnType<typeof createRedis>>} RunningRedis */
/**
 * @typedef {import("./gateway.js").GatewayOptions & { count: number, port: number, redis:
 *   RunningRedis }} ReplicasOptions
 */

/** @param {string} redis */
export function clusterConfig(redis) {
  return { secret: SECRET, listen: "127.0.0.1:${env:SOAK_LISTEN}", timeoutMs: TIMEOUT_MS, redis };
}

export async function createRedis() {
  const port = await freePort();
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  const start = async () => {
    const args = ["--port", String(port), "--save", "", "--appendonly", "no"];
    child = spawn("redis-server", args, { stdio: "ignore" });
    child.once("error", (error) => {
      throw new Error(`--replicas needs redis-server: ${error.message}`);
    });
    await until(() => answers(port), 10_000);
  };
  await start();
  return { url: `redis://127.0.0.1:${port}`, start, kill: () => void child?.kill("SIGKILL") };
}

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** @param {ReplicasOptions} options */
export async function createReplicas({ count, port, redis, ...options }) {
  const outages = createOutages();
  const replicas = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const [own, listen] = [await freePort(), await freePort()];
      const gateway = createGateway({ ...options, name: `r${i + 1}`, port: own, env: { SOAK_LISTEN: String(listen) } });
      return { gateway, port: own, isOut: false };
    }),
  );
  const proxy = balance(replicas, port);
  let last = 0;
  let restarts = 0;
  const sum = (/** @type {(gateway: import("./gateway.js").Gateway) => number} */ of) =>
    replicas.reduce((total, { gateway }) => total + of(gateway), 0);

  const group = {
    name: "main",
    outages,
    get lives() {
      return 1 + restarts;
    },
    async start() {
      await Promise.all(replicas.map(({ gateway }) => gateway.start()));
      await proxy.listen();
    },
    /** @param {import("./gateway.js").Outage["how"]} how */
    async stop(how) {
      for (const replica of replicas) replica.isOut = true;
      await Promise.all(replicas.map(({ gateway }) => gateway.stop(how)));
    },
    /**
     * One of them. A replica that is asked to stop is taken out first, as a load balancer does.
     * @param {import("./gateway.js").Outage["how"]} how
     * @param {() => Promise<unknown>} meanwhile
     */
    async restart(how, meanwhile) {
      last = (last + 1) % replicas.length;
      restarts++;
      const replica = /** @type {typeof replicas[0]} */ (replicas[last]);
      const back = outages.begin(how);
      replica.isOut = how === "SIGTERM";
      await replica.gateway.stop(how);
      await meanwhile();
      await replica.gateway.start();
      replica.isOut = false;
      // A client that had its calls there tries again, and finds the replica that took over.
      if (how === "SIGKILL") await pause(TIMEOUT_MS);
      back();
    },
    /**
     * Lets replicas sleep, and takes Redis away, until told to end.
     * @param {() => boolean} isOver
     * @param {() => () => void} strike makes bad weather, until the returned function was called
     */
    async shake(isOver, strike) {
      for (let n = 0; !isOver(); n++) {
        await pause(SHAKE_EVERY_MS);
        if (isOver()) return;
        const replica = /** @type {typeof replicas[0]} */ (replicas[(last + 1) % replicas.length]);
        const struck = strike();
        const back = n % 2 === 0 ? outages.begin("SIGKILL") : () => {};
        if (n % 2 === 0) {
          replica.gateway.signal("SIGSTOP");
          await pause(ASLEEP_MS);
          replica.gateway.signal("SIGCONT");
          await pause(TIMEOUT_MS);
        } else {
          redis.kill();
          await pause(REDIS_GONE_MS);
          await redis.start();
        }
        back();
        struck();
      }
    },
    kill() {
      proxy.close();
      for (const { gateway } of replicas) {
        gateway.signal("SIGCONT");
        gateway.kill();
      }
    },
    async reading() {
      const all = await Promise.all(replicas.map(({ gateway }) => gateway.reading()));
      const total = (/** @type {"heap" | "descriptors" | "rss"} */ key) => all.reduce((n, one) => n + one[key], 0);
      return { heap: total("heap"), descriptors: total("descriptors"), rss: total("rss") };
    },
    rss: () => sum((gateway) => gateway.rss()),
  };
  return group;
}

/** @param {readonly { port: number, isOut: boolean }[]} replicas @param {number} port */
function balance(replicas, port) {
  let next = 0;
  const server = createServer((incoming, outgoing) => {
    const used = replicas.filter(({ isOut }) => !isOut);
    attempt(used.length);

    /** A replica that refuses the connection got nothing. @param {number} left */
    function attempt(left) {
      const replica = used[++next % Math.max(1, used.length)];
      if (!replica || left === 0) return void outgoing.destroy();
      const { method, headers, url: path } = incoming;
      const to = { host: "127.0.0.1", port: replica.port, method, headers, path, agent: false };
      const sent = request(to, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on("close", () => answer.complete || outgoing.destroy());
      });
      sent.on("error", (/** @type {NodeJS.ErrnoException} */ { code }) => {
        incoming.unpipe(sent);
        if (code === "ECONNREFUSED" && !incoming.readableDidRead) attempt(left - 1);
        else outgoing.destroy();
      });
      outgoing.once("close", () => sent.destroy());
      sent.once("socket", (socket) => socket.once("connect", () => incoming.pipe(sent)));
    }
  });
  return {
    /** @returns {Promise<void>} */
    listen: () => new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve())),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
