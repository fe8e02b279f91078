/**
 * What `goblin doctor` examines: the gateway that runs, or the servers of a config that this
 * process starts for the examination, or nothing but the machine.
 *
 * Invariant: a config that was found in this folder and is not trusted starts nothing.
 */
import { resolve } from "node:path";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { GatewayState } from "../../../admin/api/schema.ts";
import type { Finding } from "../../../admin/doctor/finding.ts";
import { ConfigError, type Problem } from "../../../config/problems/problem.ts";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { type LoadedConfig, loadConfig, readConfigText } from "../../../config/reading/load.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import { namedConfig } from "../environment.ts";
import { findGateway } from "../gateway/find-gateway.ts";
import { RefusedRequest, RefusedToken } from "../gateway/refused-request.ts";
import { type Target, type TargetOptions, withTarget } from "../gateway/target.ts";
import { requireTrust } from "../trust/consent.ts";
import { UsageError } from "../usage-error.ts";

export interface Patient {
  /** The gateway's own state; undefined: none runs. */
  readonly running: GatewayState | undefined;
  /** Undefined: there are no servers to look at. */
  readonly target: Target | undefined;
  readonly file: ExaminedConfig;
  /** What was found on the way to the gateway. */
  readonly findings: readonly Finding[];
}

export interface ExaminedConfig {
  readonly path: string | undefined;
  readonly loaded: LoadedConfig | undefined;
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly isTrusted: boolean;
}

/** Opens what there is while `use` runs. `options.only`: the only server that is started. */
export async function withPatient<T>(options: TargetOptions, use: (patient: Patient) => Promise<T>): Promise<T> {
  const file = await examineConfig(options.config);
  if (options.config === undefined) {
    const found = await runningGateway(options);
    if (found.running) {
      return withTarget({ url: options.url, token: options.token }, (target) =>
        use({ running: found.running, target, file, findings: found.findings }),
      );
    }
    const isBusy = found.findings.some(({ level }) => level === "error");
    if (options.url !== undefined || isBusy || !file.loaded || !file.isTrusted || file.path === undefined)
      return use({ running: undefined, target: undefined, file, findings: found.findings });
    return withConfig(file.path, file, found.findings);
  }
  return withConfig(resolve(options.config), file, []);

  async function withConfig(config: string, examined: ExaminedConfig, findings: readonly Finding[]): Promise<T> {
    const nothing = { running: undefined, target: undefined, file: examined };
    if (!examined.loaded) return use({ ...nothing, findings });
    let isOpen = false;
    try {
      return await withTarget({ config, only: options.only, quiet: true }, (target) => {
        isOpen = true;
        return use({ ...nothing, target, findings });
      });
    } catch (error) {
      if (isOpen || error instanceof UsageError) throw error;
      const what = `a gateway cannot start here: ${messageOf(error)}`;
      return use({ ...nothing, findings: [...findings, { level: "error", code: "gateway", where: config, what }] });
    }
  }
}

async function examineConfig(option: string | undefined): Promise<ExaminedConfig> {
  const named = namedConfig(option, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  const nothing = { path, loaded: undefined, errors: [], warnings: [], isTrusted: true };
  if (path === undefined) return nothing;
  const found = named === undefined && isFound(path, process.cwd(), process.env);
  try {
    if (found) await requireTrust(await readConfigText(path));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...nothing, errors: error.problems, isTrusted: false };
  }
  try {
    const loaded = await loadConfig(path, process.env, { found, probes: true });
    const { problems: errors, warnings } = loaded;
    return { path, loaded, errors, warnings, isTrusted: true };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...nothing, errors: error.problems };
  }
}

interface Found {
  readonly running: GatewayState | undefined;
  readonly findings: readonly Finding[];
}

async function runningGateway({ url, token }: TargetOptions): Promise<Found> {
  const { url: where } = await findGateway({ url, token });
  try {
    const running = await withTarget({ url, token }, (target) => target.request(adminRoutes.getState));
    return { running, findings: [] };
  } catch (error) {
    const isSilent = (error as Error).cause !== undefined;
    if (isSilent && url === undefined) return { running: undefined, findings: [] };
    const message = messageOf(error);
    const isRefused = error instanceof RefusedToken || error instanceof RefusedRequest;
    const what = isSilent || isRefused ? message : `another program answers at ${where}: ${message}`;
    const remedy = isSilent
      ? "start it with goblin serve, or check the address"
      : isRefused
        ? "name an admin token with --token or GOBLIN_TOKEN"
        : "choose another port for the gateway: gateway.port, or goblin serve --port";
    return { running: undefined, findings: [{ level: "error", code: "gateway", where, what, remedy }] };
  }
}
