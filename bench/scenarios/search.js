// @ts-check
// The meta tool search_tools: a query by name among 500 and 5 000 tools, one at a time.

import { fillerName } from "../backend-answers.js";
import { Skip } from "../lab.js";
import { whole } from "../report.js";
import { httpServer } from "../subjects.js";

/** @type {import("../run.js").Scenario} */
export const search = {
  name: "search",
  seconds: { full: 4, short: 0 },
  async run(lab) {
    const rows = [];
    for (const tools of [500, 5_000]) {
      const goblin = await lab.goblin({
        servers: { http: httpServer(lab.backendUrl({ tag: "search", tools })) },
      });
      const names = Array.from({ length: 250 }, (_, n) => fillerName(n * Math.floor(tools / 250)));
      /** @type {import("../lab.js").Cell} */
      const cell = {
        subject: goblin,
        load: { era: "legacy", connections: 1, ask: { kind: "search", tool: "search_tools", names } },
      };
      const refusal = await lab.refusal(cell);
      if (refusal !== undefined) throw new Skip(refusal);
      const [own] = await lab.compare([cell], { warmCalls: 300 });
      if (own) rows.push([`${whole(tools)} tools`, own.perSecond, own.p50, own.p99, own.cpuUs]);
      await lab.clear();
    }
    const columns = ["among", "queries/s", "p50 ms", "p99 ms", "CPU µs"];
    return { tables: [{ title: "search_tools, 1 connection", columns, rows }] };
  },
};
