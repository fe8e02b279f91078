/** Requests that a gateway refused: by its API, or because of their token. */
import type { ApiError } from "../../../admin/api/schema.ts";

/** The gateway wants a token, or another one. */
export class RefusedToken extends Error {}

export class RefusedRequest extends Error {
  readonly code: string;

  constructor({ code, message }: ApiError["error"]) {
    super(message);
    this.code = code;
  }
}
