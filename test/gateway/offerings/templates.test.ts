/**
 * Templates and completion: a client expands what is listed, and what it makes reaches the owner as
 * the owner's own URI.
 */
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";
import { afterEach, describe, expect, test } from "vitest";
import { expandTemplate, parseTemplate } from "../../../src/lib/uri-template/template.ts";
import { disposeAll, type Scripted } from "../../fixtures/peers.ts";
import { asked, requestsOf, startRig } from "./rig.ts";

afterEach(disposeAll);

const modes = ["prefixed", "flat", "raw"] as const;
const lists = (...templates: string[]) => ({
  lists: { resources: [], resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })) },
  rules: [{ method: "resources/read", do: "result", result: { contents: [] } }],
});
const lastRead = async (server: Scripted): Promise<unknown> =>
  (await server.received("resources/read")).at(-1)?.message.params.uri;

const cases: [template: string, values: Record<string, string | string[]>, own: string][] = [
  ["mcp://database/{table}/{id}", { table: "users", id: "a b/c" }, "mcp://database/users/a%20b%2Fc"],
  ["file:///{+path}", { path: "logs/app.log" }, "file:///logs/app.log"],
  ["page://x{#part}", { part: "top" }, "page://x#top"],
  ["seg://x{/parts*}", { parts: ["a", "b"] }, "seg://x/a/b"],
  ["find://x{?q,limit}", { q: "ü" }, "find://x?q=%C3%BC"],
  ["more://x?fixed=1{&q}", { q: "1" }, "more://x?fixed=1&q=1"],
  ["mat://x{;v}", { v: "1" }, "mat://x;v=1"],
  ["cut://{name:3}", { name: "abcdef" }, "cut://abc"],
  ["dot://x{.ext}", { ext: "md" }, "dot://x.md"],
  ["two://{a,b}", { a: "1", b: "2" }, "two://1,2"],
  ["no-scheme/{a}", { a: "x y" }, "no-scheme/x%20y"],
];

describe.each(modes)("%s", (uris) => {
  test("a client's own expansion of what is listed can be read", async () => {
    const { client, servers } = await startRig(
      { db: { script: lists(...cases.map(([template]) => template)) } },
      { resources: { uris } },
    );
    const { resourceTemplates } = await asked(client, "resources/templates/list", {});
    expect(resourceTemplates).toHaveLength(cases.length);
    for (const { uriTemplate, name } of resourceTemplates as { uriTemplate: string; name: string }[]) {
      const [, values, own] = cases.find(([template]) => template === name)!;
      const parsed = parseTemplate(uriTemplate);
      if (!parsed.ok) throw new Error(uriTemplate);
      const uri = expandTemplate(parsed.template, values);
      expect(await asked(client, "resources/read", { uri }), uri).toEqual({ contents: [] });
      expect(await lastRead(servers["db"]!)).toBe(own);
    }
    // The SDK's own expansion, which clients have.
    const row = resourceTemplates.find(({ name }: { name: string }) => name.startsWith("mcp:"));
    const expanded = new UriTemplate(row.uriTemplate).expand({ table: "users", id: "7" });
    await asked(client, "resources/read", { uri: expanded });
    expect(await lastRead(servers["db"]!)).toBe("mcp://database/users/7");
  });
});

test("in flat mode the seed's template is listed as it says; in raw mode as the server wrote it", async () => {
  const server = { script: lists("mcp://database/{table}/{id}") };
  const listed = async (uris: string) => {
    const { client } = await startRig({ db: server }, { resources: { uris } });
    const { resourceTemplates } = await asked(client, "resources/templates/list", {});
    return resourceTemplates[0].uriTemplate;
  };
  expect(await listed("prefixed")).toBe("db+mcp://database/{table}/{id}");
  expect(await listed("flat")).toBe("db_mcp://database/{table}/{id}");
  expect(await listed("raw")).toBe("mcp://database/{table}/{id}");
});

test("competing templates: the most literal characters, then the order of the config; a listed resource before both", async () => {
  const script = (...templates: string[]) => {
    const { lists: each, rules } = lists(...templates);
    return { script: { lists: { ...each, resources: [{ uri: "x://a/exact", name: "exact" }] }, rules } };
  };
  const { client, servers } = await startRig({
    zeta: { script: lists("x://{a}/{b}", "y://{+all}") },
    alpha: { script: lists("x://a/{b}", "y://{+all}") },
    exact: script(),
  });
  const owner = async (uri: string) => {
    const before = await Promise.all(Object.values(servers).map(async (server) => (await requestsOf(server)).length));
    await asked(client, "resources/read", { uri });
    const after = await Promise.all(Object.values(servers).map(async (server) => (await requestsOf(server)).length));
    return Object.keys(servers).filter((_, i) => after[i]! > before[i]!);
  };
  expect(await owner("x://a/b")).toEqual(["alpha"]);
  expect(await owner("x://c/b")).toEqual(["zeta"]);
  expect(await owner("y://q")).toEqual(["zeta"]);
  expect(await owner("alpha+y://q")).toEqual(["alpha"]);
  expect(await owner("x://a/exact")).toEqual(["exact"]);
  expect(await owner("alpha+x://a/exact")).toEqual(["alpha"]);
  // Nobody's: no template of this server.
  expect(await owner("exact+y://q")).toEqual([]);
  expect(await owner("alpha+x://c/b")).toEqual([]);
});

