/**
 * How a person shows in a browser that a link is theirs. It depends on how the client of the link
 * came to the gateway.
 *
 * - `login`: with an access token of an issuer where the gateway is a client too. The person logs
 *   in there, and the token that comes of it must name the principal of the link.
 * - `code`: as a paired client. The browser that let that client in is known by a cookie; in
 *   another one the person types a code of `goblin pair`.
 * - `token`: with a token that nothing else can stand for. The person enters it.
 *
 * Without a proof, a link opens nothing: who passes it on, or steals it, could otherwise have an
 * account of another person attached to a principal that is not that person's.
 */
import type { PersonIssuer } from "../login/person-login.ts";

export type Proof =
  | { readonly kind: "login"; readonly at: PersonIssuer }
  | {
      readonly kind: "code";
      /** Whether this browser let the client of the link in. */
      readonly isKnown: (cookies: string | null) => Promise<boolean>;
      readonly tryCode: (typed: string) => Promise<boolean>;
    }
  | {
      readonly kind: "token";
      /** Clients get it from an issuer, so people may not know it. */
      readonly isIssued: boolean;
    };

/** One way of a browser to an issuer and back, sealed into its `state`. */
export interface Round {
  /** The browser that began it. */
  readonly visitId: string;
  readonly verifier: string;
  /** The sealed link of the page to go back to. */
  readonly link: string;
  readonly expiresAt: number;
}

export const ROUND_MS = 10 * 60_000;
