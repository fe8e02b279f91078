/**
 * `goblin pair`: prints a code for the consent page, and waits until a client was let in with it.
 * Needs no running gateway: the code goes into the state folder, which only its user can read.
 */
import { setTimeout as pause } from "node:timers/promises";
import { CODE_LIFE_MS, isOpen, newCode, withdrawCode } from "../../../auth/pairing/codes.ts";
import { issuerOf } from "../../../auth/pairing/pairing.ts";
import { PairingStore } from "../../../auth/pairing/store.ts";
import { sharedKeys } from "../../../cluster/open.ts";
import { clean } from "../../../lib/text/clean.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import { chooseConfig } from "../config.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

export interface PairOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
  readonly wait?: boolean | undefined;
}

const LOOK_MS = 200;

export async function pair(options: PairOptions): Promise<number> {
  const { store, issuer } = await openPairing(options.config);
  const { id, code, expiresAt } = await newCode(store, issuer, Date.now());
  const url = `${issuer}/mcp`;
  const shown = `${code.slice(0, 4)} ${code.slice(4)}`;
  if (options.json) printJson({ code, expiresAt: new Date(expiresAt).toISOString(), url });
  else {
    console.log(`Add ${clean(url)} to your client, and type this code`);
    console.log(`on the page of ${clean(new URL(issuer).host)} that opens:\n`);
    console.log(`    ${shown}\n`);
    console.log(`It is good for one client and ${formatDuration(CODE_LIFE_MS)}.`);
  }
  if (options.json || options.wait === false) return 0;
  process.once("SIGINT", () => void withdrawCode(store, id).finally(() => process.exit(130)));
  return outcome(store, id);
}

/** Returns the store, and the gateway that the config describes. */
export async function openPairing(config: string | undefined): Promise<{ store: PairingStore; issuer: string }> {
  const { config: chosen } = await chooseConfig({ config });
  const issuer = issuerOf(chosen.gateway);
  if (issuer === undefined) {
    throw new UsageError('pairing is off: set "gateway.auth.pairing" to true, and "gateway.publicUrl", in the config');
  }
  const store = await PairingStore.open(process.env);
  const keys = sharedKeys(chosen, process.env);
  if (keys) store.takeKeys(keys);
  return { store, issuer };
}

async function outcome(store: PairingStore, id: string): Promise<number> {
  for (;;) {
    const { codes, grants } = await store.read();
    const code = codes.find((one) => one.id === id);
    const grant = grants.find((one) => one.id === code?.grant);
    if (grant) {
      console.log(clean(`${grant.clientName} (${grant.clientHost}) may use the gateway now.`));
      console.log(`To end that: goblin grants revoke ${grant.id}`);
      return 0;
    }
    const why = failure(code);
    if (why !== undefined) {
      console.error(`${why} Run goblin pair again.`);
      return 1;
    }
    await pause(LOOK_MS);
  }
}

/** A client has a minute to fetch its tokens after the code was typed. */
const FETCH_MS = 60_000;

function failure(code: Parameters<typeof isOpen>[0] | undefined): string | undefined {
  if (!code) return "Another goblin pair has replaced the code.";
  if (isOpen(code, Date.now())) return undefined;
  if (code.grant !== undefined) {
    return Date.now() < code.expiresAt + FETCH_MS ? undefined : "The code was typed, but the client did not connect.";
  }
  return code.attemptsLeft === 0 ? "The code is void after too many wrong attempts." : "The code has expired.";
}
