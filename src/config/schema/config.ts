/**
 * The config file as a whole: the zod schema that everything else is derived from, and the type
 * that it becomes.
 *
 * `configFileSchema` describes the file as written, after substitution; `Config` is what the
 * gateway runs on: the servers in file order, in one spelling, and every other section with all its
 * defaults and its fixed values.
 */

import "../zod-config.ts";
import * as z from "zod";
import { type ClusterConfig, clusterSchema } from "../cluster/schema.ts";
import type { Fixed } from "../fixed.ts";
import { type ApprovalsConfig, approvalsSchema } from "../policy/approvals-schema.ts";
import { type PolicyConfig, policySchema } from "../policy/schema.ts";
import { type MaskingConfig, maskingSchema } from "../traffic/masking.ts";
import { type ResultsConfig, resultsSchema } from "../traffic/results.ts";
import { type LimitsConfig, limitsSchema, type TimeoutsConfig, timeoutsSchema } from "./limits.ts";
import {
  type ClientsConfig,
  clientsSchema,
  type ListsConfig,
  type LockConfig,
  listsSchema,
  lockSchema,
  type MetaToolsConfig,
  metaToolsSchema,
  type NamesConfig,
  namesSchema,
  type ResourcesConfig,
  resourcesSchema,
  type ToolsConfig,
  toolsSchema,
} from "./offerings.ts";
import { type OtelConfig, otelSchema } from "./otel.ts";
import { type ProfilesConfig, profilesSchema } from "./profiles.ts";
import { type ServerConfig, serverEntrySchema } from "./server.ts";
import { type OAuthConfig, oauthSchema } from "./server-auth.ts";
import {
  type BackendsConfig,
  backendsSchema,
  type CallsConfig,
  callsSchema,
  type GatewayConfig,
  gatewaySchema,
  type LogConfig,
  logSchema,
  type RecordConfig,
  type RegistryConfig,
  recordSchema,
  registrySchema,
} from "./settings.ts";

const serversSchema = z.record(z.string(), serverEntrySchema);

export const configFileSchema = z.strictObject({
  $schema: z.string().optional().describe("The address of the JSON Schema, for editors."),
  mcpServers: serversSchema
    .default({})
    .describe("The servers by id, as in Claude Desktop, Claude Code, Cursor, Windsurf and Cline."),
  servers: serversSchema.default({}).describe("The servers by id, as in VS Code."),
  inputs: z
    .array(z.looseObject({ id: z.string().min(1) }))
    .default([])
    .describe("VS Code's inputs: what ${input:some-id} is asked for once. See [secrets](secrets.md)."),
  gateway: gatewaySchema.prefault({}).describe("Where the gateway listens and who may connect."),
  profiles: profilesSchema,
  oauth: oauthSchema.prefault({}).describe("How Goblin introduces itself when it logs in to servers."),
  tools: toolsSchema.prefault({}).describe("How tools are shown to clients."),
  clients: clientsSchema,
  metaTools: metaToolsSchema.prefault({}).describe("The gateway's own tools."),
  names: namesSchema.prefault({}).describe("The names of tools and prompts."),
  resources: resourcesSchema.prefault({}).describe("How resources are shown to clients."),
  policy: policySchema.prefault({}).describe("Who may use what ([policy](policy.md))."),
  approvals: approvalsSchema
    .prefault({})
    .describe("How people answer for calls that a rule asks about ([approvals](approvals.md))."),
  lock: lockSchema.prefault({}).describe("What servers may change without approval ([lock](lock.md))."),
  results: resultsSchema.prefault({}).describe("What becomes of tools' results ([results](results.md))."),
  masking: maskingSchema.prefault({}).describe("Where keys and tokens are masked ([masking](masking.md))."),
  lists: listsSchema.prefault({}).describe("How lists are made and served ([lists](lists.md))."),
  limits: limitsSchema.prefault({}).describe("Limits on what clients and servers may use."),
  timeouts: timeoutsSchema.prefault({}).describe("Timeouts, in milliseconds."),
  backends: backendsSchema.prefault({}).describe("How Goblin treats failing servers."),
  calls: callsSchema.prefault({}).describe("What is kept of calls. Only the API's users see it."),
  record: recordSchema
    .optional()
    .describe("Records the messages of clients and servers to files ([recordings](recordings.md)). Default: off."),
  log: logSchema.prefault({}).describe("The log and the audit file."),
  otel: otelSchema.prefault({}).describe("Traces and metrics for OpenTelemetry ([metrics](metrics.md#opentelemetry))."),
  cluster: clusterSchema.prefault({}).describe("Several gateways behind one address ([scaling](scaling.md))."),
  registry: registrySchema.prefault({}).describe("Where goblin search and goblin add look ([servers](servers.md))."),
});
export type ConfigFile = z.output<typeof configFileSchema>;

export interface Config {
  /** In file order; `mcpServers` before `servers` if a file has both. */
  readonly servers: readonly ServerConfig[];
  readonly gateway: GatewayConfig;
  readonly profiles: ProfilesConfig;
  readonly clients: ClientsConfig;
  readonly oauth: OAuthConfig;
  readonly tools: ToolsConfig & Fixed["tools"];
  readonly metaTools: MetaToolsConfig;
  readonly names: NamesConfig;
  readonly resources: ResourcesConfig;
  readonly policy: PolicyConfig;
  readonly approvals: ApprovalsConfig & Fixed["approvals"];
  readonly lock: LockConfig;
  readonly results: ResultsConfig & Fixed["results"];
  readonly masking: MaskingConfig;
  readonly lists: ListsConfig & Fixed["lists"];
  readonly limits: LimitsConfig & Fixed["limits"];
  readonly timeouts: TimeoutsConfig & Fixed["timeouts"];
  readonly backends: BackendsConfig & Fixed["backends"];
  readonly calls: CallsConfig & Fixed["calls"];
  /** Undefined: nothing is recorded unless somebody asks for it. */
  readonly record: RecordConfig | undefined;
  readonly log: LogConfig & Fixed["log"];
  readonly otel: OtelConfig;
  readonly cluster: ClusterConfig;
  readonly registry: RegistryConfig;
}
