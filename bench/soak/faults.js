// @ts-check
// What goes wrong in a soak, one at a time, at random: servers that crash, hang, lie, flood and
// come back, clients that do not behave, a config that changes, gateways that clients started
// themselves and that end.

import { connect } from "node:net";

/** Faults that one call meets; at a server with an address also those of HTTP. */
const SPOILS = ["hang", "half", "late", "twice", "wrongId", "invalidJson", "error", "huge", "flood"];
const HTTP_SPOILS = [
  "drop",
  "dropLate",
  "closeMidway",
  "status401",
  "status404",
  "status500",
  "status503",
  "empty",
  "loseSession",
];
/** After these a server is away for longer each time, so they come at intervals. */
const CRASHES = ["crash", "crashLate", "closeMidway"];
const CRASH_EVERY_MS = 12_000;
const LIES = [`Listening…\n`, `{"jsonrpc":"2.0"\n`, `null\n`];

/** @typedef {import("./servers.js").Server} Server */
/**
 * @typedef {{ servers: Server[], hub: import("./hub.js").Hub, weather:
 *   import("./weather.js").Weather, random: import("./random.js").Random, gateways(): string[],
 *   config: import("./config-file.js").ConfigFile, url: string, token: string,
 *   endOwnGateway(signal: "SIGTERM" | "SIGKILL"): void }} Scene
 */

/** @param {Scene} scene @returns {() => string} puts the next fault in and says which */
export function createFaults({ servers, hub, weather, random, gateways, config, url, token, endOwnGateway }) {
  /** @type {Map<string, number>} */
  const crashed = new Map();
  const mayCrash = (/** @type {Server} */ { name }) =>
    performance.now() - (crashed.get(name) ?? -CRASH_EVERY_MS) >= CRASH_EVERY_MS;
  const programs = servers.filter(({ wire }) => wire === "stdio");
  const addresses = servers.filter(({ wire }) => wire !== "stdio");

  /**
   * The bad weather can end only when the process is gone: before that it still answers.
   * @param {Server} server
   */
  function kill(server) {
    crashed.set(server.name, performance.now());
    hub.whenGone(hub.of(server.name), weather.disturb(gateways(), server.name, { armed: true }));
    server.kill();
  }

  /** @param {Server} server @param {string} kind */
  function spoil(server, kind) {
    const lines = hub.of(server.name);
    if (lines.length === 0) return "nothing: the server is away";
    const line = random.pick(lines);
    const strike = weather.disturb(gateways(), server.name, { armed: true });
    if (CRASHES.includes(kind)) crashed.set(server.name, performance.now());
    if (CRASHES.includes(kind) && (kind !== "closeMidway" || server.wire === "stdio")) hub.whenGone([line], strike);
    hub.spoil(line, kind, strike);
    return `${server.name}: ${kind}`;
  }

  /** @param {string} text */
  function bare(text) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(text);
    setTimeout(() => socket.destroy(), 30);
  }

  const faults = {
    spoil: () => spoil(random.pick(programs), random.pick(SPOILS)),
    spoilHttp: () =>
      spoil(random.pick(addresses.filter(({ wire }) => wire === "http")), random.pick([...SPOILS, ...HTTP_SPOILS])),
    crash() {
      const server = random.pick(servers);
      if (!mayCrash(server)) return faults.spoil();
      if (random.chance(0.5)) return spoil(server, random.pick(["crash", "crashLate"]));
      kill(server);
      return `${server.name}: killed`;
    },
    streams() {
      const server = random.pick(addresses);
      if (!mayCrash(server)) return faults.spoil();
      crashed.set(server.name, performance.now());
      weather.disturb(gateways(), server.name);
      hub.tell(server.name, random.chance(0.5) ? { closeStreams: true } : { dropSessions: true });
      return `${server.name}: closed its streams or forgot its sessions`;
    },
    lie() {
      const server = random.pick(programs);
      hub.tell(server.name, { garbage: random.pick(LIES) });
      return `${server.name}: printed what is no message`;
    },
    lists() {
      const server = random.pick(servers);
      hub.tell(server.name, { lists: 100 });
      return `${server.name}: said 100 times that its list has changed`;
    },
    replace() {
      const server = random.pick(programs);
      config.edit(({ generations }) => {
        generations[server.name] = (generations[server.name] ?? 0) + 1;
      });
      return `${server.name}: replaced by an edit`;
    },
    settings() {
      config.edit((settings) => {
        settings.order = random.next() < 0.5 ? "sorted" : "server";
        settings.callMs = 2500 + Math.floor(random.next() * 500);
      });
      return "settings edited";
    },
    brokenEdit() {
      config.break();
      return "a broken edit";
    },
    halfBody() {
      const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json`;
      bare(`${head}\r\ncontent-length: 1000\r\n\r\n{"jsonrpc"`);
      return "a client sent half a body";
    },
    ownGateway() {
      const signal = random.chance(0.5) ? "SIGTERM" : "SIGKILL";
      endOwnGateway(signal);
      return `a client's own gateway: ${signal}`;
    },
  };
  return () => random.pick(Object.values(faults))();
}
