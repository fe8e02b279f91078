/**
 * The boundary between a link and the owner of the credentials for its server. They may change
 * while the link is open.
 *
 * A request that the server refused for its credentials was not carried out, so it may be sent once
 * more with others, but only once.
 */
import type { Exchange, ExchangeHandler } from "../../../lib/http-client/exchange.ts";
import { GoblinError } from "../../protocol/errors.ts";
import type { SendOptions } from "../link.ts";

/** A server's refusal of a request for its credentials. */
export interface CredentialRefusal {
  readonly status: number;
  /** The Authorization header that the request had. */
  readonly header: string | undefined;
  /** The server's WWW-Authenticate header. */
  readonly challenge: string | undefined;
  /** The request had been refused before, with other credentials. */
  readonly wasRepeated: boolean;
}

/**
 * What to do about a refusal. "again": there are other credentials now, so the request may be sent
 * once more. An error: the request fails with it; with the reason "renew" the link is renewed.
 * "unknown": it has nothing to do with credentials
 * that are known here.
 */
export type Verdict = "again" | "unknown" | GoblinError;

export interface Credentials {
  /** The Authorization header of the next request. */
  readonly header: string | undefined;
  /** They are the entry's own `headers`, not a login. */
  readonly areHeaders?: boolean;
  refused(refusal: CredentialRefusal): Promise<Verdict>;
}

/** A request that can be sent once more. */
export interface SentRequest {
  readonly text: string;
  readonly options: SendOptions;
  readonly wasRepeated: boolean;
}

export interface RefusableRequest {
  /** The Authorization header that it has. */
  readonly header: string | undefined;
  readonly wasRepeated: boolean;
  /** Returns whether anyone still waits for the request. */
  readonly isWanted: (outcome: Exchange) => boolean;
  /** Sends the request once more. */
  readonly again: (outcome: Exchange) => void;
  readonly failed: (outcome: Exchange, error: GoblinError) => void;
}

/** Returns the handler of a request that may be refused. Everything else goes to `handler`. */
export function refusable(
  credentials: Credentials,
  handler: ExchangeHandler,
  { header, wasRepeated, isWanted, again, failed }: RefusableRequest,
): ExchangeHandler {
  const refused = async (outcome: Exchange, status: number): Promise<void> => {
    const verdict = await credentials.refused({
      status,
      header,
      challenge: outcome.challenge,
      wasRepeated,
    });
    if (verdict === "unknown" || !isWanted(outcome)) handler.done(outcome);
    else if (verdict === "again") again(outcome);
    else failed(outcome, verdict);
  };
  return {
    ...handler,
    done: (outcome) => {
      const { status, error } = outcome;
      if (error || (status !== 401 && status !== 403)) handler.done(outcome);
      else void refused(outcome, status);
    },
  };
}

/** The connection ends because of a refusal. What else is in flight may have been carried out. */
export function loginMissing({ message, reason, data }: GoblinError): GoblinError {
  return new GoblinError("BACKEND_UNAVAILABLE", message, { reason, data });
}
