/**
 * One worker of `goblin serve --workers`: a gateway that shares its address with the others, and
 * hands them what is theirs. Its primary process tells it when to end, and says everything to the
 * user.
 */
import { Cluster } from "../../../cluster/cluster.ts";
import type { Config } from "../../../config/schema/config.ts";
import { createLogger } from "../../../observe/telemetry/logger.ts";
import { shareOfConfig } from "../../workers/share-of-config.ts";
import { socketAddress } from "../../workers/socket-folder.ts";
import { Worker } from "../../workers/worker.ts";
import { WorkerStore } from "../../workers/worker-store.ts";
import { type ChooseOptions, chooseConfig, withAddress } from "../config.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { NOWHERE } from "../gateway/announce.ts";
import { openGateway } from "../gateway/open-gateway.ts";
import { exitSoon } from "../signals.ts";
import { requireTrust } from "../trust/consent.ts";
import { UsageError } from "../usage-error.ts";

export interface WorkerOptions extends ChooseOptions {
  readonly tui?: boolean | undefined;
}

export async function serveAsWorker(options: WorkerOptions): Promise<number> {
  if (!process.send) throw new UsageError("--worker is for processes that goblin serve --workers starts");
  try {
    return await run(await Worker.join(), options);
  } catch (error) {
    // What is open already, and the channel to the primary process, would keep this one running.
    exitSoon();
    throw error;
  }
}

async function run(worker: Worker, options: WorkerOptions): Promise<number> {
  const ended = untilEnd(worker);
  const chosen = await chooseConfig(options, requireTrust, { isQuiet: true });
  const config = shareOfConfig(chosen.config, worker.count);
  const stream = options.tui ? NOWHERE : process.stderr;
  const log = createLogger({ ...config.log, stream, worker: worker.number });
  surviveUncaughtErrors(log);
  const { secret, folder, number } = worker;
  const cluster = await Cluster.open({
    secret,
    listen: socketAddress({ folder, number, pid: process.pid }),
    timeoutMs: config.cluster.timeoutMs,
    headerBytes: config.limits.headerBytes,
    receiveMs: config.timeouts.receiveMs,
    storeFor: () => new WorkerStore(worker),
    log,
  });
  const override = (next: Config): Config => shareOfConfig(withAddress(next, options), worker.count);
  const { file, found } = chosen;
  const among = { worker, cluster };
  const { gateway, follower, hangup } = await openGateway({ config, file, found, override, log, among });
  worker.on("hangup", hangup);
  const { url, port, adminUrl } = await gateway.listen();
  await follower?.watch();
  worker.serves({ owner: cluster.self, url, port, adminUrl });
  await ended;
  follower?.close();
  await gateway.close({ drain: true });
  exitSoon();
  return 0;
}

/**
 * Resolves when the worker is to end. What the terminal sends reaches all processes: the primary
 * one decides what it means.
 */
function untilEnd(worker: Worker): Promise<void> {
  process.on("SIGINT", () => {});
  process.on("SIGHUP", () => {});
  return new Promise((resolve) => {
    process.on("SIGTERM", () => resolve());
    worker.on("end", () => resolve());
  });
}
