/**
 * The one error class of the gateway and the one table of its codes.
 *
 * A row has the name of a code outside (`error.data.code`, the API, the audit log, the labels of
 * the metrics) and its JSON-RPC number. It also has the HTTP status of a reply that is nothing but
 * this error. Several codes may share one name outside where only the HTTP status differs. Names
 * and numbers are a contract (docs/errors.md); no other file has such a number in it. What a server
 * answers as an error never becomes a GoblinError: it passes through with its own code (see
 * `json-rpc.ts`).
 */

interface ErrorRow {
  readonly wire: string;
  readonly rpc: number;
  readonly http: number;
}

export const errorTable = {
  PARSE_ERROR: { wire: "PARSE_ERROR", rpc: -32700, http: 400 },
  INVALID_REQUEST: { wire: "INVALID_REQUEST", rpc: -32600, http: 400 },
  SESSION_NOT_FOUND: { wire: "INVALID_REQUEST", rpc: -32600, http: 404 },
  NOT_ACCEPTABLE: { wire: "INVALID_REQUEST", rpc: -32600, http: 406 },
  UNSUPPORTED_MEDIA_TYPE: { wire: "INVALID_REQUEST", rpc: -32600, http: 415 },
  METHOD_NOT_FOUND: { wire: "METHOD_NOT_FOUND", rpc: -32601, http: 404 },
  INVALID_PARAMS: { wire: "INVALID_PARAMS", rpc: -32602, http: 400 },
  INTERNAL_ERROR: { wire: "INTERNAL_ERROR", rpc: -32603, http: 500 },
  TOOL_NOT_FOUND: { wire: "TOOL_NOT_FOUND", rpc: -32602, http: 404 },
  RESOURCE_NOT_FOUND: { wire: "RESOURCE_NOT_FOUND", rpc: -32002, http: 404 },
  AMBIGUOUS: { wire: "AMBIGUOUS", rpc: -32602, http: 400 },
  PROMPT_NOT_FOUND: { wire: "PROMPT-001", rpc: -32602, http: 404 },
  PROMPT_INVALID_ARGS: { wire: "PROMPT-002", rpc: -32602, http: 400 },
  PROMPT_BACKEND_ERROR: { wire: "PROMPT-003", rpc: -32603, http: 502 },
  PROMPT_TIMEOUT: { wire: "PROMPT-004", rpc: -32001, http: 504 },
  PROMPT_NOT_IMPLEMENTED: { wire: "PROMPT-005", rpc: -32601, http: 502 },
  TIMEOUT: { wire: "TIMEOUT", rpc: -32001, http: 504 },
  /** The request itself did not arrive in time. */
  RECEIVE_TIMEOUT: { wire: "TIMEOUT", rpc: -32001, http: 408 },
  CANCELLED: { wire: "CANCELLED", rpc: -32800, http: 502 },
  BACKEND_UNAVAILABLE: { wire: "BACKEND_UNAVAILABLE", rpc: -32011, http: 503 },
  /** The server needs a login of a user. */
  LOGIN_REQUIRED: { wire: "LOGIN_REQUIRED", rpc: -32012, http: 503 },
  /** A rule of the policy does not allow these arguments. */
  POLICY_DENIED: { wire: "POLICY_DENIED", rpc: -32013, http: 403 },
  /** A person must allow the call, and did not. */
  NOT_APPROVED: { wire: "NOT_APPROVED", rpc: -32014, http: 403 },
  /** The replica that holds a session says nothing. */
  REPLICA_UNAVAILABLE: { wire: "REPLICA_UNAVAILABLE", rpc: -32015, http: 503 },
  /** It ended while it had the request. */
  REPLICA_FAILED: { wire: "REPLICA_UNAVAILABLE", rpc: -32015, http: 502 },
  BACKEND_ERROR: { wire: "BACKEND_ERROR", rpc: -32603, http: 502 },
  LIMIT_EXCEEDED: { wire: "LimitExceeded", rpc: -32010, http: 503 },
  BODY_TOO_LARGE: { wire: "LimitExceeded", rpc: -32010, http: 413 },
  HEADERS_TOO_LARGE: { wire: "LimitExceeded", rpc: -32010, http: 431 },
  UNSUPPORTED_BY_CLIENT: { wire: "UNSUPPORTED_BY_CLIENT", rpc: -32601, http: 502 },
  UNDECIDABLE_CLIENT: { wire: "UNDECIDABLE_CLIENT", rpc: -32603, http: 502 },
  HEADER_MISMATCH: { wire: "HEADER_MISMATCH", rpc: -32020, http: 400 },
  MISSING_CLIENT_CAPABILITY: { wire: "MISSING_CLIENT_CAPABILITY", rpc: -32021, http: 400 },
  UNSUPPORTED_PROTOCOL_VERSION: { wire: "UNSUPPORTED_PROTOCOL_VERSION", rpc: -32022, http: 400 },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** A server's refusal of a call until the client has opened links. */
export const LINKS_REQUIRED = -32042;
/** Numbers that servers are known to answer with, beside those of the table. */
export const knownServerCodes: readonly number[] = [-32000, -32003, -32004, LINKS_REQUIRED];

/**
 * What decisions need to know beyond the code. `unreachable`: the server's address does not answer.
 * `login`: the server does nothing until a user has logged in. `unoffered`: the server answers, but
 * has no connection of the wanted kind. `unset`: a secret that the server needs was never set.
 * `renew`: a new connection would have other credentials.
 */
export type ErrorReason = "unreachable" | "login" | "unoffered" | "unset" | "renew";

export interface GoblinErrorOptions {
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
  readonly reason?: ErrorReason | undefined;
  readonly awaits?: readonly string[];
}

export class GoblinError extends Error {
  readonly code: ErrorCode;
  readonly reason: ErrorReason | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  /** The servers that are starting; when one has, the same question may have an answer. */
  readonly awaits: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, options: GoblinErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GoblinError";
    this.code = code;
    this.reason = options.reason;
    this.data = options.data;
    this.awaits = options.awaits;
  }
}

/** Returns a thrown value as a GoblinError. Any other error is an internal error. */
export function asGoblinError(error: unknown): GoblinError {
  return error instanceof GoblinError ? error : new GoblinError("INTERNAL_ERROR", messageOf(error));
}

/** What went wrong, in words, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === "object" ? JSON.stringify(error) : String(error);
}
