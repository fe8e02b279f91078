/**
 * The sections of the config that concern the gateway as a whole, each with its defaults and its
 * type by name.
 *
 * Every key carries its description and default here and nowhere else: the JSON Schema, the docs
 * and the checks are derived from these objects. A section that is absent from the file is a
 * section full of defaults.
 */
import * as z from "zod";
import { ownLogLevels } from "../../protocol/log-levels.ts";
import { authSchema, publicUrl, token } from "./auth.ts";

/** Beyond this, Node's timers overflow and fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export const positiveMs = z.int().min(1).max(MAX_TIMER_MS);
const msOrZero = z.int().min(0).max(MAX_TIMER_MS);
const countFromOne = z.int().min(1);
const countFromZero = z.int().min(0);

const hostName = z.string().regex(/^[^\s/]+$/, "expected a host name, with a port if needed, without scheme or path");
const origin = z
  .string()
  .regex(/^(null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+)$/i, "expected an origin such as https://example.com, without a path");

export const gatewaySchema = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("The interface to listen on."),
    port: z.int().min(0).max(65_535).default(3000).describe("The port to listen on; 0 picks a free one."),
    allowedHosts: z
      .array(hostName)
      .default([])
      .describe("Accepted values of the Host header, in addition to loopback and gateway.host."),
    allowedOrigins: z
      .array(origin)
      .default([])
      .describe(
        "Origins of web pages that may use the gateway and read its answers (CORS). Pages on this machine may send requests, but not read the answers, unless listed.",
      ),
    publicUrl: publicUrl.optional(),
    auth: authSchema.prefault({}).describe("Who may connect."),
    tls: z
      .strictObject({
        cert: z.string().min(1).describe("A PEM file with the certificate, followed by its intermediate certificates."),
        key: z.string().min(1).describe("A PEM file with the certificate's private key, without a passphrase."),
      })
      .optional()
      .describe(
        "Serves https instead of http. Paths are relative to the config's folder; ~ is the home folder. Goblin reloads the files when they change.",
      ),
    admin: z
      .strictObject({
        tokens: z
          .array(token)
          .default([])
          .describe(
            "Bearer tokens for /api; they open every other route too. Empty: /api is closed if gateway.auth is set, except to its admins, and open otherwise.",
          ),
        host: z.string().min(1).optional().describe("The interface for gateway.admin.port. Default: 127.0.0.1."),
        port: z
          .int()
          .min(0)
          .max(65_535)
          .optional()
          .describe(
            "A separate port for /api and /metrics, which gateway.port then no longer serves; 0 picks a free one.",
          ),
      })
      .refine(({ host, port }) => host === undefined || port !== undefined, {
        path: ["host"],
        error: "has no effect without gateway.admin.port",
      })
      .prefault({})
      .describe("Who may administer the gateway, and on which port."),
  })
  .superRefine(({ auth, publicUrl: url }, context) => {
    auth.oauth?.issuers.forEach(({ audience }, i) => {
      if (url !== undefined || audience.length > 0) return;
      context.addIssue({
        code: "custom",
        path: ["auth", "oauth", "issuers", i],
        message: 'needs "audience", or "gateway.publicUrl": a token for another service must not be accepted here',
      });
    });
  });
export type GatewayConfig = z.output<typeof gatewaySchema>;

export const toolsSchema = z.strictObject({
  expose: z
    .enum(["all", "search", "auto"])
    .default("all")
    .describe(
      'What tools/list shows: "all" tools, only the meta tools ("search"), or "auto", which decides by budgetTokens.',
    ),
  budgetTokens: countFromOne
    .default(20_000)
    .describe(
      'With "auto": if the definitions of all tools take more tokens than this, only the meta tools are listed.',
    ),
});
export type ToolsConfig = z.output<typeof toolsSchema>;

/** Listed here so that editors complete them. `src/meta/registry.ts` must have a tool for each. */
export const META_TOOL_NAMES = [
  "catalog_tools",
  "describe_tool",
  "search_tools",
  "call_tool",
  "catalog_prompts",
  "describe_prompt",
  "search_prompts",
  "catalog_resources",
  "describe_resource",
  "search_resources",
  "catalog_resource_templates",
  "catalog_servers",
  "goblin_health",
] as const;
export type MetaToolName = (typeof META_TOOL_NAMES)[number];

