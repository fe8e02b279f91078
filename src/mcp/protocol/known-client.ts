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

/** A client chooses how long its description is: it is read once for each request. */
const described = new WeakMap<Client, string>();

export function knownClient(client: Client): string {
  const { account, party, key, hasSession, info } = client;
  if (hasSession || party !== key) return party;
  let hash = described.get(client);
  if (hash === undefined) {
    hash = createHash("sha256").update(JSON.stringify(info)).digest("base64url");
    described.set(client, hash);
  }
  return `${account} ${hash}`;
}
