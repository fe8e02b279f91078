/**
 * The one error class of the gateway and the one table that maps its codes to JSON-RPC.
 *
 * `code` is stable and goes to `error.data.code`; the message names the thing it is about. What a
 * backend answers as an error never becomes a GoblinError: it passes through with its own code (see
 * `json-rpc.ts`).
 */

export const errorCodes = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  TOOL_NOT_FOUND: -32602,
  RESOURCE_NOT_FOUND: -32002,
  AMBIGUOUS: -32602,
  "PROMPT-001": -32602,
  "PROMPT-002": -32602,
  "PROMPT-003": -32603,
  "PROMPT-004": -32001,
  "PROMPT-005": -32601,
  TIMEOUT: -32001,
  CANCELLED: -32800,
  BACKEND_UNAVAILABLE: -32011,
  BACKEND_ERROR: -32603,
  LimitExceeded: -32010,
  UNSUPPORTED_BY_CLIENT: -32601,
  UNDECIDABLE_CLIENT: -32603,
  HEADER_MISMATCH: -32020,
  MISSING_CLIENT_CAPABILITY: -32021,
  UNSUPPORTED_PROTOCOL_VERSION: -32022,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorCodes;

export class GoblinError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  /** The servers that are starting; when one has, the same question may have an answer. */
  readonly awaits: readonly string[] | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { data?: Record<string, unknown>; cause?: unknown; awaits?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GoblinError";
    this.code = code;
    this.data = options.data;
    this.awaits = options.awaits;
  }

  get rpcCode(): number {
    return errorCodes[this.code];
  }
}

/** What went wrong, in words, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === "object" ? JSON.stringify(error) : String(error);
}
