/**
 * How tools are listed to the clients of one place, by what they are: the visibility of the place,
 * with the kind of client in its key. Clients of one kind share one view.
 *
 * A kind changes which tools are listed, never which exist: what a client says about itself opens
 * nothing.
 */
import type { Config } from "../../config/schema/config.ts";
import type { ClientKind, Place, Visibility } from "../../mcp/protocol/principal.ts";
import { clientKindOf } from "./client-kinds.ts";
import { visibilityOf } from "./conditions.ts";

/** The most names of clients that are remembered at one place. */
const MAX_NAMES = 1000;

/** Returns undefined if all clients of the place see the same. */
export function listingFor(base: Visibility | undefined, config: Config): Place["forClient"] {
  const mode = base?.expose ?? config.tools.expose;
  // A server alone is shown as it is.
  if (base?.server !== undefined || (mode !== "auto" && Object.keys(config.clients).length === 0)) return undefined;
  const byName = new Map<string, Visibility | undefined>();
  const byKind = new Map<string, Visibility>();
  return ({ name }) => {
    if (typeof name !== "string") return base;
    if (byName.has(name)) return byName.get(name);
    const kind = effective(clientKindOf(name, config.clients), mode);
    let visibility = base;
    if (kind) {
      const key = JSON.stringify(kind);
      visibility = byKind.get(key) ?? withKind(base, kind, key);
      byKind.set(key, visibility);
    }
    if (byName.size >= MAX_NAMES) byName.clear();
    byName.set(name, visibility);
    return visibility;
  };
}

/** Caps and a client's own search count only where the gateway decides by client. */
function effective(kind: ClientKind | undefined, mode: Visibility["expose"]): ClientKind | undefined {
  if (!kind) return undefined;
  const { expose, pinned } = kind;
  if ((expose ?? mode) === "auto") return kind;
  return expose === undefined && !pinned?.length ? undefined : { expose, pinned };
}

function withKind(base: Visibility | undefined, kind: ClientKind, key: string): Visibility {
  const visibility = base ?? visibilityOf({ conditions: [], profile: undefined, server: undefined, expose: undefined });
  const expose = kind.expose ?? visibility.expose;
  return { ...visibility, key: `${visibility.key} ${key}`, expose, kind };
}
