/**
 * Every name of a resource, in every mode, from end to end: listed, read, refused. The servers'
 * logs say which URI reached whom.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, type RawHttp, rawHttp, type Scripted, startScripted } from "../../fixtures/peers.ts";
import { asked, requestsOf } from "./rig.ts";

const modes = ["prefixed", "flat", "raw"] as const;

const lists = {
  filesystem: {
    resources: [
      { uri: "file:///logs/app.log", name: "log", size: 7, "x-kept": { n: 1 }, _meta: { own: true } },
      { uri: "file:///a/b", name: "slash" },
      { uri: "file:///a_b", name: "underscore" },
      { uri: "not a uri", name: "odd" },
      { uri: "same:///both", name: "same" },
      { uri: "ui://app/main", name: "app", mimeType: "text/html;profile=mcp-app" },
    ],
    resourceTemplates: [],
  },
  db: {
    resources: [{ uri: "same:///both", name: "same" }],
    resourceTemplates: [
      { uriTemplate: "mcp://database/{table}/{id}", name: "row", "x-kept": 1 },
      { uriTemplate: "item://{kind}/{id}", name: "item", _meta: { own: true } },
    ],
  },
};

const listed = {
  prefixed: [
    "db+same:///both",
    "filesystem+file:///a/b",
    "filesystem+file:///a_b",
    "filesystem+file:///logs/app.log",
    "filesystem+raw:not%20a%20uri",
    "filesystem+same:///both",
    "ui://app/main",
  ],
  flat: [
    "db_same___both",
    "filesystem_file___a_b~14b052aa",
    "filesystem_file___a_b~18631185",
    "filesystem_file___logs_app.log",
    "filesystem_not_a_uri",
    "filesystem_same___both",
    "ui://app/main",
  ],
  raw: [
    "db+same:///both",
    "file:///a/b",
    "file:///a_b",
    "file:///logs/app.log",
    "filesystem+same:///both",
    "not a uri",
    "ui://app/main",
  ],
};

const templates = {
  prefixed: ["db+item://{kind}/{id}", "db+mcp://database/{table}/{id}"],
  flat: ["db_item://{kind}/{id}", "db_mcp://database/{table}/{id}"],
  raw: ["item://{kind}/{id}", "mcp://database/{table}/{id}"],
};

let filesystem: Scripted;
let db: Scripted;
const goblins = {} as Record<(typeof modes)[number], RunningGoblin>;

beforeAll(async () => {
  filesystem = await startScripted({ transport: "http", name: "filesystem", script: { lists: lists.filesystem } });
  db = await startScripted({ transport: "http", name: "db", script: { lists: lists.db } });
  for (const mode of modes) {
    goblins[mode] = await startGoblin({
      mcpServers: { filesystem: filesystem.entry, db: db.entry },
      resources: { uris: mode },
    });
  }
});
afterAll(disposeAll);

describe.each(modes)("%s", (mode) => {
  let client: RawHttp;
  beforeAll(async () => {
    client = rawHttp(goblins[mode].url);
    await client.initialize();
  });

  const read = (uri: string) => asked(client, "resources/read", { uri });
  /** Which server was asked for which URI, and under which name the client gets the contents. */
  const reached = async (uri: string) => {
    const before = await Promise.all([filesystem, db].map((server) => server.received("resources/read")));
    const result = await read(uri);
    const after = await Promise.all([filesystem, db].map((server) => server.received("resources/read")));
    const asks = [filesystem, db].flatMap(({ name }, i) =>
      after[i]!.slice(before[i]!.length).map(({ message }) => `${name} ${message.params.uri}`),
    );
    return [...asks, result.contents?.[0].uri ?? result.message];
  };

  test("the list is sorted, every entry has its flat id and every field it came with", async () => {
    const { resources } = await asked(client, "resources/list", {});
    expect(resources.map(({ uri }: { uri: string }) => uri)).toEqual(listed[mode]);
    const log = resources.find(({ name }: { name: string }) => name === "log");
    expect(log).toEqual({
      uri: listed[mode].find((uri) => uri.endsWith("app.log")),
      name: "log",
      size: 7,
      "x-kept": { n: 1 },
      _meta: { own: true, "goblin/id": "filesystem_file___logs_app.log" },
    });
    for (const { _meta } of resources) expect(_meta["goblin/id"]).toMatch(/^(filesystem|db)_/);
    const answer = await asked(client, "resources/templates/list", {});
    expect(answer.resourceTemplates).toEqual([
      {
        uriTemplate: templates[mode][0],
        name: "item",
        _meta: { own: true, "goblin/id": expect.stringMatching(/^db_item___/) },
      },
      {
        uriTemplate: templates[mode][1],
        name: "row",
        "x-kept": 1,
        _meta: { "goblin/id": expect.stringMatching(/^db_mcp___database_/) },
      },
    ]);
  });

  test("what is listed can be read, under the name it is listed by", async () => {
    for (const uri of listed[mode]) expect((await read(uri)).contents[0].uri).toBe(uri);
  });

  test.each([
    "filesystem_file___logs_app.log",
    "filesystem+file:///logs/app.log",
    "file:///logs/app.log",
    "file:///filesystem_file___logs_app.log",
    "filesystem_file_logs_app.log",
  ])("%s is the log", async (uri) => {
    const exposed = listed[mode].find((each) => each.endsWith("app.log"));
    expect(await reached(uri)).toEqual(["filesystem file:///logs/app.log", exposed]);
  });

  test.each(["db_item://book/7", "db+item://book/7", "item://book/7", "file:///db_item://book/7"])(
    "%s is read through its template",
    async (uri) => {
      const exposed = { prefixed: "db+item://book/7", flat: "db_item://book/7", raw: "item://book/7" }[mode];
      expect(await reached(uri)).toEqual(["db item://book/7", exposed]);
    },
  );

  test("ui:// is never rewritten, and what is no URI can be read", async () => {
    expect(await reached("ui://app/main")).toEqual(["filesystem ui://app/main", "ui://app/main"]);
    const odd = listed[mode].find((uri) => uri.includes("not"));
    for (const uri of ["not a uri", "filesystem+raw:not%20a%20uri", "filesystem_not_a_uri"]) {
      expect(await reached(uri)).toEqual(["filesystem not a uri", odd]);
    }
  });

  test("two servers with the same URI: both can be read, and the bare one is a question", async () => {
    for (const server of ["filesystem", "db"]) {
      for (const uri of [`${server}+same:///both`, `${server}_same___both`]) {
        expect((await reached(uri))[0]).toBe(`${server} same:///both`);
      }
    }
    const candidates = listed[mode].filter((uri) => uri.includes("both"));
    expect(await read("same:///both")).toEqual({
      code: -32602,
      message: `Resource URI is ambiguous: same:///both could be ${candidates.join(" or ")}`,
      data: { code: "AMBIGUOUS", uri: "same:///both", candidates, requestId: expect.any(String) },
    });
  });

  test("URIs that share a flat id have one of their own each; the bare one names them", async () => {
    const { resources } = await asked(client, "resources/list", {});
    const idOf = (name: string) =>
      resources.find((entry: { name: string }) => entry.name === name)._meta["goblin/id"] as string;
    expect([idOf("slash"), idOf("underscore")]).toEqual([
      "filesystem_file___a_b~14b052aa",
      "filesystem_file___a_b~18631185",
    ]);
    expect((await reached(idOf("slash")))[0]).toBe("filesystem file:///a/b");
    expect((await reached(idOf("underscore")))[0]).toBe("filesystem file:///a_b");
    for (const uri of ["filesystem_file___a_b", "file:///filesystem_file___a_b"]) {
      const { code, data } = await read(uri);
      expect([code, data.code]).toEqual([-32602, "AMBIGUOUS"]);
      expect(data.candidates).toEqual(listed[mode].filter((listedUri) => /a[/_]b/.test(listedUri)));
    }
  });

  test("what nobody has is not found, whatever it looks like, and nobody hears of it", async () => {
    const before = [await requestsOf(filesystem), await requestsOf(db)];
    const unknown = [
      "file:///none",
      "filesystem+file:///none",
      "filesystem_file___none",
      "db+file:///logs/app.log",
      "db_file___logs_app.log",
      "nobody+file:///logs/app.log",
      "item://book",
      "item://book/7/8",
      "FILE:///logs/app.log",
      "",
      "+",
      "_",
      "%",
      "db+",
      "db_",
      "filesystem+raw:%zz",
      "filesystem+raw:",
      "\u0000",
      "\ud800",
      "../../etc/passwd",
      "filesystem+file:///logs/../logs/app.log",
      "__proto__",
      "constructor",
    ];
    for (const uri of unknown) {
      const error = await read(uri);
      expect(error).toMatchObject({ code: -32002, data: { code: "RESOURCE_NOT_FOUND" } });
      expect(error.message).toBe(`Resource not found: ${uri}`);
    }
    for (const [head, length] of [
      ["filesystem+file:///", 500_000],
      ["db+item://", 500_000],
    ] as const) {
      const error = await read(`${head}${"x/".repeat(length / 2)}`);
      expect(error).toMatchObject({ code: -32002, data: { code: "RESOURCE_NOT_FOUND" } });
      expect(error.message.length).toBeLessThan(300);
    }
    for (const params of [{}, { uri: 5 }, { uri: null }, { uri: ["file:///logs/app.log"] }]) {
      expect(await asked(client, "resources/read", params)).toMatchObject({ code: -32602 });
    }
    expect([await requestsOf(filesystem), await requestsOf(db)]).toEqual(before);
  });
});
