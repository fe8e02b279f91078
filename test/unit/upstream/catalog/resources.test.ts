/**
 * The resource index: every name of a resource leads to its owner in every mode, nothing else leads
 * anywhere.
 */
import { describe, expect, it } from "vitest";
import { finish } from "../../../../src/lib/timing/slices.ts";
import type { ResourceServer, UriMode } from "../../../../src/upstream/catalog/resources/entries.ts";
import { rewriteLike, subResourceOf } from "../../../../src/upstream/catalog/resources/forms.ts";
import { createResourceIndex } from "../../../../src/upstream/catalog/resources/resource-index.ts";

const modes: UriMode[] = ["prefixed", "flat", "raw"];

function server(id: string, uris: string[], templates: string[] = []): ResourceServer {
  return { id, resources: uris.map((uri) => ({ uri })), templates: templates.map((uriTemplate) => ({ uriTemplate })) };
}

const seeds = [
  server("filesystem", ["file:///logs/app.log", "file:///config/app.json"]),
  server("s3", ["s3://bucket/config/app.json"]),
  server("db", [], ["mcp://database/{table}/{id}"]),
];

describe("what clients see", () => {
  it.each([
    [
      "prefixed",
      ["filesystem+file:///config/app.json", "filesystem+file:///logs/app.log", "s3+s3://bucket/config/app.json"],
    ],
    ["flat", ["filesystem_file___config_app.json", "filesystem_file___logs_app.log", "s3_s3___bucket_config_app.json"]],
    ["raw", ["file:///config/app.json", "file:///logs/app.log", "s3://bucket/config/app.json"]],
  ] as const)("%s: resources sorted by the URI shown", (mode, uris) => {
    const index = finish(createResourceIndex({ servers: seeds, mode }));
    expect(index.resources.map(({ exposed }) => exposed)).toEqual(uris);
    expect(index.resources.find(({ uri }) => uri === "file:///logs/app.log")).toEqual({
      serverId: "filesystem",
      uri: "file:///logs/app.log",
      exposed: uris[1],
      flatId: "filesystem_file___logs_app.log",
      position: 0,
    });
  });

  it.each([
    ["prefixed", "db+mcp://database/{table}/{id}"],
    ["flat", "db_mcp://database/{table}/{id}"],
    ["raw", "mcp://database/{table}/{id}"],
  ] as const)("%s: templates", (mode, exposed) => {
    expect(finish(createResourceIndex({ servers: seeds, mode })).templates).toEqual([
      {
        serverId: "db",
        uriTemplate: "mcp://database/{table}/{id}",
        exposed,
        flatId: "db_mcp___database_table_id_",
        position: 0,
      },
    ]);
  });

  it("raw: prefixed where two servers own a URI or a template", () => {
    const servers = [
      server("a", ["x://1", "x://2"], ["t://{v}"]),
      server("b", ["x://1"], ["t://{v}"]),
      server("c", ["a+x://1"]),
    ];
    const index = finish(createResourceIndex({ servers, mode: "raw" }));
    expect(index.resources.map(({ exposed }) => exposed)).toEqual(["a+x://1", "b+x://1", "c+a+x://1", "x://2"]);
    expect(index.templates.map(({ exposed }) => exposed)).toEqual(["a+t://{v}", "b+t://{v}"]);
    expect(index.resolve("a+x://1")).toMatchObject({ kind: "found", serverId: "a", uri: "x://1" });
    expect(index.resolve("b+t://7")).toMatchObject({ kind: "found", serverId: "b", uri: "t://7" });
    expect(index.resolve("t://7")).toMatchObject({ kind: "found", serverId: "a", uri: "t://7" });
  });

  it.each(modes)("%s: ui:// keeps its form", (mode) => {
    const index = finish(
      createResourceIndex({ servers: [server("app", ["ui://view/main"], ["ui://view/{id}"])], mode }),
    );
    expect(index.resources[0]?.exposed).toBe("ui://view/main");
    expect(index.templates[0]?.exposed).toBe("ui://view/{id}");
    for (const uri of ["ui://view/main", "app+ui://view/main", "app_ui___view_main"]) {
      expect(index.resolve(uri)).toMatchObject({
        kind: "found",
        serverId: "app",
        uri: "ui://view/main",
        via: "resource",
      });
    }
    expect(index.resolve("ui://view/7")).toMatchObject({ kind: "found", uri: "ui://view/7", via: "template" });
    expect(index.expose("app", "ui://view/7")).toBe("ui://view/7");
    expect(index.expose("app", "ui://other")).toBe("ui://other");
  });

  it.each(modes)("%s: a ui:// that two servers own is never one server's by chance", (mode) => {
    const index = finish(createResourceIndex({ servers: [server("a", ["ui://v"]), server("b", ["ui://v"])], mode }));
    expect(index.resolve("ui://v")).toEqual({ kind: "ambiguous", candidates: ["a+ui://v", "b+ui://v"] });
    expect(index.resolve("b+ui://v")).toMatchObject({ kind: "found", serverId: "b", uri: "ui://v" });
  });

  it("an entry that a backend lists twice is one", () => {
    const index = finish(
      createResourceIndex({
        servers: [server("a", ["x:1", "x:2", "x:1"], ["{a}", "{a}"])],
        mode: "prefixed",
      }),
    );
    expect(index.resources.map(({ uri, position }) => [uri, position])).toEqual([
      ["x:1", 0],
      ["x:2", 1],
    ]);
    expect(index.templates).toHaveLength(1);
  });

  it("prefixes do not change while a configured server is away", () => {
    const servers = [server("my_db", ["x://1"])];
    expect(finish(createResourceIndex({ servers, mode: "prefixed" })).resources[0]?.exposed).toBe("my-db+x://1");
    const steady = finish(createResourceIndex({ servers, mode: "prefixed", serverIds: ["my_db", "my-db"] }));
    expect(steady.resources[0]?.exposed).toBe("my-db-e0a37f2f+x://1");
  });
});

