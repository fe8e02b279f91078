/**
 * The sections of the config that concern the gateway as a whole, each with its defaults and its
 * type by name.
 *
 * Every key carries its description and default here and nowhere else: the JSON Schema, the docs
 * and the checks are derived from these objects. A section that is absent from the file is a
 * section full of defaults.
 */
import * as z from "zod";

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
// An empty token would let everybody in; a line break could never arrive in a header.
const token = z.string().regex(/^[\x21-\x7e]+$/, "a token must be visible ASCII without spaces, and not empty");

export const gatewaySchema = z.strictObject({
  host: z.string().min(1).default("127.0.0.1").describe("The interface to listen on."),
  port: z.int().min(0).max(65_535).default(3000).describe("The port to listen on; 0 picks a free one."),
  allowedHosts: z
    .array(hostName)
    .default([])
    .describe("Values of the Host header that are accepted besides loopback and the host above."),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe(
      "Origins of web pages that may use the gateway and read its answers (CORS), besides pages on this machine, which may not read them.",
    ),
  auth: z
    .strictObject({
      tokens: z
        .array(token)
        .default([])
        .describe("Bearer tokens, any of which lets a client in. Empty: no token is asked for."),
    })
    .prefault({})
    .describe("Who may connect."),
  tls: z
    .strictObject({
      cert: z.string().min(1).describe("A file with the certificate in PEM, followed by those that it depends on."),
      key: z.string().min(1).describe("A file with its private key in PEM, without a passphrase."),
    })
    .optional()
    .describe(
      "Listens with https instead of http. Paths are relative to the config's folder; ~ is the home folder. Files that change are read again.",
    ),
  admin: z
    .strictObject({
      tokens: z
        .array(token)
        .default([])
        .describe(
          "Bearer tokens that open /api, and everything else. Empty: /api is open where no token is asked for at all, and closed otherwise.",
        ),
      host: z
        .string()
        .min(1)
        .optional()
        .describe("The interface for the API's own port; 127.0.0.1 where it is not given."),
      port: z
        .int()
        .min(0)
        .max(65_535)
        .optional()
        .describe(
          "A port of its own for /api and /metrics, which are then not served on the other; 0 picks a free one.",
        ),
    })
    .refine(({ host, port }) => host === undefined || port !== undefined, {
      path: ["host"],
      error: "has no effect without gateway.admin.port",
    })
    .prefault({})
    .describe("Who may look after the gateway, and where."),
});
export type GatewayConfig = z.output<typeof gatewaySchema>;

export const toolsSchema = z.strictObject({
  expose: z
    .enum(["all", "search", "auto"])
    .default("all")
    .describe('What tools/list shows: every tool, only the search tools, or "auto", which decides by budgetTokens.'),
  budgetTokens: countFromOne
    .default(20_000)
    .describe('With "auto": how many tokens the definitions of all tools may take before search replaces them.'),
});
export type ToolsConfig = z.output<typeof toolsSchema>;

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
    .describe("The gateway's own tools that clients see."),
});
export type MetaToolsConfig = z.output<typeof metaToolsSchema>;

export const namesSchema = z.strictObject({
  maxLength: z.int().min(16).max(128).default(64).describe("Longer names are cut and given a short hash."),
});
export type NamesConfig = z.output<typeof namesSchema>;

export const resourcesSchema = z.strictObject({
  uris: z
    .enum(["prefixed", "flat", "raw"])
    .default("prefixed")
    .describe(
      "The form in which clients see resource URIs. Every form is accepted in every mode, a raw one if no prefix claims it.",
    ),
});
export type ResourcesConfig = z.output<typeof resourcesSchema>;

export const listsSchema = z.strictObject({
  pageSize: countFromOne.default(1000).describe("Entries in one page of a list."),
});
export type ListsConfig = z.output<typeof listsSchema>;

