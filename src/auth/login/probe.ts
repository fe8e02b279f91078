/**
 * Asks a server, without credentials, whether it wants a login.
 */
import { messageOf } from "../../mcp/protocol/errors.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import type { LoginTarget } from "./discovery.ts";
import type { Guard } from "./guarded-fetch.ts";
import { LoginError } from "./login-error.ts";

export interface Probe {
  /** The server answered without a login. */
  readonly isOpen: boolean;
  readonly challenge: Challenge | undefined;
}

const UNDECIDED = new Set([401, 403, 404, 405]);

export async function probe({ id, url, auth }: LoginTarget, guard: Guard): Promise<Probe> {
  try {
    const answer = await guard.fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    const challenge = readChallenge(answer.headers.get("www-authenticate") ?? undefined);
    return { isOpen: auth.type !== "oauth" && !UNDECIDED.has(answer.status), challenge };
  } catch (error) {
    throw new LoginError({
      server: id,
      step: `asking ${url}`,
      what: messageOf(error),
      cause: error,
      remedy: 'Check the server\'s "url", and whether it runs.',
    });
  }
}
