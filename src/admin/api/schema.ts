/**
 * The admin API's request, response and event schemas.
 *
 * They are the single source for the API's handlers, its OpenAPI document and its clients (the
 * dashboard, the command line). Invariant: times are epoch milliseconds and durations end in `Ms`.
 * Every list answers `{ items, total }`, every failure `{ error: { code, message } }`. An unknown
 * number is `null`, never 0. A schema that would share its name with a class ends in `Row` or
 * `Schema`; the OpenAPI document leaves that off.
 */
import * as z from "zod";
import { shownTransports } from "../../config/schema/server.ts";
import { ownLogLevels } from "../../mcp/protocol/log-levels.ts";
import { outcomes } from "../../mcp/protocol/outcomes.ts";
import { serverStates } from "../../mcp/protocol/server-states.ts";

const count = z.int().nonnegative();
const time = z.number().describe("epoch milliseconds");
const maybeMs = z.number().nonnegative().nullable().describe("milliseconds; null before the first measurement");
const jsonObject = z.record(z.string(), z.unknown());
/** In rows that one replica has. */
export const replicaName = z.string().optional().describe("the replica that has it; absent without cluster.redis");

export const LogLevelSchema = z.enum(ownLogLevels);
export const ServerStateSchema = z.enum(serverStates);

export const Counts = z.object({
  servers: count,
  ready: count.describe("servers that are ready"),
  tools: count,
  prompts: count,
  resources: count,
  templates: count,
  subscriptions: count,
  sessions: count,
});
export type Counts = z.infer<typeof Counts>;

export const CallTotals = z.object({ total: count, errors: count, inFlight: count });
export type CallTotals = z.infer<typeof CallTotals>;

export const TokenTotals = z.object({
  all: count.describe("the tokens of the servers' tool definitions"),
  own: count.describe("the tokens of the gateway's own tools, which are listed, too"),
  listed: count.describe("the tokens of the tools that clients see listed"),
});
export type TokenTotals = z.infer<typeof TokenTotals>;

const callMs = z.number().nonnegative().nullable().describe("milliseconds; null in a second without calls");

/** The figures of one second, for charts. */
export const Moment = z.object({
  time: time.describe("when the second ended, epoch milliseconds"),
  tokens: TokenTotals,
  callsPerSecond: z.number().nonnegative(),
  errorsPerSecond: z.number().nonnegative(),
  p50Ms: callMs,
  p99Ms: callMs,
});
export type Moment = z.infer<typeof Moment>;

const listCost = z.object({ tools: count, tokens: count });

export const TokenReportSchema = z.object({
  mode: z.enum(["all", "search"]).describe("how tools are listed now"),
  servers: z.array(
    z.object({
      serverId: z.string(),
      tools: count,
      tokens: count,
      listedTools: count.describe("how many of these are listed"),
      listedTokens: count,
    }),
  ),
  own: listCost.describe("the gateway's own tools; part of every list"),
  all: listCost.describe("the list with every tool in it"),
  search: listCost.describe("the list with tools.expose: search"),
  listed: listCost.describe("the current list"),
  tools: z
    .array(z.object({ name: z.string(), serverId: z.string(), tokens: count, listed: z.boolean() }))
    .describe("the servers' tools, heaviest first"),
  refusedNames: z
    .array(z.object({ name: z.string(), serverId: z.string() }))
    .describe("names that model APIs may refuse"),
});

const place = z.int().positive().nullable().describe("counted from 1; null for the file as a whole");

export const ConfigProblem = z.object({
  at: time.describe("when the config was refused last, epoch milliseconds"),
  summary: z.string().describe("the first problem and its place in one line, and how many more there are"),
  problems: z
    .array(
      z.object({
        file: z.string(),
        line: place,
        column: place,
        key: z.string().nullable().describe("the dotted path of the key; null for the file as a whole"),
        message: z.string(),
        hint: z.string().nullable().describe("the key or value that was probably meant"),
      }),
    )
    .min(1),
});
export type ConfigProblem = z.infer<typeof ConfigProblem>;

export const LockFigures = z.object({
  mode: z.enum(["off", "warn", "enforce"]),
  differing: count.describe("servers that are not as they were approved"),
});

