/**
 * The laws of the resource index, over generated servers: unique names, each leading home, whatever
 * the order.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { expandTemplate, parseTemplate } from "../../../../src/lib/uri-template/template.ts";
import { assignPrefixes, prefixed } from "../../../../src/mcp/identifiers/uris.ts";
import type { ResourceServer, UriMode } from "../../../../src/upstream/catalog/resources/entries.ts";
import { createResourceIndex } from "../../../../src/upstream/catalog/resources/resource-index.ts";

const modes: UriMode[] = ["prefixed", "flat", "raw"];

function server(id: string, uris: string[], templates: string[] = []): ResourceServer {
  return { id, resources: uris.map((uri) => ({ uri })), templates: templates.map((uriTemplate) => ({ uriTemplate })) };
}

describe("laws", () => {
  const id = fc.constantFrom("a", "b", "a_b", "a-b", "A.c", "a_b_x", "1");
  const piece = fc.constantFrom("a", "b", "_", "/", "//", "~", " ", "é", "+", ".", "?q=1", "%20", "#f", "a_b");
  const uri = fc
    .tuple(fc.constantFrom("x://", "file:///", "y:", "", "a+x://", "ui://", "raw:"), fc.array(piece, { maxLength: 4 }))
    .map(([scheme, pieces]) => scheme + pieces.join(""));
  const anyTemplate = fc.constantFrom(
    "t://{a}",
    "t://b/{a}",
    "t://{+a}/c{?d}",
    "u/{a}",
    "t://{a}{/b*}",
    "file:///{+p}",
  );
  const anyServers = fc
    .uniqueArray(fc.tuple(id, fc.array(uri, { maxLength: 6 }), fc.array(anyTemplate, { maxLength: 2 })), {
      maxLength: 5,
      selector: ([serverId]) => serverId,
    })
    .map((servers) => servers.map(([serverId, uris, templates]) => server(serverId, uris, templates)));
  const anyMode = fc.constantFrom(...modes);

  it("names are unique, sorted, and lead to their own entry", () => {
    fc.assert(
      fc.property(anyServers, anyMode, (servers, mode) => {
        const index = finish(createResourceIndex({ servers, mode }));
        const shown = index.resources.map(({ exposed }) => exposed);
        expect(shown).toEqual([...new Set(shown)].sort());
        expect(new Set(index.resources.map((entry) => entry.flatId)).size).toBe(shown.length);
        expect(new Set(index.templates.map(({ exposed }) => exposed)).size).toBe(index.templates.length);
        const prefixes = assignPrefixes(servers.map((each) => each.id));
        for (const entry of index.resources) {
          const { serverId, position } = entry;
          const expected = { kind: "found", serverId, uri: entry.uri, via: "resource", position };
          expect(index.resolve(entry.exposed)).toEqual(expected);
          expect(index.expose(serverId, entry.uri)).toBe(entry.exposed);
          for (const name of [
            entry.flatId,
            prefixed(prefixes.get(serverId) ?? "", entry.uri),
            `file:///${entry.flatId}`,
          ]) {
            // Another entry may be listed, or owned, under the very same text; that one comes first
            // by rule.
            if (index.resources.some((other) => other !== entry && [other.exposed, other.uri].includes(name))) continue;
            expect(index.resolve(name), name).toEqual(expected);
          }
          const owners = index.resources.filter((other) => other.uri === entry.uri).length;
          const raw = index.resolve(entry.uri);
          if (raw.kind === "ambiguous") expect(raw.candidates.length).toBeGreaterThan(1);
          else if (raw.kind === "found" && raw.uri === entry.uri && owners === 1) expect(raw).toEqual(expected);
        }
        for (const entry of index.templates) {
          expect(index.resolveTemplate(entry.exposed)).toMatchObject({
            serverId: entry.serverId,
            uri: entry.uriTemplate,
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a client's own expansion of a listed template reaches its server as the server's own expansion", () => {
    fc.assert(
      fc.property(
        anyServers,
        fc.constantFrom("prefixed", "raw"),
        fc.string({ unit: "grapheme", minLength: 1 }),
        (all, mode, a) => {
          const servers = all.map((each) => ({ ...each, resources: [] }));
          const index = finish(createResourceIndex({ servers, mode }));
          for (const entry of index.templates) {
            const shown = parseTemplate(entry.exposed);
            const own = parseTemplate(entry.uriTemplate);
            if (!shown.ok || !own.ok) throw new Error(entry.exposed);
            const values = { a, b: ["x", "y"], d: "e", p: a };
            const resolved = index.resolve(expandTemplate(shown.template, values));
            expect(resolved).toMatchObject({ kind: "found", uri: expandTemplate(own.template, values) });
            if (mode === "prefixed") expect(resolved).toMatchObject({ serverId: entry.serverId });
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("the order of servers changes nothing but which of two equal templates wins", () => {
    fc.assert(
      fc.property(anyServers, anyMode, (servers, mode) => {
        const index = finish(createResourceIndex({ servers, mode }));
        const reversed = finish(createResourceIndex({ servers: servers.toReversed(), mode }));
        expect(reversed.resources).toEqual(index.resources);
        expect(reversed.templates).toEqual(index.templates);
        for (const { uri: own, flatId, exposed } of index.resources) {
          for (const name of [own, flatId, exposed]) expect(reversed.resolve(name)).toEqual(index.resolve(name));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("ten thousand resources are indexed and found", () => {
    const servers = Array.from({ length: 20 }, (_, s) =>
      server(
        `server${s}`,
        Array.from({ length: 500 }, (_, i) => `file:///srv/${s}/file-${i}.json`),
        [`db${s}://{table}/{id}`],
      ),
    );
    for (const mode of modes) {
      const index = finish(createResourceIndex({ servers, mode }));
      for (let i = 0; i < 500; i += 1) {
        expect(index.resolve(`server7_file___srv_7_file-${i}.json`)).toMatchObject({
          serverId: "server7",
          position: i,
        });
      }
      expect(index.resolve("db19://a/b")).toMatchObject({ serverId: "server19" });
      expect(index.resources).toHaveLength(10_000);
    }
  });
});