export const limitsSchema = z.strictObject({
  subscriptionsPerClient: countFromZero.default(100).describe("Resource subscriptions that one client may hold."),
  sessions: countFromOne
    .default(10_000)
    .describe("Sessions that may be open at once, together with streams that clients without one hold open."),
  sessionIdleMs: positiveMs.default(1_800_000).describe("A session without traffic for this long is closed."),
  bodyBytes: countFromOne.default(4_194_304).describe("The largest request body that is read."),
  headerBytes: z
    .int()
    .min(1024)
    .max(1_048_576)
    .default(16_384)
    .describe("The largest headers, all together, that one request may have."),
  resultBytes: countFromOne.default(67_108_864).describe("The largest answer that is taken from a server."),
  catalogBytes: countFromOne
    .default(16_777_216)
    .describe("What all lists of one server may take together; a list is cut where it is over."),
  definitionBytes: countFromOne
    .default(1_048_576)
    .describe(
      "The largest tool, prompt, resource or template that is taken from a server's list; a larger one is left out.",
    ),
  unreadBytes: countFromOne
    .default(67_108_864)
    .describe(
      "About how much one session may leave unread of all its streams and answers, or 4096 messages of one stream; then the stream is cut and further large answers are refused. Also the most that the answers of a batch may have together. A client that reads nothing of a large answer, or of a full stream, for a minute is cut too.",
    ),
  unsentBytes: countFromOne
    .default(33_554_432)
    .describe("About how much may wait for a program that does not read its stdin; then its calls are refused."),
  inFlightPerServer: countFromOne.default(256).describe("Calls that may run at once on one server."),
  queuePerServer: countFromZero.default(1024).describe("Calls that may wait for one server before more are refused."),
  connectionsPerServer: countFromOne
    .default(100)
    .describe(
      'ConnectionPool (of a program: processes) for single clients that one server may have with share "session". A call that would need one more is refused.',
    ),
  inFlightPerSession: countFromOne.default(256).describe("Calls that one session may have running at once."),
  batchMessages: countFromOne
    .default(100)
    .describe("Messages that a client may send in one array, in the protocol version that has such."),
  callsPerSecond: z.number().min(0).default(0).describe("Calls that one session may start in a second; 0: no limit."),
  callsAwaitingInput: countFromOne
    .default(10_000)
    .describe("Calls that may wait for answers to a server's questions, of clients without a session."),
});
export type LimitsConfig = z.output<typeof limitsSchema>;

export const timeoutsSchema = z
  .strictObject({
    connectMs: positiveMs.default(30_000).describe("To start or reach a server and finish its handshake."),
    callMs: positiveMs
      .default(60_000)
      .describe(
        "For one call; progress from the server starts it anew, and it stands still while the client is asked something.",
      ),
    maxCallMs: positiveMs
      .default(600_000)
      .describe(
        "For one call in all, whatever its progress and questions; a longer timeoutMs of a server or tool counts instead.",
      ),
    receiveMs: positiveMs
      .default(60_000)
      .describe(
        "For a client's request to arrive in full; one that is sent too slowly, or not to the end, is cut. So is a stream of HTTP+SSE on which no session has begun by then.",
      ),
    drainMs: msOrZero.default(10_000).describe("How long running calls may finish when the gateway shuts down."),
  })
  .refine((timeouts) => timeouts.callMs <= timeouts.maxCallMs, {
    path: ["callMs"],
    error: "must not be greater than timeouts.maxCallMs",
  });
export type TimeoutsConfig = z.output<typeof timeoutsSchema>;

export const backendsSchema = z.strictObject({
  graceMs: msOrZero
    .default(300_000)
    .describe("How long the tools of a server that is down stay listed while it reconnects."),
});
export type BackendsConfig = z.output<typeof backendsSchema>;

export const logSchema = z.strictObject({
  level: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("The least important level that is logged."),
  format: z
    .enum(["auto", "json", "pretty"])
    .default("auto")
    .describe('"auto" is pretty on a terminal and JSON elsewhere.'),
  audit: z
    .string()
    .min(1)
    .optional()
    .describe("A file that gets one line for each call. Relative to the config's folder; ~ is the home folder."),
  auditArguments: z.boolean().default(false).describe("Whether the audit lines contain the calls' arguments."),
});
export type LogConfig = z.output<typeof logSchema>;
