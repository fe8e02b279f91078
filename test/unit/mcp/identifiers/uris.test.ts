/**
 * The forms of a backend's URI: the literal examples of the requirements, and the laws that names
 * must keep.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { expandTemplate, parseTemplate } from "../../../../src/lib/uri-template/template.ts";
import {
  assignPrefixes,
  collapsedId,
  flatClaims,
  flatId,
  isUri,
  prefixed,
  prefixedTemplate,
  uniqueFlatIds,
  uniqueNames,
  unprefixed,
  unprefixedExpansions,
} from "../../../../src/mcp/identifiers/uris.ts";

describe("flat ids", () => {
  it.each([
    ["filesystem", "file:///logs/app.log", "filesystem_file___logs_app.log"],
    ["filesystem", "file:///path/to/file", "filesystem_file___path_to_file"],
    ["filesystem", "file:///config/app.json", "filesystem_file___config_app.json"],
    ["s3", "s3://bucket/config/app.json", "s3_s3___bucket_config_app.json"],
    ["m", "mailto:a@b.c", "m_mailto___a_b.c"],
    ["g", "git+ssh://host/x", "g_git_ssh___host_x"],
    ["a", "x://a//b__c?d=~e", "a_x___a_b_c_d_~e"],
    ["a", "just text", "a_just_text"],
    ["a", "", "a_"],
    ["a", "x:///_y", "a_x____y"],
  ])("%s and %s: %s", (serverId, uri, id) => {
    expect(flatId(serverId, uri)).toBe(id);
  });

  it("keeps colliding ones apart by a digest of server and URI", () => {
    const entries = ["x://a/b", "x://a_b", "x://a//b", "x://c"].map((uri) => ({ serverId: "s", uri }));
    const bare = ["s_x___a_b", "s_x___a_b", "s_x___a_b", "s_x___c"];
    expect(entries.map(({ serverId, uri }) => flatId(serverId, uri))).toEqual(bare);
    expect(finish(uniqueFlatIds(entries, bare, flatClaims(["s"])))).toEqual([
      "s_x___a_b~fb9981ff",
      "s_x___a_b~9e33e082",
      "s_x___a_b~12be3b0a",
      "s_x___c",
    ]);
  });

  it("lengthens the digest until names differ, and leaves a name alone that nobody shares", () => {
    const digests = ["aaaaaaaa1111111100", "aaaaaaaa2222222200", "", "bbbbbbbb3333333300"];
    const bare = ["n", "n", "n~bbbbbbbb", "n"];
    expect(finish(uniqueNames(bare, { separator: "~", digestOf: (i) => digests[i] ?? "" }))).toEqual([
      "n~aaaaaaaa11111111",
      "n~aaaaaaaa22222222",
      "n~bbbbbbbb",
      "n~bbbbbbbb33333333",
    ]);
  });
});

describe("collapsed ids", () => {
  it.each([
    ["filesystem", "file:///path/to/file", "filesystem_file_path_to_file"],
    ["filesystem", "file:///logs/app.log", "filesystem_file_logs_app.log"],
    ["s", "x://a__b?c", "s_x_a_b_c"],
  ])("%s and %s: %s", (serverId, uri, id) => {
    expect(collapsedId(serverId, uri)).toBe(id);
  });
});

describe("prefixes", () => {
  it("are the server's id as a scheme", () => {
    expect([...assignPrefixes(["filesystem", "My_Server", "a.b-c", "1password", "x+y", "ü"])]).toEqual([
      ["filesystem", "filesystem"],
      ["My_Server", "my-server"],
      ["a.b-c", "a.b-c"],
      ["1password", "s-1password"],
      ["x+y", "x-y"],
      ["ü", "s--"],
    ]);
  });

  it("are unique, and the same in any order", () => {
    const ids = ["my_db", "my-db", "my db", "other"];
    const prefixes = assignPrefixes(ids);
    expect(prefixes.get("other")).toBe("other");
    expect(prefixes.get("my_db")).toBe("my-db-e0a37f2f");
    expect(new Set(prefixes.values()).size).toBe(4);
    const reversed = assignPrefixes(ids.toReversed());
    for (const id of ids) expect(reversed.get(id)).toBe(prefixes.get(id));
  });

  it("keep both laws for any ids", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 12 }), (ids) => {
        const prefixes = assignPrefixes(ids);
        expect(new Set(prefixes.values()).size).toBe(ids.length);
        for (const prefix of prefixes.values()) expect(prefix).toMatch(/^[a-z][a-z0-9.-]*$/);
        const sorted = assignPrefixes([...ids].sort());
        for (const id of ids) expect(sorted.get(id)).toBe(prefixes.get(id));
      }),
    );
  });
});

describe("prefixed URIs", () => {
  it.each([
    ["filesystem", "file:///logs/app.log", "filesystem+file:///logs/app.log"],
    ["git", "ssh://x", "git+ssh://x"],
    ["a", "notes/today.md", "a+raw:notes%2Ftoday.md"],
    ["a", "file:///my docs/ü.txt", "a+raw:file%3A%2F%2F%2Fmy%20docs%2F%C3%BC.txt"],
    ["a", "file:///100%", "a+raw:file%3A%2F%2F%2F100%25"],
    ["a", "raw:x", "a+raw:raw%3Ax"],
    ["a", "", "a+raw:"],
    ["a", "\ud800", "a+raw:%ED%A0%80"],
  ])("%s and %s: %s", (prefix, uri, expected) => {
    expect(prefixed(prefix, uri)).toBe(expected);
    expect(unprefixed(expected)).toEqual({ prefix, uri });
  });

  it.each(["file:///x", "plain", "+x", "A+x:y", "1+x:y", ""])("%s has no prefix", (text) => {
    expect(unprefixed(text)).toBeUndefined();
  });

  it("round-trip, differ where the URIs do, and are URIs", () => {
    const unit = fc.constantFrom("a", "+", ":", "/", "%", "2", "F", " ", "é", "\ud800", "\udc00", "𝄞", "raw:", "x://");
    const uri = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(unit, { maxLength: 6 }).map((units) => units.join("")),
    );
    fc.assert(
      fc.property(uri, uri, (one, other) => {
        expect(unprefixed(prefixed("p", one))).toEqual({ prefix: "p", uri: one });
        expect(isUri(prefixed("p", one))).toBe(true);
        expect(prefixed("p", one) === prefixed("p", other)).toBe(one === other);
        expect(prefixed("p", one)).not.toBe(prefixed("q", other));
      }),
      { numRuns: 1000 },
    );
  });

  it("takes megabytes without trouble", () => {
    const uri = `x:${"%41b".repeat(1_000_000)}`;
    expect(unprefixed(prefixed("p", uri))?.uri).toBe(uri);
  });
});

describe("prefixed templates", () => {
  it.each([
    ["db", "mcp://database/{table}/{id}", "db+mcp://database/{table}/{id}"],
    ["n", "notes/{id}", "n+raw:notes/{id}"],
    ["n", "{+url}", "n+raw:{+url}"],
    ["n", "raw:{x}", "n+raw:raw:{x}"],
  ])("%s and %s: %s", (prefix, text, expected) => {
    expect(prefixedTemplate(prefix, text)).toBe(expected);
  });

  it("expand to what strips to the backend's own expansion", () => {
    const sources = [
      "mcp://db/{a}/{b}",
      "notes/{a}{?b}",
      "{+a}",
      "{a}://x{/b}",
      "raw:{a}",
      "t://my docs/{a}{#b}",
      "{a}%41{b}",
    ];
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (a, b) => {
        for (const source of sources) {
          const own = parseTemplate(source);
          const shown = parseTemplate(prefixedTemplate("p", source));
          if (!own.ok || !shown.ok) throw new Error(source);
          const stripped = unprefixedExpansions(expandTemplate(shown.template, { a, b }));
          expect(stripped?.prefix).toBe("p");
          expect(stripped?.uris[0]).toBe(expandTemplate(own.template, { a, b }));
        }
      }),
    );
  });
});
