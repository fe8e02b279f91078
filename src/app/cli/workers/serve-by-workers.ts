/**
 * `goblin serve --workers`: reads the config, starts the workers, and speaks to the user for all of
 * them. What keeps the gateway from starting is found here, or by the first worker, and is said
 * once.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { clusterSecret } from "../../../cluster/open.ts";
import type { Config } from "../../../config/schema/config.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { readStateKey } from "../../../config/state-key.ts";
import { createLogger } from "../../../observe/telemetry/logger.ts";
import { Primary } from "../../workers/primary.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { chooseConfig } from "../config.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { announce, NOWHERE, recordGateway, showDashboard } from "../gateway/announce.ts";
import { settlePort } from "../gateway/settle-port.ts";
import { askInputs } from "../secrets/ask-inputs.ts";
import { exitSoon, listenToSignals } from "../signals.ts";
import { askForTrust } from "../trust/consent.ts";
import { UsageError } from "../usage-error.ts";

/** Beyond the time that calls in flight get to finish: for servers to end. */
const SPARE_MS = 15_000;

export async function serveByWorkers(options: ServeOptions): Promise<number> {
  const { workers: count = 1 } = options;
  if (options.background || options.stopWhenIdle !== undefined) {
    throw new UsageError("--workers cannot be used with --stop-when-idle");
  }
  const { config, file } = await chooseConfig(options, askForTrust);
  if (config.cluster.listen !== undefined) {
    throw new UsageError(
      "--workers cannot be used with cluster.listen: start one gateway per core instead, each with its own address",
    );
  }
  await askInputs(config);
  const settled = await settlePort({ config, configPath: file?.path, isBackground: false });
  const log = createLogger({ ...config.log, stream: options.tui ? NOWHERE : process.stderr });
  surviveUncaughtErrors(log);
  const primary = new Primary({ count, secret: await secretOf(config), args: process.argv.slice(2), log });
  const signals = listenToSignals(() => primary.hangup());
  const started = await Promise.race([primary.start(), signals.ended]);
  if (typeof started === "number") return started;
  const patienceMs = config.timeouts.drainMs + SPARE_MS;
  const end = async (code: number): Promise<number> => {
    await primary.end(patienceMs);
    exitSoon();
    return code;
  };
  if (!started) return end(0);
  const { url, port, adminUrl } = started;
  const listening = { url, adminUrl, config, configPath: file?.path, workers: count };
  if (!options.tui) announce(listening);
  const forget = recordGateway({ ...listening, port, isBackground: false });
  settled.started();
  const shown = options.tui ? [showDashboard(adminUrl ?? url, config)] : [];
  const code = await Promise.race([signals.ended, ...shown]);
  forget();
  return end(code ?? 0);
}

/**
 * Returns what the workers share. It outlives the process where sessions do: at an address that
 * stays the same, with a state folder.
 */
async function secretOf(config: Config): Promise<string> {
  const given = clusterSecret(config, process.env);
  if (given !== undefined) return given;
  const { host, port } = config.gateway;
  const folder = stateFolder(process.env);
  try {
    if (port === 0) return randomSecret();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const key = await readStateKey(folder);
    return createHmac("sha256", key).update(`goblin workers ${host}:${port}`).digest("base64url");
  } catch {
    // The workers say what is wrong with the folder.
    return randomSecret();
  }
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}