describe.each(modes)("resolving, %s", (mode) => {
  const index = finish(createResourceIndex({ servers: seeds, mode }));

  it.each([
    "filesystem+file:///logs/app.log",
    "filesystem_file___logs_app.log",
    "file:///logs/app.log",
    "file:///filesystem_file___logs_app.log",
    "filesystem_file_logs_app.log",
  ])("%s is the resource", (uri) => {
    expect(index.resolve(uri)).toEqual({
      kind: "found",
      serverId: "filesystem",
      uri: "file:///logs/app.log",
      via: "resource",
      position: 0,
    });
  });

  it.each([
    "db+mcp://database/users/42",
    "db_mcp://database/users/42",
    "mcp://database/users/42",
    "file:///db_mcp://database/users/42",
  ])("%s goes through the template", (uri) => {
    const expected = { kind: "found", serverId: "db", uri: "mcp://database/users/42", via: "template", position: 0 };
    expect(index.resolve(uri)).toEqual(expected);
    expect(index.resolveTemplate(uri)).toEqual(expected);
  });

  it.each([
    "db+mcp://database/{table}/{id}",
    "db_mcp://database/{table}/{id}",
    "mcp://database/{table}/{id}",
    "db_mcp___database_table_id_",
    "file:///db_mcp://database/{table}/{id}",
  ])("%s is the template", (ref) => {
    expect(index.resolveTemplate(ref)).toEqual({
      kind: "found",
      serverId: "db",
      uri: "mcp://database/{table}/{id}",
      via: "template",
      position: 0,
    });
  });

  it.each([
    "",
    "nope",
    "file:///logs/other.log",
    "s3+file:///logs/app.log",
    "filesystem+mcp://database/users/42",
    "db+mcp://database/users",
    "nobody+mcp://database/users/42",
    "filesystem_mcp://database/users/42",
    "filesystem_",
    "filesystem+",
    "file:///",
    "FILE:///logs/app.log",
    "x".repeat(1_000_000),
    `mcp://database/${"a/".repeat(100_000)}`,
  ])("%.40s is unknown", (uri) => {
    expect(index.resolve(uri)).toEqual({ kind: "unknown" });
    expect(index.resolveTemplate(uri)).toEqual({ kind: "unknown" });
  });

  it("several owners of a raw URI: an error that names them", () => {
    const both = finish(createResourceIndex({ servers: [server("b", ["x://1"]), server("a", ["x://1"])], mode }));
    const candidates = { prefixed: ["a+x://1", "b+x://1"], flat: ["a_x___1", "b_x___1"], raw: ["a+x://1", "b+x://1"] };
    expect(both.resolve("x://1")).toEqual({ kind: "ambiguous", candidates: candidates[mode] });
    expect(both.resolve("a_x___1")).toMatchObject({ kind: "found", serverId: "a" });
    expect(both.resolve("b+x://1")).toMatchObject({ kind: "found", serverId: "b" });
  });

  it("a flat id that several share: an error that names them", () => {
    const shared = finish(createResourceIndex({ servers: [server("s", ["x://a/b", "x://a_b"])], mode }));
    const ids = ["s_x___a_b~9e33e082", "s_x___a_b~fb9981ff"];
    const candidates = { prefixed: ["s+x://a/b", "s+x://a_b"], flat: ids, raw: ["x://a/b", "x://a_b"] };
    expect(shared.resolve("s_x___a_b")).toEqual({ kind: "ambiguous", candidates: candidates[mode] });
    expect(shared.resolve("file:///s_x___a_b")).toEqual({ kind: "ambiguous", candidates: candidates[mode] });
    expect(shared.resolve("s_x___a_b~fb9981ff")).toMatchObject({ kind: "found", uri: "x://a/b" });
    expect(shared.resolve("s_x_a_b")).toEqual({ kind: "unknown" });
  });

  it("server ids with underscores that read two ways: the longer one's", () => {
    const servers = [server("a", [], ["b_x:{+v}"]), server("a_b", [], ["x://{v}"])];
    const found = finish(createResourceIndex({ servers, mode }));
    expect(found.resolve("file:///a_b_x://1")).toMatchObject({ serverId: "a_b", uri: "x://1" });
    expect(found.resolve("a_b_x:2")).toEqual({ kind: "unknown" });
    expect(found.resolve("a+raw:b_x%3A2")).toMatchObject({ serverId: "a", uri: "b_x:2" });
    const away = finish(createResourceIndex({ servers: servers.slice(0, 1), mode, serverIds: ["a", "a_b"] }));
    expect(away.resolve("file:///a_b_x://1")).toEqual({ kind: "unknown" });
  });

  it("what is under a configured server's prefix is nobody else's, and is not listed as it is", () => {
    const uris = ["github+repo:///x", "GITHUB+repo:///y", "github_x", "file:///github_x"];
    const servers = [server("weather", uris, ["github+repo:///{v}", "file:///{v}"])];
    const index = finish(createResourceIndex({ servers, mode, serverIds: ["weather", "github"] }));
    for (const uri of [...uris, "github+repo:///z", "file:///github_z"]) {
      expect([uri, index.resolve(uri)]).toEqual([uri, { kind: "unknown" }]);
      expect([uri, index.claimants(uri)]).toEqual([uri, ["github"]]);
    }
    for (const { exposed } of index.resources) expect(index.claimants(exposed)).toEqual(["weather"]);
    expect(index.resolve("weather+github+repo:///x")).toMatchObject({ serverId: "weather", via: "resource" });
    expect(index.resolve("weather+github+repo:///z")).toMatchObject({ serverId: "weather", via: "template" });
    const other = "file:///else";
    expect([index.resolve(other), index.claimants(other)]).toMatchObject([{ serverId: "weather" }, []]);
  });

  it("competing templates: the most literal characters, then config order", () => {
    const servers = [
      server("first", [], ["x://{+all}"]),
      server("second", [], ["x://{a}/b"]),
      server("third", [], ["x://{c}/b", "x://d/{e}"]),
    ];
    const competing = finish(createResourceIndex({ servers, mode }));
    expect(competing.resolve("x://1/b")).toMatchObject({ serverId: "second" });
    expect(competing.resolve("x://d/1")).toMatchObject({ serverId: "third", position: 1 });
    expect(competing.resolve("x://1/2/3")).toMatchObject({ serverId: "first" });
    expect(competing.resolve("third+x://1/b")).toMatchObject({ serverId: "third", position: 0 });
  });

  it("an exact entry comes before a template", () => {
    const exact = finish(
      createResourceIndex({ servers: [server("a", [], ["x://{v}"]), server("b", ["x://1"])], mode }),
    );
    expect(exact.resolve("x://1")).toMatchObject({ serverId: "b", via: "resource" });
    expect(exact.resolve("x://2")).toMatchObject({ serverId: "a", via: "template" });
  });

  it("a template that does not parse is listed, reported and harmless", () => {
    const broken = finish(createResourceIndex({ servers: [server("a", ["x://1"], ["x://{", "x://{v}"])], mode }));
    expect(broken.problems).toEqual([
      { serverId: "a", uriTemplate: "x://{", message: "'{' is never closed at position 4" },
    ]);
    expect(broken.templates).toHaveLength(2);
    expect(broken.resolve("x://2")).toMatchObject({ kind: "found", via: "template", position: 1 });
    expect(broken.resolve("x://{")).toMatchObject({ kind: "found", via: "template", position: 1 });
    expect(broken.resolveTemplate("x://{")).toMatchObject({ kind: "found", position: 0 });
  });

  it("templates that name no scheme", () => {
    const relative = finish(createResourceIndex({ servers: [server("n", ["a b"], ["notes/{id}"])], mode }));
    expect(relative.resolve("n+raw:a%20b")).toMatchObject({ uri: "a b", via: "resource" });
    for (const uri of ["n+raw:notes/a%20b", "n_notes/a%20b", "notes/a%20b"]) {
      expect(relative.resolve(uri)).toMatchObject({ uri: "notes/a%20b", via: "template" });
    }
  });

  it("URIs in results", () => {
    const form = {
      prefixed: ["filesystem+file:///logs/app.log", "db+mcp://database/a/b"],
      flat: ["filesystem_file___logs_app.log", "db_mcp://database/a/b"],
      raw: ["file:///logs/app.log", "mcp://database/a/b"],
    }[mode];
    expect(index.expose("filesystem", "file:///logs/app.log")).toBe(form[0]);
    expect(index.expose("db", "mcp://database/a/b")).toBe(form[1]);
    expect(index.expose("db", "file:///logs/app.log")).toBeUndefined();
    expect(index.expose("s3", "mcp://database/a/b")).toBeUndefined();
    expect(index.expose("nobody", "file:///logs/app.log")).toBeUndefined();
  });

  it("a URI in a result is never given a name that leads elsewhere", () => {
    const taken = finish(
      createResourceIndex({ servers: [server("a", ["x://1"]), server("b", [], ["x://{v}"])], mode }),
    );
    const name = taken.expose("b", "x://1") ?? "";
    expect(name).toBe({ prefixed: "b+x://1", flat: "b_x://1", raw: "b+x://1" }[mode]);
    expect(taken.resolve(name)).toMatchObject({ serverId: "b", uri: "x://1" });
  });
});

