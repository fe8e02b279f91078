/** The public surface of the package. */

export { loadConfig } from "./config/load.ts";
export { parseConfig } from "./config/parse.ts";
export { ConfigError } from "./config/problem.ts";
export type { Config } from "./config/schema.ts";
export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { createLogger, type Logger } from "./telemetry/logger.ts";
