/** Requests that wait for servers look again when one of these servers changes, and only then. */
import { expect, test } from "vitest";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { emptyLists } from "../../../../src/upstream/catalog/definitions.ts";
import { namedOrThrow } from "../../../../src/upstream/catalog/find-or-throw.ts";
import type { Snapshot } from "../../../../src/upstream/catalog/snapshot.ts";
import { KNOWN, STARTING } from "../../../../src/upstream/catalog/standing.ts";
import { Waiting, type WaitingParts } from "../../../../src/upstream/servers/waiting.ts";

const policy = { allow: ["*"], deny: [], overrides: {} };
const exposure = { mode: "all", budgetTokens: 1 } as const;
const value = { name: "echo", inputSchema: {} };
const lists = { ...emptyLists, tools: [{ value, text: JSON.stringify(value) }] };

function startingServers(ids: readonly string[]) {
  const catalog = new Catalog({ maxNameLength: 64, uris: "prefixed", pageSize: 100, local: [], exposure });
  for (const id of ids) {
    catalog.put({ id, prefix: `${id}_`, tools: policy });
    catalog.stand(id, STARTING);
  }
  const current = { limits: { inFlightPerSession: 100 }, timeouts: { callMs: 60_000 } };
  const parts = { catalog, servers: { config: () => undefined }, config: { current }, onLimit: () => {} };
  const waiting = new Waiting(parts as unknown as WaitingParts);
  const looks: string[] = [];
  return {
    looks,
    catalog,
    found: (name: string) => {
      const find = (snapshot: Snapshot): string => {
        looks.push(name);
        return namedOrThrow("tool", snapshot, name).serverId;
      };
      return waiting.found(find, { client: { key: "c", visibility: undefined } });
    },
    start: (id: string) => {
      catalog.update(id, lists);
      catalog.stand(id, KNOWN);
      // Reading it publishes what was reported.
      expect(catalog.snapshot.standing(id)).toEqual(KNOWN);
    },
  };
}

test("a server that has started wakes the requests that wait for it, and no others", async () => {
  const { catalog, looks, found, start } = startingServers(["one", "two", "three"]);
  const waits = [found("one_echo"), found("two_echo")];
  expect(looks.splice(0)).toEqual(["one_echo", "two_echo"]);
  start("three");
  expect(looks.splice(0)).toEqual([]);
  start("two");
  expect(looks.splice(0)).toEqual(["two_echo"]);
  start("one");
  expect(looks.splice(0)).toEqual(["one_echo"]);
  expect(await Promise.all(waits)).toEqual(["one", "two"]);
  expect(catalog.listenerCount("snapshot")).toBe(0);
});

test("a server that is removed ends the wait for it", async () => {
  const { catalog, found } = startingServers(["one", "two"]);
  const wait = found("one_echo");
  catalog.remove("one");
  expect(catalog.snapshot.servers.map(({ id }) => id)).toEqual(["two"]);
  await expect(wait).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
});
