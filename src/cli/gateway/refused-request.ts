/** A request that the gateway's API refused. */
import type { ApiError } from "../../admin/schema.ts";

export class RefusedRequest extends Error {
  readonly code: string;

  constructor({ code, message }: ApiError["error"]) {
    super(message);
    this.code = code;
  }
}
