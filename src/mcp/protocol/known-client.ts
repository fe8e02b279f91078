/**
 * Which requests come from one client, as far as that can be known: for what a server keeps between
 * requests, and for messages that it sends outside of them.
 *
 * A session is one client, and so is a channel that only one client can write to. All other
 * requests are known by their account (the principal, or without tokens the address) and by what
 * the client calls itself. The latter separates honest clients of one account; it never separates
 * or joins accounts.
 */
import { createHash } from "node:crypto";
import type { Client } from "./call.ts";

export function knownClient({ account, party, key, hasSession, info }: Client): string {
  if (hasSession || party !== key) return party;
  const hash = createHash("sha256").update(JSON.stringify(info)).digest("base64url");
  return `${account} ${hash}`;
}
