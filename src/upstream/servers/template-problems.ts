/**
 * Logs resource templates that do not parse, once each while the server lists them. They are
 * listed, but never used for routing.
 */

import { Throttle } from "../../lib/timing/throttle.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { shown } from "../catalog/find-or-throw.ts";

export function warnOfTemplates(catalog: Catalog, log: Logger): void {
  const throttle = new Throttle({ burst: 20, everyMs: 60_000 });
  let told = new Set<string>();
  catalog.on("swap", () => {
    const { problems } = catalog.snapshot.resources;
    if (problems.length === 0 && told.size === 0) return;
    const known = told;
    told = new Set();
    for (const { serverId, uriTemplate, message } of problems) {
      const key = `${serverId} ${uriTemplate}`;
      told.add(key);
      const heldBack = known.has(key) ? undefined : throttle.pass();
      if (heldBack === undefined) continue;
      const detail = {
        server: serverId,
        template: shown(uriTemplate),
        error: message,
        ...(heldBack > 0 && { heldBack }),
      };
      log.warn(detail, "A resource template does not parse; it is not used for routing");
    }
  });
}