describe("updates", () => {
  it.each([
    ["x://dir", "x://dir/file", true],
    ["x://dir/", "x://dir/file", true],
    ["x://dir", "x://dir#part", true],
    ["x://dir", "x://dir", false],
    ["x://dir", "x://directory", false],
    ["x://dir", "x://dir?q=1", false],
    ["x://dir/file", "x://dir", false],
    ["", "x://dir", false],
  ])("%s has the part %s: %s", (parent, child, expected) => {
    expect(subResourceOf(parent, child)).toBe(expected);
  });

  it.each([
    ["x://dir", "x://dir", "x://dir/f"],
    ["s+x://dir", "x://dir", "s+x://dir/f"],
    ["s_x://dir", "x://dir", "s_x://dir/f"],
    ["file:///s_x://dir", "x://dir", "file:///s_x://dir/f"],
    ["s_x___dir", "x://dir", "s_x___dir_f"],
    ["file:///s_x___dir", "x://dir", "file:///s_x___dir_f"],
    ["s_x___dir~0123abcd", "x://dir", "s_x___dir_f"],
    ["s_x_dir", "x://dir", "s_x_dir_f"],
    ["s+raw:my%20dir", "my dir", "s+raw:my%20dir%2Ff"],
  ])("%s for %s: its part is %s", (form, uri, expected) => {
    expect(rewriteLike(form, uri, uri)).toBe(form);
    expect(rewriteLike(form, uri, `${uri}/f`)).toBe(expected);
  });

  it.each(modes)("%s: told in the form of the subscription, known to the catalog or not", (mode) => {
    const index = finish(
      createResourceIndex({
        servers: [
          server("s", ["x://dir", "x://dir/a", "x://dir/b/c", "x://dir/b_c"], ["x://dir/t/{v}"]),
          server("o", ["x://o"]),
        ],
        mode,
      }),
    );
    const formOf = (form: string, updated: string) => index.formOf({ serverId: "s", form, uri: "x://dir", updated });
    expect(formOf("s_x___dir", "x://dir")).toBe("s_x___dir");
    expect(formOf("x://dir", "x://dir/a")).toBe("x://dir/a");
    expect(formOf("s+x://dir", "x://dir/a")).toBe("s+x://dir/a");
    expect(formOf("s_x___dir", "x://dir/a")).toBe("s_x___dir_a");
    expect(formOf("s_x_dir", "x://dir/a")).toBe("s_x_dir_a");
    expect(index.resolve(formOf("s_x___dir", "x://dir/b/c"))).toMatchObject({ kind: "found", uri: "x://dir/b/c" });
    expect(formOf("s_x___dir", "x://dir/b/c")).toMatch(/^s_x___dir_b_c~[0-9a-f]{8}$/);
    expect(formOf("s_x___dir", "x://dir/t/1")).toBe("s_x://dir/t/1");
    expect(formOf("s_x___dir", "x://dir/new")).toBe("s_x___dir_new");
    expect(formOf("x://dir", "x://dir/new")).toBe("x://dir/new");
    expect(formOf("s_x___dir", "x://dir//a")).toBe("s+x://dir//a");
  });
});