export const metaToolsSchema = z.strictObject({
  enabled: z
    .array(z.enum(META_TOOL_NAMES))
    .default([...META_TOOL_NAMES])
    .describe("The gateway's own tools that clients can see and call."),
});
export type MetaToolsConfig = z.output<typeof metaToolsSchema>;

export const namesSchema = z.strictObject({
  maxLength: z.int().min(16).max(128).default(64).describe("Longer names are cut and end in a short hash."),
  repeatPrefix: z
    .boolean()
    .default(true)
    .describe(
      "Whether a name that begins with its server's prefix gets it again: git_git_status for git's git_status. Calls may use either name.",
    ),
});
export type NamesConfig = z.output<typeof namesSchema>;

export const resourcesSchema = z.strictObject({
  uris: z
    .enum(["prefixed", "flat", "raw"])
    .default("prefixed")
    .describe(
      'The form in which clients see resource URIs. Requests may use every form in every mode; a raw URI only if no prefix claims it. The ids of "flat" are not URLs: clients that check URLs, such as those with the Python SDK 1.x, reject the list.',
    ),
});
export type ResourcesConfig = z.output<typeof resourcesSchema>;

export const promptsSchema = z.strictObject({
  validate: z
    .boolean()
    .default(true)
    .describe("Whether a prompt is refused if a required argument is missing. false leaves that to its server."),
});
export type PromptsConfig = z.output<typeof promptsSchema>;

export const listsSchema = z.strictObject({
  pageSize: countFromOne.default(1000).describe("Entries per page of a list."),
  waitMs: msOrZero
    .default(8000)
    .describe(
      "How long the handshake and lists wait for a server whose lists are not known yet, from its start. Clients that are known to follow list changes wait at most a second.",
    ),
  refreshMs: msOrZero
    .default(300_000)
    .describe("How often the lists of servers that do not announce changes are fetched again; 0 means never."),
  order: z
    .enum(["sorted", "server"])
    .default("sorted")
    .describe('"sorted" by name, or "server": by server, in the order of the config, each in its own order.'),
});
export type ListsConfig = z.output<typeof listsSchema>;

export const limitsSchema = z.strictObject({
  subscriptionsPerClient: countFromZero
    .default(100)
    .describe(
      "Resource subscriptions per client. The streams of one account without a session hold at most ten times as many together.",
    ),
  sessions: countFromOne
    .default(10_000)
    .describe(
      "Open sessions, plus open streams of clients without a session. One account may hold half of what the others leave.",
    ),
  sessionIdleMs: positiveMs.default(1_800_000).describe("Idle time after which a session is closed."),
  bodyBytes: countFromOne.default(4_194_304).describe("The largest accepted request body."),
  headerBytes: z
    .int()
    .min(1024)
    .max(1_048_576)
    .default(16_384)
    .describe("The largest accepted total of a request's headers."),
  resultBytes: countFromOne
    .default(67_108_864)
    .describe("The largest accepted answer of a server. Its unfinished answers together may take four times as much."),
  catalogBytes: countFromOne
    .default(16_777_216)
    .describe("The total size of one server's lists; entries beyond it are dropped."),
  definitionBytes: countFromOne
    .default(1_048_576)
    .describe("The largest accepted tool, prompt, resource or template in a server's list; larger ones are dropped."),
  unreadBytes: countFromOne
    .default(67_108_864)
    .describe(
      "Approximate unread bytes per session, or account for clients without a session, over all streams and answers. Beyond it, or beyond 4096 unread messages on one stream, the stream is closed and further large answers are rejected. It also limits the answers to one batch together. A client that reads nothing of a large answer or a full stream for a minute is disconnected.",
    ),
  unsentBytes: countFromOne
    .default(33_554_432)
    .describe(
      "Approximate bytes that may wait for a program to read its stdin, and bytes of large requests that an HTTP server has not begun to answer; beyond it, calls are rejected.",
    ),
  inFlightPerServer: countFromOne
    .default(256)
    .describe("Concurrent calls per server; further calls are queued, and accounts take turns."),
  queuePerServer: countFromZero
    .default(1024)
    .describe(
      "Queued calls per server; further calls are rejected. One account may hold half of what the others leave.",
    ),
  connectionsPerServer: countFromOne
    .default(100)
    .describe(
      'Connections (for a stdio server, processes) per server with share "session". A call that needs one more is rejected. One account may hold half of what the others leave.',
    ),
  inFlightPerSession: countFromOne
    .default(256)
    .describe("Concurrent calls per session; per account for clients without a session."),
  batchMessages: countFromOne.default(100).describe("Messages per JSON-RPC batch."),
  callsPerSecond: z
    .number()
    .min(0)
    .default(0)
    .describe("Calls per second and session, or account for clients without a session; 0 means no limit."),
  callsAwaitingInput: countFromOne
    .default(10_000)
    .describe(
      "Calls of clients without a session that may wait for answers to a server's questions. One account may hold half of what the others leave.",
    ),
});
export type LimitsConfig = z.output<typeof limitsSchema>;