export const RedisState = z.enum(["connected", "lost"]);
export const ReplicaRow = z.object({
  id: z.string(),
  address: z.string(),
  version: z.string(),
  revision: z.string().describe("the same for replicas that run on the same config"),
  sessions: count,
  since: time.describe("when it started, epoch milliseconds"),
  lastSeen: time.describe("when it last renewed its lease in Redis, epoch milliseconds"),
  answers: z.boolean().describe("false: its rows and figures are missing from this API"),
});
export const ClusterState = z.object({
  id: z.string().describe("the number of this replica"),
  address: z.string().describe("where other replicas reach it"),
  handedOver: count.describe("requests and streams of its clients that other replicas hold"),
  handOvers: count.describe("requests and streams that it has handed to other replicas since its start"),
  redis: RedisState.nullable().describe("null without cluster.redis"),
  replicas: z
    .array(ReplicaRow)
    .describe("all replicas, as Redis knows them, and those whose lease ran out in the last ten minutes"),
});

export const GatewayState = z.object({
  version: z.string(),
  uptimeMs: z.number().nonnegative(),
  endpoint: z.string().describe("the URL that MCP clients use"),
  configPath: z.string().nullable().describe("null if the embedded demo is running"),
  configProblem: ConfigProblem.nullable().describe(
    "why the file's newest text is not in use but what was valid before it; null when all is well",
  ),
  counts: Counts,
  logLevel: LogLevelSchema,
  calls: CallTotals,
  exposure: z.enum(["all", "search", "auto"]).describe("how tools are listed to clients"),
  tokens: TokenTotals,
  lock: LockFigures,
  cluster: ClusterState.optional().describe("absent without cluster.listen"),
});
export type GatewayState = z.infer<typeof GatewayState>;

export const ServerRow = z.object({
  id: z.string(),
  state: ServerStateSchema,
  reason: z.string().nullable().describe("why it is not ready"),
  since: time.describe("when it entered this state, epoch milliseconds"),
  transport: z.enum(shownTransports),
  era: z.string().nullable(),
  protocolVersion: z.string().nullable(),
  serverInfo: z
    .looseObject({ name: z.string(), version: z.string().optional(), title: z.string().optional() })
    .nullable(),
  counts: z.object({ tools: count, prompts: count, resources: count, templates: count }),
  tokens: count,
  calls: count,
  errors: count,
  inFlight: count,
  queue: count.describe("calls that wait for a free slot"),
  latency: z.object({ p50Ms: maybeMs, p99Ms: maybeMs }),
  restarts: count,
  upgrade: z.string().nullable().describe("why a new version of it has not taken over; null if there is none"),
});
export type ServerRow = z.infer<typeof ServerRow>;

export const ToolRow = z.object({
  name: z.string().describe("as clients see it"),
  originalName: z.string().describe("as the server calls it"),
  serverId: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: jsonObject,
  outputSchema: jsonObject.optional(),
  annotations: jsonObject.optional(),
  tokens: count,
  calls: count,
  errors: count,
  p50Ms: maybeMs,
  listed: z.boolean().describe("false if clients can only find it by search"),
});
export type ToolRow = z.infer<typeof ToolRow>;

export const OwnToolRow = ToolRow.pick({
  name: true,
  title: true,
  description: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  tokens: true,
});
export type OwnToolRow = z.infer<typeof OwnToolRow>;

export const PromptRow = z.object({
  name: z.string(),
  originalName: z.string(),
  serverId: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  arguments: z
    .array(z.object({ name: z.string(), description: z.string().optional(), required: z.boolean().optional() }))
    .describe("empty if it takes none"),
  calls: count,
  errors: count,
});
export type PromptRow = z.infer<typeof PromptRow>;

export const ResourceRow = z.object({
  uri: z.string().describe("as clients see it"),
  id: z.string().describe("the flat id"),
  originalUri: z.string().describe("as the server calls it"),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.number().nonnegative().optional().describe("bytes"),
  serverId: z.string(),
  subscribers: count,
  meta: jsonObject.optional(),
});
export type ResourceRow = z.infer<typeof ResourceRow>;

