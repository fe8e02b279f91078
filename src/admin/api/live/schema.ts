/**
 * The API's schemas of calls in full: what was asked and answered, and calls that are made through
 * the API while somebody watches.
 */
import * as z from "zod";
import { CallRow, LogEntry, ServerRow } from "../schema.ts";

const jsonObject = z.record(z.string(), z.unknown());
const bytes = z.int().nonnegative();

export const CallParams = z.object({ id: z.string().describe("the call's requestId") });

export const CallDetails = CallRow.extend({
  params: z.unknown().describe("what was asked, secrets masked; null if it was too large to keep"),
  paramsBytes: bytes.describe("the size of what was asked"),
  paramsMasked: z
    .boolean()
    .describe("whether secrets in params are masked, so that it cannot be asked again with them"),
  masked: z.int().nonnegative().describe("keys and tokens that were masked on their way ([masking](masking.md))"),
  result: z.unknown().optional().describe("what was answered, secrets masked; null if it was too large to keep"),
  error: z.unknown().optional().describe("the JSON-RPC error, in place of a result"),
  answerBytes: bytes.describe("the size of what was answered"),
  timing: z.object({
    beforeMs: z.number().nonnegative().nullable().describe("in the gateway, before it was sent; null if it never was"),
    serverMs: z.number().nonnegative().nullable().describe("from sending it until the server's answer"),
    afterMs: z.number().nonnegative().nullable().describe("in the gateway, after the answer"),
  }),
  notifications: z.array(z.unknown()).describe("progress and log messages that the client got during the call"),
  logs: z.array(LogEntry).describe("what the server wrote to the log meanwhile, perhaps for other calls"),
});
export type CallDetails = z.infer<typeof CallDetails>;

export const ServerDetails = ServerRow.extend({
  command: z.string().nullable().describe("the program; null for a server behind a URL, or whose entry is not valid"),
  args: z.array(z.string()).describe("its arguments; what looks like a secret is masked"),
  cwd: z.string().nullable(),
  env: z.array(z.string()).describe("the names of the variables that the config sets"),
  url: z.string().nullable().describe("without its secrets; null for a program, or if the entry is not valid"),
  headers: z.array(z.string()).describe("the names of the headers that the config sets"),
  share: z.enum(["auto", "all", "session"]),
  prefix: z.string(),
  instructions: z.string().nullable().describe("what the server tells models"),
  stderr: z.array(LogEntry).describe("the last lines that the program wrote to stderr"),
});
export type ServerDetails = z.infer<typeof ServerDetails>;

/** The requests that the API makes on behalf of its user. */
const liveMethods = ["tools/call", "prompts/get", "resources/read", "completion/complete"] as const;

export const LiveRequest = z.object({
  method: z.enum(liveMethods),
  params: jsonObject.describe("as MCP has them"),
  capabilities: jsonObject
    .optional()
    .describe("what the caller can answer, as MCP has it; forms and links of elicitation unless told"),
  caller: z
    .string()
    .min(16)
    .max(200)
    .optional()
    .describe("a secret of the caller's own, the same in all its calls: so Goblin knows that they are of one client"),
});
export type LiveRequest = z.infer<typeof LiveRequest>;

export const LiveAnswer = z.object({
  question: z.string().describe("the question's id"),
  result: jsonObject.optional().describe("the answer, as MCP has it"),
  refusal: z.string().optional().describe("why there is none; the server gets it as an error"),
});
export const Accepted = z.object({ accepted: z.literal(true) });

/** The events of a call's stream. `result` or `error` is the last one. */
export const liveEvents = {
  started: z.object({ id: z.string() }),
  progress: z.looseObject({
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  log: z.looseObject({ level: z.string(), logger: z.string().optional(), data: z.unknown() }),
  question: z.object({ id: z.string(), method: z.string(), params: jsonObject }),
  withdrawn: z.object({ id: z.string() }),
  result: z.object({ result: jsonObject }),
  error: z.object({ code: z.string(), message: z.string() }),
} as const;
export type LiveEvent = {
  [Type in keyof typeof liveEvents]: { type: Type; data: z.infer<(typeof liveEvents)[Type]> };
}[keyof typeof liveEvents];

export const UpdatesQuery = z.object({
  uri: z.string().describe("the URI of the resource, as a list or a link gives it"),
});

/** The events of a resource's stream. */
export const updateEvents = {
  subscribed: z.object({ uri: z.string() }),
  updated: z.looseObject({ uri: z.string() }),
} as const;
export type UpdateEvent = {
  [Type in keyof typeof updateEvents]: { type: Type; data: z.infer<(typeof updateEvents)[Type]> };
}[keyof typeof updateEvents];

export const CallText = z.object({
  request: z.string().nullable().describe("the request as JSON-RPC, secrets masked; null if it was too large to keep"),
  answer: z.string().nullable().describe("the answer as JSON-RPC, secrets masked; null if it was too large to keep"),
});
export type CallText = z.infer<typeof CallText>;

export const RecordingRow = z.object({
  dir: z.string().describe("the folder of its files"),
  run: z.string().describe("how the names of its files begin"),
  servers: z.array(z.string()).describe("patterns of the recorded servers"),
  bodies: z.boolean().describe("whether messages are recorded, or only their sizes"),
  maxBytes: bytes,
  startedAt: z.number(),
  until: z.number().nullable().describe("when it ends by itself; null: it does not"),
  frames: bytes.describe("messages written so far"),
  lost: bytes.describe("messages that could not be written"),
  bytes: bytes.describe("their size on the disk"),
  isConfigured: z.boolean().describe("the config asks for it"),
});
export type RecordingRow = z.infer<typeof RecordingRow>;

export const CurrentRecording = z.object({ recording: RecordingRow.nullable() });

export const RecordRequest = z.object({
  forMs: z.int().min(1000).max(86_400_000).describe("how long to record, at most a day"),
  servers: z.array(z.string().min(1)).min(1).optional().describe("patterns of the servers to record; all unless told"),
  bodies: z.boolean().optional().describe("false records only sizes"),
});
export type RecordRequest = z.infer<typeof RecordRequest>;
