/** `goblin grants`: the clients that were let in with a code, and their end. */
import { withoutGrants } from "../../../auth/pairing/grants.ts";
import type { Grant } from "../../../auth/pairing/store.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { openPairing } from "./pair.ts";

export interface GrantsOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface RevokeOptions extends GrantsOptions {
  readonly all?: boolean | undefined;
}

const ago = (at: number): string => `${formatDuration(Date.now() - at)} ago`;
const columns: Column<Grant>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "CLIENT", text: ({ clientName }) => clientName },
  { title: "HOST", text: ({ clientHost }) => clientHost },
  { title: "PROFILE", text: ({ profile }) => profile ?? "–" },
  { title: "LET IN", text: ({ createdAt }) => ago(createdAt) },
  { title: "LAST TOKEN", text: ({ usedAt }) => ago(usedAt) },
];

export async function grants(options: GrantsOptions): Promise<number> {
  const { store, issuer } = await openPairing(options.config);
  const own = (await store.read()).grants.filter((grant) => grant.issuer === issuer);
  if (options.json) {
    const rows = own.map(({ id, clientId, clientName, clientHost, resource, profile, createdAt, usedAt }) => ({
      id,
      client: clientId,
      name: clientName,
      host: clientHost,
      resource,
      profile: profile ?? null,
      createdAt: new Date(createdAt).toISOString(),
      usedAt: new Date(usedAt).toISOString(),
    }));
    printJson({ grants: rows });
  } else if (own.length === 0) console.log("No client was let in. To let one in: goblin pair");
  else printTable(own, columns);
  return 0;
}

export async function revoke(ids: readonly string[], options: RevokeOptions): Promise<number> {
  if (ids.length > 0 === (options.all === true)) throw new UsageError("name the grants to end, or use --all");
  const { store, issuer } = await openPairing(options.config);
  let ended: readonly Grant[] = [];
  await store.change((book) => {
    const own = book.grants.filter((grant) => grant.issuer === issuer);
    const unknown = ids.find((id) => !own.some((grant) => grant.id === id));
    if (unknown !== undefined) throw new UsageError(`there is no grant "${unknown}": see goblin grants`);
    ended = options.all ? own : own.filter(({ id }) => ids.includes(id));
    return withoutGrants(
      book,
      ended.map(({ id }) => id),
    );
  });
  console.log(`Ended ${ended.length} ${ended.length === 1 ? "grant" : "grants"}.`);
  return 0;
}
