/** A failed request to the admin API, and its error response. */
import { messageOf } from "../protocol/errors.ts";
import type { ApiError } from "./schema.ts";

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
  const known = error instanceof ApiFailure ? error : new ApiFailure(500, "INTERNAL_ERROR", messageOf(error));
  const body: ApiError = { error: { code: known.code, message: known.message } };
  return Response.json(body, { status: known.status });
}