export const timeoutsSchema = z
  .strictObject({
    connectMs: positiveMs
      .default(30_000)
      .describe("To reach a server, or start one again, and complete its handshake."),
    startMs: positiveMs
      .default(300_000)
      .describe(
        "For the first start of a program, which may install something, and for every start of a package runner (npx, uvx, docker run and the like). Not less than connectMs.",
      ),
    callMs: positiveMs
      .default(60_000)
      .describe(
        "For one call. Progress from the server restarts it; it is paused while the server waits for an answer from the client.",
      ),
    maxCallMs: positiveMs
      .default(600_000)
      .describe(
        "For one call in total, including progress and questions. A longer timeoutMs of a server or tool takes precedence.",
      ),
    receiveMs: positiveMs
      .default(60_000)
      .describe(
        "For a client's request to arrive completely; a slower one is cut off. Also for a session to start on an HTTP+SSE stream.",
      ),
    drainMs: msOrZero.default(10_000).describe("For running calls to finish when the gateway shuts down."),
  })
  .refine((timeouts) => timeouts.callMs <= timeouts.maxCallMs, {
    path: ["callMs"],
    error: "must not be greater than timeouts.maxCallMs",
  });
export type TimeoutsConfig = z.output<typeof timeoutsSchema>;

export const inheritEnvSchema = z.union([z.boolean(), z.array(z.string().regex(/^[^=\0]+$/))], {
  error: "expected true, false or a list of names of environment variables",
});

export const backendsSchema = z.strictObject({
  graceMs: msOrZero
    .default(300_000)
    .describe("How long the tools of a failed server stay listed while Goblin reconnects."),
  inheritEnv: inheritEnvSchema
    .optional()
    .describe("What programs get of Goblin's environment; see inheritEnv of a server's entry."),
});
export type BackendsConfig = z.output<typeof backendsSchema>;

export const callsSchema = z.strictObject({
  keep: z
    .int()
    .min(0)
    .max(100_000)
    .default(500)
    .describe(
      "The newest calls that are kept in memory with their arguments and answers, for the dashboard; 0 keeps none.",
    ),
  keepBytes: z
    .int()
    .min(0)
    .default(8_388_608)
    .describe(
      "The approximate size of the kept calls together. Arguments or answers above an eighth of it are not kept.",
    ),
});
export type CallsConfig = z.output<typeof callsSchema>;

export const logSchema = z.strictObject({
  level: z
    .enum([...ownLogLevels, "silent"])
    .default("info")
    .describe("The minimum level to log."),
  format: z
    .enum(["auto", "json", "pretty"])
    .default("auto")
    .describe('"auto" is pretty on a terminal and JSON elsewhere.'),
  audit: z
    .string()
    .min(1)
    .optional()
    .describe("A file that gets one line per call. Relative to the config's folder; ~ is the home folder."),
  auditArguments: z.boolean().default(false).describe("Whether audit lines contain the arguments of calls."),
  auditMaxBytes: z
    .int()
    .min(0)
    .default(104_857_600)
    .describe("The size at which the audit file is renamed to <file>.1 and a new one is started; 0 means never."),
  auditKeep: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .describe("The number of renamed audit files to keep; <file>.1 is the newest."),
});
export type LogConfig = z.output<typeof logSchema>;
