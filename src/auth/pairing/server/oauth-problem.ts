/** An error as OAuth words it: a code of the standards, and a sentence for a developer. */
export class OAuthProblem extends Error {
  override readonly name = "OAuthProblem";
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }

  /** As an endpoint answers it. */
  toResponse(): Response {
    const headers = { "cache-control": "no-store" };
    return Response.json({ error: this.code, error_description: this.message }, { status: this.status, headers });
  }
}
