/**
 * The addresses that the gateway listens on: one for clients, and one for the API where the config
 * gives it one of its own. Both are opened or none is; where they are does not change while the
 * process lives.
 */
import type { Config } from "../../config/schema/config.ts";
import { watchConfig } from "../../config/watch.ts";
import type { OnLimit } from "../../protocol/limit-exceeded.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { followCertificate, readCertificate } from "./certificate.ts";
import { isLoopback } from "./guard.ts";
import type { HttpFront } from "./http.ts";
import { type HttpServer, type HttpServerOptions, listenHttp } from "./server.ts";

export interface AddressesOptions {
  readonly front: HttpFront;
  readonly config: Config;
  readonly onLimit: OnLimit;
  readonly log: Logger;
}

export interface Addresses extends Omit<HttpServer, "renew"> {
  /** Where the API is, if not at the same address. */
  readonly adminUrl: string | undefined;
}

const ADMIN_HOST = "127.0.0.1";

export async function openAddresses({ front, config, log, onLimit }: AddressesOptions): Promise<Addresses> {
  const { host, port, tls, auth, admin } = config.gateway;
  const { headerBytes } = config.limits;
  const { receiveMs } = config.timeouts;
  const certificate = tls && (await readCertificate(tls));
  const listen = (options: Pick<HttpServerOptions, "serve" | "host" | "port">): Promise<HttpServer> =>
    listenHttp({ ...options, headerBytes, receiveMs, onLimit, certificate, log });
  const main = await listen({ serve: front.serve, host, port });
  const adminHost = admin.host ?? ADMIN_HOST;
  let own: HttpServer | undefined;
  try {
    if (admin.port !== undefined) own = await listen({ serve: front.serveAdmin, host: adminHost, port: admin.port });
  } catch (error) {
    await main.close();
    throw error;
  }
  if (!isLoopback(host) && auth.tokens.length === 0) {
    log.warn(`Listening on ${host} without gateway.auth: everybody who reaches this address can use all servers`);
  }
  if (own && !isLoopback(adminHost) && auth.tokens.length + admin.tokens.length === 0) {
    log.warn(`The API listens on ${adminHost} without gateway.admin.tokens: everybody who reaches it can use it`);
  }
  const all = own ? [main, own] : [main];
  const unfollow =
    tls &&
    (await followCertificate({
      files: tls,
      watch: watchConfig,
      changed(next) {
        for (const server of all) server.renew(next);
        log.info({ file: tls.cert }, "The certificate was read again");
      },
      failed: (message) => log.error(`The certificate in use stays: ${message}`),
    }));
  return {
    url: main.url,
    port: main.port,
    adminUrl: own && new URL("/api", own.url).href,
    stopAccepting() {
      for (const server of all) server.stopAccepting();
    },
    async close() {
      unfollow?.();
      await Promise.all(all.map((server) => server.close()));
    },
  };
}
