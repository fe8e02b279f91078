/**
 * One server's entry: what may stand in the file, and what the rest of the gateway sees of it.
 *
 * The entry takes the spellings of Claude, Cursor, VS Code, Windsurf and Cline, so that their files
 * run unchanged; a `ServerConfig` has one spelling only, everything in it resolved and defaulted.
 */

import * as z from "zod";
import { framingHeaders, HEADER_NAME, HEADER_VALUE } from "../../lib/text/header-rules.ts";
import type { ServerTransport } from "../../mcp/links/transport.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import type { Problem } from "../problems/problem.ts";
import type { SecretText } from "../secret-reference.ts";
import { type MaskedSides, serverMaskingSchema } from "../traffic/masking.ts";
import { resultRulesSchema } from "../traffic/results.ts";
import { positiveMs } from "./limits.ts";
import { type ServerAuth, serverAuthSchema } from "./server-auth.ts";
import { inheritEnvSchema } from "./settings.ts";

/** The characters that MCP allows in names. */
export const NAME_TEXT = /^[A-Za-z0-9_.-]*$/;

const variableName = z.string().regex(/^[^=\0]+$/, "not a valid name of an environment variable");
const headerName = z
  .string()
  .regex(HEADER_NAME, "not a valid header name")
  .refine((name) => !framingHeaders.has(name.toLowerCase()), "the gateway sets this header itself; leave it out");
// A secret read from a file often ends in a line break, which no header can carry.
const headerValue = z
  .string()
  .regex(HEADER_VALUE, "a header value must not contain line breaks or other control characters");
const plainText = z.string().regex(/^[^\0]*$/, "must not contain a NUL character");
const filledText = plainText.min(1);

const pattern = z
  .string()
  .min(1)
  .regex(/^[^![\]{}()|\\][^[\]{}()|\\]*$/, "not a valid pattern: only * (any characters) and ? (one) are special");

const toolOverrideSchema = z.strictObject({
  alias: z
    .string()
    .min(1)
    .max(128)
    .regex(NAME_TEXT, "only letters, digits, _ . and - are allowed in a name")
    .optional()
    .describe("The tool's listed name, after the prefix. The original name stays callable."),
  description: z.string().min(1).optional().describe("Replaces the tool's description."),
  timeoutMs: positiveMs.optional().describe("Replaces timeouts.callMs for this tool."),
  results: resultRulesSchema
    .optional()
    .describe("What becomes of its results; see [results](results.md). Replaces the section results, key by key."),
});
type WrittenOverride = z.output<typeof toolOverrideSchema>;

const serverToolsSchema = z.strictObject({
  allow: z
    .array(pattern)
    .default(["*"])
    .describe("Patterns of tools to expose, by original name; * matches any characters, ? matches one."),
  deny: z.array(pattern).default([]).describe("Patterns of tools to hide; deny wins over allow."),
  overrides: z
    .record(z.string(), toolOverrideSchema)
    .default({})
    .describe("Settings for individual tools, by original name."),
});

/** `results` is complete: undefined if the tool's results are passed on as they are. */
export type ToolOverride = Omit<WrittenOverride, "results"> & { readonly results?: ResultRules | undefined };

export interface ServerToolsConfig {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly overrides: Readonly<Record<string, ToolOverride>>;
  /** What becomes of the results of tools that have no override. Undefined: nothing. */
  readonly results?: ResultRules | undefined;
}

const exposeSchema = z.union(
  [
    z.enum(["all", "search"]),
    z.strictObject({ pinned: z.array(z.string().min(1)).describe("The tools that stay listed.") }),
  ],
  { error: 'expected "all", "search" or { "pinned": [tool names] }' },
);
export type ServerExpose = z.output<typeof exposeSchema>;

const SERVER_TYPES = ["stdio", "http", "streamable-http", "streamableHttp", "sse"] as const;
const scalar = z.union([plainText, z.number(), z.boolean()], { error: "expected a string, number or boolean" });

