/** `goblin stdio --attach` where a look at the text of the config is not enough (`main.ts`). */
import { resolve } from "node:path";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { namedConfig } from "../environment.ts";
import { findGateway } from "../gateway/find-gateway.ts";
import { UsageError } from "../usage-error.ts";
import { runAttach } from "./run-attach.ts";
import type { AttachOptions } from "./target.ts";

export interface AttachCommandOptions extends Omit<AttachOptions, "stopWhenIdle"> {
  readonly stopWhenIdle?: number | undefined;
}

export async function attach({ stopWhenIdle, ...options }: AttachCommandOptions): Promise<number> {
  if (options.url !== undefined && options.config !== undefined) {
    throw new UsageError("--url names a running gateway and --config one to find or start: use only one of them");
  }
  if (options.profile !== undefined && options.server !== undefined) {
    throw new UsageError("--profile and --server: use only one of them");
  }
  const named = namedConfig(options.config, process.env);
  const config = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  const { url, token } = await findGateway(options);
  const isNamed = options.url !== undefined;
  const found = named === undefined && config !== undefined && isFound(config, process.cwd(), process.env);
  await runAttach(
    { url, token, config: isNamed ? undefined : config, isFound: found, isNamed },
    {
      ...options,
      stopWhenIdle: stopWhenIdle?.toString(),
    },
  );
  return 0;
}
