/** A failed request to the admin API, and its error response. */
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { ApiError } from "./schema.ts";

/**
 * The failures of the API's own, with their HTTP statuses; those of a call have the call's. Each
 * has its place in docs/errors.md.
 */
export const apiStatuses = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  UNAVAILABLE: 503,
  PARSE_ERROR: 400,
  INVALID_PARAMS: 400,
  NOT_FOUND: 404,
  SERVER_NOT_FOUND: 404,
  CALL_NOT_FOUND: 404,
  QUESTION_NOT_FOUND: 404,
  GRANT_NOT_FOUND: 404,
  APPROVAL_NOT_FOUND: 404,
  APPROVAL_SELF: 403,
  APPROVAL_ANSWERED: 409,
  APPROVAL_ENDED: 409,
  APPROVAL_CHANGED: 409,
  NO_CONFIG_FILE: 409,
  NO_LOGIN: 409,
  LOCK_CONFLICT: 409,
  PAIRING_OFF: 409,
  RECORDING: 409,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  CONFIG_INVALID: 422,
  INTERNAL_ERROR: 500,
  PAIRING_UNAVAILABLE: 503,
  LOGINS_UNAVAILABLE: 503,
  APPROVAL_UNRECORDED: 503,
  REPLICA_UNAVAILABLE: 503,
} as const;

export function apiFailure(code: keyof typeof apiStatuses, message: string): ApiFailure {
  return new ApiFailure(apiStatuses[code], code, message);
}

export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function failureResponse(error: unknown): Response {
  const known = error instanceof ApiFailure ? error : apiFailure("INTERNAL_ERROR", messageOf(error));
  const body: ApiError = { error: { code: known.code, message: known.message } };
  return Response.json(body, { status: known.status });
}
