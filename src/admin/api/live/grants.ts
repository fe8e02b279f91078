/** The clients that a person let in with a code: their list, their end, and new codes. */
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { ApiFailure, apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { GrantRow, PairingCodeRow } from "./grant-schema.ts";

type Pairing = NonNullable<AdminParts["pairing"]>;
type Grant = Awaited<ReturnType<Pairing["grants"]>>[number];

interface Asked {
  readonly params: Record<string, unknown>;
  readonly principal: Principal;
}

export function grantHandlers({ pairing, log }: Pick<AdminParts, "pairing" | "log">) {
  const use = async <Result>(act: (on: Pairing) => Promise<Result>): Promise<Result> => {
    if (pairing?.issuer === undefined) {
      const fix = 'set "gateway.auth.pairing" to true, and "gateway.publicUrl", in the config';
      throw apiFailure("PAIRING_OFF", `Pairing is off: ${fix}`);
    }
    try {
      return await act(pairing);
    } catch (error) {
      if (error instanceof ApiFailure) throw error;
      throw apiFailure("PAIRING_UNAVAILABLE", messageOf(error));
    }
  };
  return {
    listGrants: () =>
      use(async (on) => {
        const items = (await on.grants()).map(rowOf);
        return { items, total: items.length };
      }),
    revokeGrant: ({ params, principal }: Asked) =>
      use(async (on) => {
        const id = String(params["id"]);
        const ended = await on.revoke(id);
        if (!ended) throw apiFailure("GRANT_NOT_FOUND", `There is no grant "${id}"`);
        log.info({ grant: id, client: ended.clientName, by: principal.name }, "A grant was ended");
        return rowOf(ended);
      }),
    makePairingCode: ({ principal }: Asked) =>
      use(async (on): Promise<PairingCodeRow> => {
        const made = await on.newCode();
        log.info({ by: principal.name }, "A pairing code was made");
        return made;
      }),
  };
}

function rowOf({ id, clientId, clientName, clientHost, resource, profile, createdAt, usedAt }: Grant): GrantRow {
  const client = { clientId, name: clientName, host: clientHost };
  return { id, ...client, resource, profile: profile ?? null, createdAt, usedAt };
}
