/** The public surface of the package. */

export { ConfigError, type Problem } from "../../config/problems/problem.ts";
export type { ConfigObject, ServerObject } from "../../config/schema/config-object.ts";
export type {
  GatewaySnapshot,
  PromptArgument,
  PromptCard,
  ResourceCard,
  ServerCard,
  ServerState,
  TemplateCard,
  ToolCard,
} from "./cards.ts";
export {
  CallError,
  type CallOptions,
  type CallRecord,
  type ConfigChanges,
  createGateway,
  type Environment,
  type Gateway,
  type GatewayEvents,
  type GatewayOptions,
  type Listening,
  type LoadedConfig,
  type LogLine,
  loadConfig,
  type OpenedLogins,
  openLogins,
  type StdioClient,
  type StdioStreams,
  type ToolResult,
} from "./library.ts";
