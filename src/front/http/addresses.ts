/**
 * The addresses that the gateway listens on: one for clients, and a separate one for the API if the
 * config sets it. Either both open or neither does. The addresses never change while the process
 * runs.
 */
import type { Socket } from "node:net";
import { Credentials } from "../../auth/identity/credentials.ts";
import type { Config } from "../../config/schema/config.ts";
import { watchConfig } from "../../config/watch.ts";
import { isLoopback } from "../../lib/text/loopback.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { followCertificate, readCertificate } from "./certificate.ts";
import type { HttpFront } from "./http.ts";
import { type HttpServer, type HttpServerOptions, listenHttp } from "./server.ts";

export interface AddressesOptions {
  readonly front: HttpFront;
  readonly config: Config;
  readonly onLimit: OnLimit;
  readonly log: Logger;
}

export interface Addresses extends Omit<HttpServer, "renew" | "watchConnections"> {
  /** The URL of the API, if it has its own address. */
  readonly adminUrl: string | undefined;
  /** Resolves after this time without a connection. */
  whenIdle(ms: number): Promise<void>;
}

const ADMIN_HOST = "127.0.0.1";

export async function openAddresses(options: AddressesOptions): Promise<Addresses> {
  const { front, config, log, onLimit } = options;
  const { host, port, tls, admin } = config.gateway;
  const { headerBytes } = config.limits;
  const { receiveMs } = config.timeouts;
  const certificate = tls && (await readCertificate(tls));
  const listen = (options: Pick<HttpServerOptions, "serve" | "attach" | "host" | "port">): Promise<HttpServer> =>
    listenHttp({ ...options, headerBytes, receiveMs, onLimit, certificate, log });
  const main = await listen({ serve: front.serve, attach: front.attach, host, port });
  const adminHost = admin.host ?? ADMIN_HOST;
  let own: HttpServer | undefined;
  try {
    if (admin.port !== undefined) own = await listen({ serve: front.serveAdmin, host: adminHost, port: admin.port });
  } catch (error) {
    await main.close();
    throw error;
  }
  const { isOpen, isAdminOpen } = new Credentials(config.gateway, { now: Date.now, refused() {} });
  if (!isLoopback(host) && isOpen) {
    log.warn(`Listening on ${host} without gateway.auth: anyone who can reach this address can use every server`);
  }
  if (own && !isLoopback(adminHost) && isAdminOpen) {
    log.warn(`The API listens on ${adminHost} without gateway.admin.tokens: anyone who can reach it can use it`);
  }
  const all = own ? [main, own] : [main];
  const unfollow =
    tls &&
    (await followCertificate({
      files: tls,
      watch: watchConfig,
      changed(next) {
        for (const server of all) server.renew(next);
        log.info({ file: tls.cert }, "Reloaded the certificate");
      },
      failed: (message) => log.error(`Keeping the current certificate: ${message}`),
    }));
  return {
    url: main.url,
    port: main.port,
    adminUrl: own && new URL("/api", own.url).href,
    whenIdle: async (ms) => void (await idle(all, ms)),
    stopAccepting() {
      front.drain();
      for (const server of all) server.stopAccepting();
    },
    async close() {
      unfollow?.();
      await Promise.all(all.map((server) => server.close()));
    },
  };
}

function idle(servers: readonly HttpServer[], ms: number): Promise<void> {
  return new Promise((resolve) => {
    let open = 0;
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      timer = setTimeout(resolve, ms);
    };
    const watch = (socket: Socket): void => {
      open++;
      clearTimeout(timer);
      socket.once("close", () => {
        if (--open === 0) wait();
      });
    };
    for (const server of servers) server.watchConnections(watch);
    wait();
  });
}