export const serverEntrySchema = z.strictObject({
  type: z
    .enum(SERVER_TYPES)
    .optional()
    .describe("How to reach the server. Default: stdio for a command; for a url, http with a fallback to sse."),
  transportType: z.enum(SERVER_TYPES).optional().describe("Cline's name for type.").meta({ isForeign: true }),
  command: filledText
    .optional()
    .describe("The program to start. ./x is relative to the config's folder; ~ is the home folder."),
  args: z.array(plainText).default([]).describe("The program's arguments. A leading ~ is the home folder."),
  env: z
    .record(variableName, scalar)
    .default({})
    .describe("Environment variables for the program; they take precedence over inherited ones."),
  inheritEnv: inheritEnvSchema
    .optional()
    .describe(
      "What the program gets of Goblin's environment: true is everything, false the minimum, a list of names and patterns (*) these besides the usual ones (see below). Default: backends.inheritEnv, or else the usual ones.",
    ),
  envFile: filledText
    .optional()
    .describe("A file of NAME=value lines for the program's environment; env takes precedence."),
  cwd: filledText.optional().describe("The program's working directory, relative to the config's folder."),
  url: filledText.optional().describe("The address of a remote server."),
  serverUrl: filledText.optional().describe("Windsurf's name for url.").meta({ isForeign: true }),
  headers: z.record(headerName, headerValue).default({}).describe("HTTP headers for a remote server."),
  auth: serverAuthSchema
    .prefault({})
    .describe(
      'How to log in to a remote server that asks for OAuth. "oauth" alone means { "type": "oauth" }. See [logins](logins.md).',
    ),
  enabled: z.boolean().optional().describe("false: the server is neither started nor listed. Default true."),
  disabled: z.boolean().optional().describe("Cline's opposite of enabled.").meta({ isForeign: true }),
  prefix: z
    .string()
    .max(64)
    .regex(NAME_TEXT, "only letters, digits, _ . and - are allowed in a prefix")
    .optional()
    .describe(
      'The text before its names. Names that begin with it belong to this server alone. Default: the id and "_". "" exposes the original names.',
    ),
  share: z
    .enum(["auto", "all", "session"])
    .optional()
    .describe(
      '"auto": one connection for all clients, until the server must tell them apart. "all": one for all clients. "session": one per client session (see below). Default: "auto", but "session" for a stdio or HTTP+SSE server when gateway.auth may admit two or more different clients.',
    ),
  era: z
    .enum(["auto", "legacy", "modern"])
    .default("auto")
    .describe(
      'Which protocol versions the gateway speaks with the server. "legacy": those with a handshake, up to 2025-11-25. "modern": 2026-07-28. "auto": what the server speaks; a server over HTTP that speaks both gets each client in the client\'s own.',
    ),
  timeoutMs: positiveMs.optional().describe("Replaces timeouts.callMs for this server."),
  expose: exposeSchema.optional().describe("Replaces tools.expose for this server."),
  tools: serverToolsSchema.prefault({}).describe("Which tools are exposed, and how."),
  masking: serverMaskingSchema
    .optional()
    .describe("Where keys and tokens are masked; see [masking](masking.md). Replaces the section masking, key by key."),
  disabledTools: z
    .array(pattern)
    .default([])
    .describe("Windsurf's and Roo's name for tools.deny.")
    .meta({ isForeign: true }),
});
export type ServerEntry = z.output<typeof serverEntrySchema>;

/** The kinds of transport as the API and the meta tools show them. */
export const shownTransports = ["stdio", "http", "sse"] as const;
export type ShownTransport = (typeof shownTransports)[number];

export function shownTransport({ kind }: ServerTransport): ShownTransport {
  return kind === "auto" ? "http" : kind;
}

export interface ServerConfig {
  readonly id: string;
  readonly transport: ServerTransport;
  /** Texts of `transport` and `auth` that hold references; they are completed at each start. */
  readonly secretTexts?: readonly SecretText[];
  readonly enabled: boolean;
  readonly prefix: string;
  readonly share: "auto" | "all" | "session";
  /** Undefined: whatever the server speaks. */
  readonly era?: "legacy" | "modern";
  readonly timeoutMs?: number;
  readonly expose?: ServerExpose;
  readonly tools: ServerToolsConfig;
  /** Where keys and tokens are masked. Undefined: nowhere. */
  readonly masking?: MaskedSides;
  /** The login; undefined if there can be none: a program, or a remote server with a key. */
  readonly auth?: ServerAuth;
  /** Why its entry cannot be used; the server then keeps its names but is never started. */
  readonly problems?: readonly Problem[];
}

/** Returns whether the server should run but cannot, because of its entry. */
export function isInvalid(
  config: ServerConfig,
): config is ServerConfig & { readonly problems: NonNullable<ServerConfig["problems"]> } {
  return config.enabled && config.problems !== undefined;
}
