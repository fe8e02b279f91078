// @ts-check
// resources/read over 20 backends by every form of a URI and by template: with 10 000 resources
// each must cost what it costs with 10.

import { Client } from "../client.js";
import { Skip } from "../lab.js";
import { httpServer } from "../subjects.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../requests.js").Ask} Ask */

const BACKENDS = 20;
// By count, so that both processes have run the same code equally often.
const READS = 400;
const LIMIT_MS = 3_000;
/** The gateway's own. */
const PAGE_SIZE = 1_000;
const MAX_RESOURCES = 10_000;
const MAX_PAGES = MAX_RESOURCES / PAGE_SIZE + 1;
/** As many as are sent to the load generator; they are spread over the whole list. */
const MAX_TARGETS = 1_000;

/** @param {Client} client @param {string} method @param {string} key @returns {Promise<any[]>} */
async function listAll(client, method, key) {
  const entries = [];
  let cursor;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await client.ask(method, cursor === undefined ? {} : { cursor });
    entries.push(...result[key]);
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  return entries;
}

/** @param {Lab} lab @param {number} total */
async function prepare(lab, total) {
  const share = (/** @type {number} */ index) =>
    Math.floor((total * (index + 1)) / BACKENDS) - Math.floor((total * index) / BACKENDS);
  const servers = Object.fromEntries(
    Array.from({ length: BACKENDS }, (_, index) => [
      `b${index}`,
      httpServer(lab.backendUrl({ tag: `r${index}`, resources: share(index) })),
    ]),
  );
  const goblin = await lab.goblin({ servers });
  const client = await Client.open(goblin.url, "legacy");
  try {
    const listed = await listAll(client, "resources/list", "resources");
    const templates = await listAll(client, "resources/templates/list", "resourceTemplates");
    const own = listed.filter((entry) => entry.description?.startsWith("bench://"));
    if (own.length !== total) throw new Skip(`resources/list has ${own.length} of ${total} resources`);
    // The longer list took more requests; both processes shall be equally warm.
    for (let rest = MAX_RESOURCES - total; rest >= PAGE_SIZE; rest -= PAGE_SIZE) {
      await client.ask("resources/list", {});
    }
    const step = Math.max(1, Math.floor(total / MAX_TARGETS));
    const entries = own.filter((_, index) => index % step === 0);
    /** @param {((entry: any) => string)[]} forms Used in turn. @returns {Ask} */
    const readBy = (...forms) => ({
      kind: "read",
      targets: entries.flatMap((entry) => forms.map((form) => ({ uri: form(entry), expect: entry.description }))),
    });
    const template = templates.at(-1);
    const [before, after] = template?.uriTemplate.split("{row}") ?? [];
    /** @type {[string, Ask][]} */
    const asks = [["read by exact URI", readBy(({ uri }) => uri)]];
    if (!lab.short && lab.isGoblin) {
      const flatId = (/** @type {any} */ entry) => entry._meta["goblin/id"];
      const others = readBy(
        flatId,
        (entry) => `file:///${flatId(entry)}`,
        ({ description }) => description,
        (entry) => flatId(entry).replaceAll("___", "_"),
      );
      asks.push(["read by flat, own or collapsed form", others]);
    }
    if (before !== undefined)
      asks.push(["read by template", { kind: "expand", before, after: after ?? "", expect: template.description }]);
    return asks.map(([form, ask]) => ({
      form,
      cell: { subject: goblin, load: { era: /** @type {const} */ ("legacy"), connections: 16, count: READS, ask } },
    }));
  } catch (error) {
    throw error instanceof Skip ? error : new Skip(String(error));
  } finally {
    client.close();
  }
}

/** @type {import("../run.js").Scenario} */
export const resources = {
  name: "resources",
  seconds: { full: 8, short: 3.5 },
  async run(lab) {
    const [few, many] = await Promise.all([prepare(lab, 10), prepare(lab, MAX_RESOURCES)]);
    const rows = [];
    const notes = [];
    /** @type {import("../report.js").Bar[]} */
    const bars = [];
    for (const [index, { form, cell }] of few.entries()) {
      const other = many[index];
      const refusal = (await lab.refusal(cell)) ?? (other && (await lab.refusal(other.cell)));
      if (!other || refusal !== undefined) {
        notes.push(`${form}: skipped: ${refusal}`);
        continue;
      }
      const [small, large] = await lab.compare([cell, other.cell], {
        // The first row has compiled most of what the others need.
        warmCalls: index === 0 ? 1_200 : 300,
        limit: LIMIT_MS,
        duration: LIMIT_MS,
      });
      if (!small || !large) continue;
      const ratio = large.cpuUs / small.cpuUs;
      rows.push([form, small.perSecond, large.perSecond, small.cpuUs, large.cpuUs, ratio]);
      bars.push({ name: `resources/${form}, 10 000 against 10`, value: ratio, most: 1.2 });
    }
    const columns = ["resources/", "per s, 10", "per s, 10 000", "CPU µs, 10", "CPU µs, 10 000", "ratio"];
    return { tables: [{ title: "resources, 20 backends, 16 connections", columns, rows, notes }], bars };
  },
};
