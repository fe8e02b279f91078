/** A principal that an operator asks about; nobody has authenticated as it. */
import { ANYONE, type Principal } from "../mcp/protocol/principal.ts";
import { principalId } from "./who.ts";

export interface AskedPrincipal {
  readonly principal?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly client?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export function askedPrincipal({ principal = "", groups = [], client, scopes }: AskedPrincipal): Principal {
  return {
    ...ANYONE,
    id: principalId(principal),
    name: principal,
    groups,
    client,
    scopes: scopes && new Set(scopes),
  };
}