test("a pathological template and a giant URI are answered at once", async () => {
  const { client, servers } = await startRig({
    s: { script: lists("x://{+a}{+b}{+c}{+d}z", "q://{?a*,b*,c*}#end", "z://{/a*,b*,c*}#end") },
  });
  for (const uri of [
    `s+x://${"a".repeat(100_000)}`,
    `q://?${"a=1&".repeat(25_000)}!`,
    `s_z://${"/a".repeat(50_000)}?`,
  ]) {
    expect((await asked(client, "resources/read", { uri })).data.code).toBe("RESOURCE_NOT_FOUND");
  }
  expect(await requestsOf(servers["s"]!)).toEqual([]);
});

describe("completion", () => {
  const complete = (ref: object, argument = { name: "name", value: "A" }, more: object = {}) => ({
    ref,
    argument,
    ...more,
  });

  test("a prompt under each of its names, a template under each of its forms, in every mode", async () => {
    for (const uris of modes) {
      const { client, servers } = await startRig({ s: {} }, { resources: { uris } });
      for (const name of ["s_greet", "greet"]) {
        const { completion } = await asked(client, "completion/complete", complete({ type: "ref/prompt", name }));
        expect(completion).toEqual({ values: ["Ada", "Alan"], total: 2, hasMore: false, "x-completion": true });
      }
      const forms = [
        "s+item://{kind}/{id}",
        "s_item://{kind}/{id}",
        "item://{kind}/{id}",
        "s_item____kind_id_",
        "file:///s_item://{kind}/{id}",
      ];
      for (const uri of forms) {
        const argument = { name: "id", value: "film-" };
        const params = complete({ type: "ref/resource", uri, "x-ref": 1 }, argument, {
          context: { arguments: { kind: "film" } },
        });
        const { completion } = await asked(client, "completion/complete", params);
        expect(completion.values, uri).toEqual(["film-1", "film-2", "film-3"]);
        const heard = (await servers["s"]!.received("completion/complete")).at(-1)!.message.params;
        expect(heard.ref).toEqual({ type: "ref/resource", uri: "item://{kind}/{id}", "x-ref": 1 });
        expect([heard.argument, heard.context]).toEqual([argument, { arguments: { kind: "film" } }]);
      }
    }
  });

  test("what nobody has is refused by the table, and nobody hears of it", async () => {
    const { client, servers } = await startRig({ s: {}, twin: {} });
    const refused = async (ref: unknown) => {
      const { code, data } = await asked(client, "completion/complete", { ref, argument: { name: "x", value: "" } });
      return [code, data.code];
    };
    expect(await refused({ type: "ref/prompt", name: "s_none" })).toEqual([-32602, "PROMPT-001"]);
    expect(await refused({ type: "ref/prompt", name: "greet" })).toEqual([-32602, "PROMPT-001"]);
    expect(await refused({ type: "ref/resource", uri: "s+none://{x}" })).toEqual([-32002, "RESOURCE_NOT_FOUND"]);
    expect(await refused({ type: "ref/resource", uri: "query://search{?q,limit}" })).toEqual([-32602, "AMBIGUOUS"]);
    for (const ref of [
      undefined,
      null,
      "s_greet",
      {},
      { type: "ref/tool", name: "s_echo" },
      { type: "ref/prompt", name: 1 },
    ]) {
      expect(await refused(ref)).toEqual([-32602, "INVALID_PARAMS"]);
    }
    expect([await requestsOf(servers["s"]!), await requestsOf(servers["twin"]!)]).toEqual([[], []]);
  });

  test("is advertised when a server has it, and not when none has", async () => {
    const without = { script: { capabilities: { completions: null } } };
    const capabilities = async (servers: Parameters<typeof startRig>[0]) => {
      const { client } = await startRig(servers);
      delete client.headers["mcp-session-id"];
      return (await client.initialize()).message.result.capabilities;
    };
    expect(await capabilities({ a: without, b: {} })).toHaveProperty("completions", {});
    expect(await capabilities({ a: without })).not.toHaveProperty("completions");
  });
});
