/**
 * `goblin serve`: runs the gateway over HTTP until a signal stops it. Prints the endpoint once it
 * listens.
 */
import type { Config } from "../../../config/schema/config.ts";
import { createLogger } from "../../../observe/telemetry/logger.ts";
import type { Gateway } from "../../gateway.ts";
import { type ChooseOptions, chooseConfig, withAddress } from "../config.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { announce, NOWHERE, recordGateway, showDashboard } from "../gateway/announce.ts";
import { type OpenedGateway, openGateway } from "../gateway/open-gateway.ts";
import { settlePort } from "../gateway/settle-port.ts";
import { askInputs } from "../secrets/ask-inputs.ts";
import { exitSoon, listenToSignals } from "../signals.ts";
import { askForTrust } from "../trust/consent.ts";
import { UsageError } from "../usage-error.ts";

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
  /** The value of `--workers`, which is always refused. */
  readonly workers?: string | true | undefined;
}

export async function serve(options: ServeOptions): Promise<number> {
  if (options.workers !== undefined) {
    throw new UsageError(
      "--workers is not supported: a gateway is one process. Run several replicas behind a load balancer instead " +
        "(docs/scaling.md)",
    );
  }
  const { config: chosen, file, found } = await chooseConfig(options, askForTrust);
  await askInputs(chosen);
  const isBackground = options.background === true;
  const settled = await settlePort({ config: chosen, configPath: file?.path, isBackground });
  const placed = (next: Config): Config => ({ ...next, gateway: { ...next.gateway, port: settled.port } });
  const config = placed(chosen);
  const log = createLogger({ ...config.log, stream: options.tui ? NOWHERE : process.stderr });
  surviveUncaughtErrors(log);
  let opened: OpenedGateway | undefined;
  // Whatever it would read again was read a moment ago.
  const signals = listenToSignals(() => opened?.hangup());
  const override = (next: Config): Config =>
    settled.port === chosen.gateway.port ? withAddress(next, options) : placed(next);
  opened = await openGateway({ config, file, found, override, log });
  const { gateway, follower } = opened;
  const { url, port: actual, adminUrl, whenIdle } = await gateway.listen();
  await follower?.watch();
  if (!options.tui) announce({ url, adminUrl, config, configPath: file?.path });
  const forget = recordGateway({ url, port: actual, adminUrl, config, configPath: file?.path, isBackground });
  settled.started();
  let isOver = false;
  void signals.ended.then(() => {
    isOver = true;
  });
  await Promise.race([signals.ended, options.listening?.(gateway.servers)]);
  const shown = options.tui && !isOver ? showDashboard(adminUrl ?? url, config) : undefined;
  const idle = options.stopWhenIdle === undefined ? [] : [whenIdle(options.stopWhenIdle * MINUTE_MS)];
  const code = await Promise.race([signals.ended, ...idle, ...(shown ? [shown] : [])]);
  forget();
  follower?.close();
  await gateway.close({ drain: true });
  exitSoon();
  return typeof code === "number" ? code : 0;
}