export const TemplateRow = z.object({
  uriTemplate: z.string().describe("as clients see it"),
  originalUriTemplate: z.string(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  serverId: z.string(),
  meta: jsonObject.optional(),
});
export type TemplateRow = z.infer<typeof TemplateRow>;

export const SubscriptionRow = z.object({
  client: z.string(),
  serverId: z.string(),
  uri: z.string().describe("as the server calls it"),
  since: time,
  replica: replicaName,
});
export type SubscriptionRow = z.infer<typeof SubscriptionRow>;

export const SessionRow = z.object({
  id: z.string().describe("shortened; the whole id is a credential"),
  client: z.object({ name: z.string(), version: z.string().optional() }).nullable(),
  protocolVersion: z.string().nullable(),
  who: z.string().nullable().describe("the principal's name; null if no token is needed"),
  endpoint: z.string().describe("the path of its endpoint, such as /mcp/p/research"),
  profile: z.string().nullable().describe("the profiles that limit what it sees, joined by commas"),
  since: time,
  idleMs: z.number().nonnegative(),
  inFlight: count,
  subscriptions: count,
  replica: replicaName,
});
export type SessionRow = z.infer<typeof SessionRow>;

export const CallRow = z.object({
  time: time.describe("when it ended, epoch milliseconds"),
  method: z.string(),
  name: z.string().nullable().describe("the tool, prompt or URI as the client named it"),
  serverId: z.string().nullable().describe("null if no server owns the name"),
  ms: z.number().nonnegative(),
  outcome: z.enum(outcomes),
  client: z.string().nullable(),
  who: z.string().nullable().describe("the principal's name"),
  profile: z.string().nullable().describe("the profiles that limit what its client sees"),
  code: z.union([z.string(), z.number()]).nullable().describe("the error's code"),
  requestId: z.string(),
  replica: replicaName,
});
export type CallRow = z.infer<typeof CallRow>;

export const LogEntry = z.object({
  time,
  level: LogLevelSchema,
  server: z.string().nullable().describe("null for the gateway's own lines"),
  msg: z.string(),
  extra: jsonObject.optional(),
  replica: replicaName,
});
export type LogEntry = z.infer<typeof LogEntry>;

export const ApiError = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
export type ApiError = z.infer<typeof ApiError>;

/** Returns the schema of a list endpoint's answer. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), total: count });
}

export const LogQuery = z.object({
  level: LogLevelSchema.optional().describe("this level and above"),
  server: z.string().optional().describe("the lines of this server"),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe("the maximum number of lines, newest last; default 1000"),
});
export const ToolQuery = z.object({ name: z.string().optional().describe("only the tool that clients see as this") });
export const ServerParams = z.object({ id: z.string().describe("the server's id") });
export const LogLevelChange = z.object({ level: LogLevelSchema });
export const ToolCall = z.object({ name: z.string(), arguments: jsonObject.optional() });
export const ToolCallResult = z.object({ result: jsonObject.describe("the server's result, unchanged") });
export type ToolCallResult = z.infer<typeof ToolCallResult>;
export const ReloadResult = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
});
export type ReloadResult = z.infer<typeof ReloadResult>;
export const ConfigChanges = ReloadResult.extend({
  settings: z.array(z.string()).describe("dotted keys outside of the servers' entries"),
  restartNeeded: z.array(z.string()).describe("those of the settings that only a restart applies"),
});
export type ConfigChanges = z.infer<typeof ConfigChanges>;
export const ShownConfig = jsonObject;
export const PageCode = z.object({ code: z.string() });
export const LoginResult = z.object({ url: z.string().describe("the gateway's own page, for this caller only") });
export const ProgramRow = z.object({
  name: z.string(),
  path: z.string().nullable().describe("null if it is not on the gateway's PATH"),
  version: z.string().nullable(),
});
export const Programs = z.object({
  path: z.array(z.string()).describe("the folders of the gateway's PATH"),
  items: z.array(ProgramRow),
});
export type Programs = z.infer<typeof Programs>;
export const HealthState = z.object({
  status: z.enum(["ok", "ready", "starting"]),
  redis: RedisState.optional().describe("absent without cluster.redis"),
});
export const OpenApi = z.looseObject({ openapi: z.string() });
