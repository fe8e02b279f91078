/** The public surface of the package. */

export { ConfigError } from "./config/problems/problem.ts";
export { loadConfig } from "./config/reading/load.ts";
export { parseConfig } from "./config/reading/parse.ts";
export type { Config } from "./config/schema/config.ts";
export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { createLogger, type Logger } from "./telemetry/logger.ts";
