// @ts-check
// tools/list of 500 and 5 000 tools against a server that does nothing but send the same bytes from
// a Buffer.

import { fillerName } from "../backend-answers.js";
import { Client, payload } from "../client.js";
import { Skip } from "../lab.js";
import { whole } from "../report.js";
import { httpServer } from "../subjects.js";

/** @typedef {import("../lab.js").Lab} Lab */

/** In the list that the Buffer holds. */
const LIST_ID = 1_000_000;

/** @param {Lab} lab @param {number} tools */
async function withTools(lab, tools) {
  const servers = { http: httpServer(lab.backendUrl({ tag: "lists", tools })) };
  return lab.goblin({ servers });
}

/**
 * The list as it is sent, found complete.
 * @param {import("../subjects.js").Subject} goblin
 * @param {number} tools
 */
async function fetchList(goblin, tools) {
  const client = await Client.open(goblin.url, "legacy");
  const answer = await client.connection.exchange(client.request(LIST_ID, "tools/list", ""));
  client.close();
  const bytes = payload(answer);
  const { result, error } = JSON.parse(bytes.toString());
  if (!result) throw new Skip(`tools/list: ${JSON.stringify(error)}`);
  const names = new Set(result.tools.map((/** @type {{ name: string }} */ tool) => tool.name));
  const missing = Array.from({ length: tools }, (_, n) => goblin.tool("http", fillerName(n))).filter(
    (name) => !names.has(name),
  );
  return { bytes, missing, paged: result.nextCursor !== undefined };
}

/** @type {import("../run.js").Scenario} */
export const lists = {
  name: "lists",
  seconds: { full: 5, short: 2.5 },
  async run(lab) {
    const rows = [];
    const notes = [];
    /** @type {import("../report.js").Bar[]} */
    const bars = [];
    for (const tools of lab.short ? [5_000] : [500, 5_000]) {
      const goblin = await withTools(lab, tools);
      const { bytes, missing, paged } = await fetchList(goblin, tools);
      if (paged) notes.push(`${tools} tools: the first page only`);
      else if (missing.length > 0)
        lab.wrong.push(`tools/list: ${missing.length} of ${tools} tools missing, the first: ${missing[0]}`);
      const buffer = await lab.buffer(bytes);
      const common = { era: /** @type {const} */ ("legacy"), connections: 8 };
      const [own, base] = await lab.compare(
        [
          { subject: goblin, load: { ...common, ask: { kind: "list", method: "tools/list" } } },
          { subject: buffer, load: { ...common, era: "modern", ask: { kind: "bytes", id: LIST_ID } } },
        ],
        { warmCalls: 120 },
      );
      if (!own || !base) continue;
      const ratio = own.perSecond / base.perSecond;
      rows.push([
        `${whole(tools)} tools`,
        bytes.length / 1000,
        own.perSecond,
        base.perSecond,
        ratio,
        own.cpuUs,
        own.cpuUs / base.cpuUs,
      ]);
      if (tools === 5_000) bars.push({ name: "list of 5 000 tools against a Buffer", value: ratio, least: 0.8 });
      await lab.clear();
    }
    const columns = ["list", "kB", "lists/s", "Buffer/s", "× Buffer", "CPU µs", "× Buffer"];
    return { tables: [{ title: "tools/list, 8 connections", columns, rows, notes }], bars };
  },
};
