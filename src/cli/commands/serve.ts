/**
 * `goblin serve`: runs the gateway over HTTP until a signal stops it. Prints the endpoint once it
 * listens.
 */
import { openApprovals } from "../../approvals/state.ts";
import { clusterSecret, openCluster } from "../../cluster/open.ts";
import type { Config } from "../../config/schema/config.ts";
import { isInvalid } from "../../config/schema/server.ts";
import { createGateway, type Gateway } from "../../gateway.ts";
import { openLogins } from "../../login/book/open-logins.ts";
import { Pairing } from "../../pairing/pairing.ts";
import { openKeptLists } from "../../servers/lists/kept-lists.ts";
import { openState } from "../../session/continuity.ts";
import { createLogger } from "../../telemetry/logger.ts";
import { type ChooseOptions, chooseConfig, withAddress } from "../config.ts";
import { ConfigFollower } from "../config-follower.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { addressOf, ownToken } from "../gateway/find-gateway.ts";
import { type GatewayRecord, writeRecord } from "../gateway/gateway-record.ts";
import { settlePort } from "../gateway/settle-port.ts";
import { openBrowser } from "../logins/browser.ts";
import { askInputs } from "../secrets/ask-inputs.ts";
import { exitSoon, listenToSignals } from "../signals.ts";
import { askForTrust } from "../trust/consent.ts";

const MINUTE_MS = 60_000;

export interface ServeOptions extends ChooseOptions {
  /** Shows the dashboard, which also displays the log; log lines would garble the screen. */
  readonly tui?: boolean | undefined;
  /** Runs as soon as clients can connect, before the dashboard. */
  readonly listening?: (servers: Gateway["servers"]) => Promise<void>;
  /** A client started it, which is not its user. */
  readonly background?: boolean | undefined;
  /** Minutes without a connection after which it stops. */
  readonly stopWhenIdle?: number | undefined;
}

export async function serve(options: ServeOptions): Promise<number> {
  const { config: chosen, file, found } = await chooseConfig(options, askForTrust);
  await askInputs(chosen);
  const isBackground = options.background === true;
  const settled = await settlePort({ config: chosen, configPath: file?.path, isBackground });
  const placed = (next: Config): Config => ({ ...next, gateway: { ...next.gateway, port: settled.port } });
  const config = placed(chosen);
  const log = createLogger({ ...config.log, stream: options.tui ? nowhere : process.stderr });
  surviveUncaughtErrors(log);
  let running: Gateway | undefined;
  const follower =
    file &&
    new ConfigFollower({
      file,
      found,
      override: (next) => (settled.port === chosen.gateway.port ? withAddress(next, options) : placed(next)),
      gateway: () => running!,
      log,
    });
  const signals = listenToSignals(() => {
    // Whatever it would read again was read a moment ago.
    if (!running) return;
    running.reopenLogs();
    follower?.reloadQuietly();
  });
  const { host, port } = config.gateway;
  const endpoint = port === 0 ? undefined : `${host}:${port}`;
  const warn = (message: string): void => log.warn(message);
  const cluster = await openCluster(config, { env: process.env, log });
  const gateway = createGateway({
    config,
    log,
    configPath: file?.path,
    reload: follower && (() => follower.reload()),
    preview: follower && ((current) => follower.preview(current)),
    state: await openState({ env: process.env, endpoint, warn, secret: clusterSecret(config, process.env) }),
    cluster,
    approvals: await openApprovals({ env: process.env, endpoint, warn }),
    kept: await openKeptLists(process.env, log),
    logins: await openLogins({ env: process.env, warn, books: cluster?.books }),
    pairing: new Pairing({ env: process.env, warn, books: cluster?.books }),
  });
  running = gateway;
  const { url, port: actual, adminUrl, whenIdle } = await gateway.listen();
  await follower?.watch();
  const invalid = config.servers.filter(isInvalid).length;
  const count = config.servers.filter((server) => server.enabled).length - invalid;
  const bad = invalid === 0 ? "" : `, ${invalid} invalid`;
  const source = file ? file.path : "no config found: demo servers";
  if (!options.tui) {
    console.log(`Goblin is listening on ${url} (${count} ${count === 1 ? "server" : "servers"}${bad}; ${source})`);
    console.log(`Look at it in your browser: ${new URL("/ui", adminUrl ?? url).href} (with tokens: goblin ui)`);
  }
  const origin = `${config.gateway.tls ? "https" : "http"}://${addressOf({ host, port: actual })}`;
  const admins = adminUrl === undefined ? origin : new URL(adminUrl).origin;
  const forget = record(file?.path, { pid: process.pid, url: origin, adminUrl: admins, isBackground });
  settled.started();
  let isOver = false;
  void signals.ended.then(() => {
    isOver = true;
  });
  await Promise.race([signals.ended, options.listening?.(gateway.servers)]);
  const { auth, admin } = config.gateway;
  const shown = options.tui && !isOver ? dashboard(adminUrl ?? url, ownToken({ auth, admin })) : undefined;
  const idle = options.stopWhenIdle === undefined ? [] : [whenIdle(options.stopWhenIdle * MINUTE_MS)];
  const code = await Promise.race([signals.ended, ...idle, ...(shown ? [shown] : [])]);
  forget();
  follower?.close();
  await gateway.close({ drain: true });
  exitSoon();
  return typeof code === "number" ? code : 0;
}

/** Without a state folder, clients look at the config's address only. */
function record(config: string | undefined, running: GatewayRecord): () => void {
  try {
    return writeRecord(config, running, process.env);
  } catch {
    return () => {};
  }
}

const nowhere = { write: (): void => {} };

async function dashboard(url: string, token: string | undefined): Promise<number> {
  // Loads Ink and React on demand.
  const { runTui } = await import("../../tui/index.ts");
  return runTui({ url, token, openUrl: openBrowser });
}
