/**
 * Search: what is found, in which order, and that neither the way the index came about nor its
 * state can be seen.
 */

import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { textsOf } from "../../../../src/upstream/catalog/search/document.ts";
import {
  createSearchIndex,
  type SearchDoc,
  type SearchIndex,
  type SearchKind,
} from "../../../../src/upstream/catalog/search/search-index.ts";

const open: SearchIndex[] = [];
afterEach(() => {
  for (const index of open.splice(0)) index.close();
});

function newIndex(): SearchIndex {
  const index = createSearchIndex();
  open.push(index);
  return index;
}

function tool(serverId: string, name: string, rest: Partial<SearchDoc> = {}): SearchDoc {
  return {
    key: `tool:${serverId}:${name}`,
    kind: "tool",
    name: `${serverId}_${name}`,
    originalName: name,
    serverId,
    ...rest,
  };
}

const GITHUB = [
  tool("github", "create_issue", { description: "Create a new issue in a GitHub repository" }),
  tool("github", "list_issues", { description: "List issues in a repository with filtering options" }),
  tool("github", "search_code", { description: "Search for code across repositories", args: [{ name: "q" }] }),
  tool("github", "get_file_contents", {
    description: "Get the contents of a file",
    args: [{ name: "branch", description: "Branch to read from" }],
  }),
];
const FILES = [
  tool("files", "readTextFile", { title: "Read a text file", description: "Reads a file as text. Handles encodings." }),
  tool("files", "createDirectory", { description: "Create a directory or make sure that it exists" }),
  tool("files", "S3Upload", { description: "Put an object into a bucket" }),
];

async function indexed(...lists: SearchDoc[][]): Promise<SearchIndex> {
  const index = newIndex();
  for (const docs of lists) index.replaceServer(docs[0]?.serverId ?? "", docs);
  await index.settled();
  return index;
}

const names = (index: SearchIndex, query: string, kind: SearchKind = "tool", limit?: number) =>
  index.search(query, limit === undefined ? { kind } : { kind, limit }).map(({ key }) => key.split(":").at(-1));

describe("finding", () => {
  it("answers a question with the tool that does it", async () => {
    const index = await indexed(GITHUB, FILES);
    expect(names(index, "how do I open a new issue?")[0]).toBe("create_issue");
    expect(names(index, "show me the contents of a file")[0]).toBe("get_file_contents");
  });

  it.each([
    ["text", "readTextFile"],
    ["READ_TEXT_FILE", "readTextFile"],
    ["directory", "createDirectory"],
    ["s3", "S3Upload"],
    ["upload", "S3Upload"],
    ["github code", "search_code"],
    ["branch", "get_file_contents"],
    ["encodings", "readTextFile"],
  ])("splits words at case, digits and separators: %s", async (query, first) => {
    expect(names(await indexed(GITHUB, FILES), query)[0]).toBe(first);
  });

  it.each([
    ["other forms of a word", "creating directories", "createDirectory"],
    ["the beginning of a word", "direc", "createDirectory"],
    ["a typo", "dirctory", "createDirectory"],
    ["two swapped letters", "raed", "readTextFile"],
    ["two swapped letters in another form", "encodigns", "readTextFile"],
    ["two swapped letters at the end", "uplaod", "S3Upload"],
    ["what people say for create", "make a folder", "createDirectory"],
    ["a synonym", "folder", "createDirectory"],
    ["an accent", "dírectory", "createDirectory"],
  ])("finds by %s", async (_, query, first) => {
    expect(names(await indexed(GITHUB, FILES), query)[0]).toBe(first);
  });

  it("finds text in scripts without spaces between words", async () => {
    const index = await indexed([
      tool("wetter", "a", { description: "東京の天気予報を取得する" }),
      tool("wetter", "b"),
    ]);
    expect(names(index, "天気")).toEqual(["a"]);
  });

  it("finds nothing for words that nothing has, and everything by name for no words", async () => {
    const index = await indexed(FILES);
    expect(names(index, "xylophone")).toEqual([]);
    expect(names(index, " ?! ")).toEqual(["S3Upload", "createDirectory", "readTextFile"]);
  });

  it("answers a question of nothing but filler words from them", async () => {
    const index = await indexed([tool("list", "to_do"), tool("list", "other")]);
    expect(names(index, "to do")).toEqual(["to_do"]);
  });
});

describe("the floor", () => {
  const noise = Array.from({ length: 20 }, (_, i) =>
    tool("noise", `a${i}`, { description: `Opens thing ${i}. It may add.` }),
  );

  it("an answer is not padded with entries that share one weak word", async () => {
    const index = await indexed(FILES, noise);
    expect(names(index, "make a directory", "tool", 10)).toEqual(["createDirectory"]);
  });

  it("behind the first five, an entry needs more than a part of the question", async () => {
    const half = Array.from({ length: 9 }, (_, i) => tool("half", `part${i}`, { description: "Create a branch" }));
    const others = Array.from({ length: 200 }, (_, i) => tool("others", `other${i}`, { description: "Sums numbers" }));
    const index = await indexed(FILES, half, others);
    expect(names(index, "create a directory", "tool", 3)[0]).toBe("createDirectory");
    expect(names(index, "create a directory", "tool", 20)).toHaveLength(5);
  });

  it("an entry that is named stays, however weak its score", async () => {
    const index = await indexed(FILES, [tool("x", "add", { description: "Sums." })], noise);
    expect(names(index, "add", "tool", 3)[0]).toBe("add");
  });

  it("entries that answer the same are all kept", async () => {
    const index = await indexed(noise);
    expect(names(index, "opens thing")).toHaveLength(20);
  });
});

describe("order", () => {
  it.each([
    ["the exposed name", "b_get", "tool:b:get"],
    ["the original name", "get", "tool:b:get"],
    ["a name but for case and separators", "B-GET", "tool:b:get"],
  ])("puts %s first", async (_, query, first) => {
    const noisy = tool("a", "get_get_b", { title: "get b", description: "b get. Get b, get b." });
    const index = await indexed([noisy], [tool("b", "get", { description: "Nothing of note" })]);
    expect(index.search(query, { kind: "tool" })[0]?.key).toBe(first);
  });

  it("prefers the exposed name to an original one", async () => {
    const index = await indexed([tool("b", "get")], [tool("a", "fetch", { name: "get" })]);
    expect(names(index, "get")).toEqual(["fetch", "get"]);
  });

  it("is by name where scores are equal", async () => {
    const same = { description: "Send a message" };
    const index = await indexed([tool("x", "c", same), tool("x", "a", same), tool("x", "b", same)]);
    expect(names(index, "message")).toEqual(["a", "b", "c"]);
    expect(names(index, "message", "tool", 2)).toEqual(["a", "b"]);
  });

  it("has the best of many, whatever the limit", async () => {
    const many = Array.from({ length: 500 }, (_, at) =>
      tool("s", `t${String(at).padStart(3, "0")}`, { description: `${"word ".repeat(1 + (at % 7))} widget` }),
    );
    const index = await indexed(many);
    const all = index.search("word widget", { kind: "tool" });
    expect(all).toHaveLength(500);
    expect(index.search("word widget", { kind: "tool", limit: 20 })).toEqual(all.slice(0, 20));
    expect(index.search("word widget", { kind: "tool", limit: 0 })).toEqual([]);
  });
});

describe("kinds and filters", () => {
  it("keeps kinds apart and filters before it limits", async () => {
    const page = (name: string, mimeType: string): SearchDoc => ({
      key: `resource:docs:${name}`,
      kind: "resource",
      name: `docs+file:///${name}`,
      originalName: `file:///${name}`,
      title: "Manual",
      serverId: "docs",
      mimeType,
    });
    const index = newIndex();
    index.replaceServer("docs", [
      page("manual.md", "text/markdown"),
      page("manual.pdf", "application/pdf"),
      tool("docs", "manual"),
    ]);
    for (const state of ["pending", "settled"]) {
      const pdf = index.search("manual", {
        kind: "resource",
        limit: 1,
        filter: ({ mimeType }) => mimeType === "application/pdf",
      });
      expect(
        pdf.map(({ key }) => key),
        state,
      ).toEqual(["resource:docs:manual.pdf"]);
      expect(names(index, "manual"), state).toEqual(["manual"]);
      expect(names(index, "manual", "prompt"), state).toEqual([]);
      await index.settled();
    }
  });

  it("is unharmed by a filter that throws", async () => {
    const index = await indexed(GITHUB);
    const before = index.search("issue", { kind: "tool" });
    const filter = () => {
      throw new Error("no");
    };
    expect(() => index.search("issue", { kind: "tool", filter })).toThrow("no");
    expect(index.search("issue", { kind: "tool" })).toEqual(before);
  });
});

describe("changes", () => {
  it("are seen at once: added, changed, removed", async () => {
    const index = await indexed(GITHUB, FILES);
    expect(index.size).toBe(7);
    index.replaceServer("files", [tool("files", "readTextFile", { description: "Decipher hieroglyphs" })]);
    expect(names(index, "hieroglyph")).toEqual(["readTextFile"]);
    expect(names(index, "directory")).toEqual([]);
    index.replaceServer("github", []);
    expect(names(index, "issue")).toEqual([]);
    expect(index.size).toBe(1);
    await index.settled();
    expect(names(index, "hieroglyph")).toEqual(["readTextFile"]);
    expect(names(index, "encodings")).toEqual([]);
  });

  it("settles when closed, and takes nothing after that", async () => {
    const index = newIndex();
    index.replaceServer("github", GITHUB);
    const settled = index.settled();
    index.close();
    await settled;
    index.replaceServer("files", FILES);
    expect(index.size).toBe(0);
    expect(names(index, "issue")).toEqual([]);
  });
});

const WORDS =
  "create list delete file files issue query queries branch createIssue GitHub s3 résumé copied 天気予報".split(" ");
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(" "));
const document = fc.record({
  serverId: fc.constantFrom("a", "b", "c"),
  originalName: fc
    .array(fc.constantFrom("create", "list", "file", "issue", "x"), { minLength: 1, maxLength: 3 })
    .map((words) => words.join("_")),
  description: text,
  title: text,
  args: fc.array(fc.record({ name: fc.constantFrom("id", "branch", "fileName"), description: text }), { maxLength: 2 }),
});
const documents = fc
  .uniqueArray(document, { maxLength: 8, selector: (doc) => `${doc.serverId} ${doc.originalName}` })
  .map((docs) => docs.map(({ serverId, originalName, ...rest }) => tool(serverId, originalName, rest)));

function fill(index: SearchIndex, docs: readonly SearchDoc[]): void {
  for (const server of ["a", "b", "c"])
    index.replaceServer(
      server,
      docs.filter((doc) => doc.serverId === server),
    );
}

describe("laws", () => {
  it("answers the same however it came about", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(documents, { maxLength: 3 }),
        documents,
        text,
        fc.boolean(),
        async (past, docs, query, pause) => {
          const grown = newIndex();
          for (const earlier of past) {
            fill(grown, earlier);
            if (pause) await grown.settled();
          }
          fill(grown, docs);
          const fresh = newIndex();
          fill(fresh, [...docs].reverse());
          await Promise.all([grown.settled(), fresh.settled()]);
          expect(grown.search(query, { kind: "tool" })).toEqual(fresh.search(query, { kind: "tool" }));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("misses nothing while documents are pending", async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        documents,
        fc.constantFrom(...WORDS, "copy", "folder", "search"),
        async (before, docs, query) => {
          const index = newIndex();
          fill(index, before);
          await index.settled();
          fill(index, docs);
          const pending = new Set(index.search(query, { kind: "tool" }).map(({ key }) => key));
          await index.settled();
          const settled = index.search(query, { kind: "tool" }).map(({ key }) => key);
          expect(settled.filter((key) => !pending.has(key))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

it("indexes in slices that leave the event loop free", async () => {
  const index = newIndex();
  const docs = Array.from({ length: 3_000 }, (_, at) =>
    tool("big", `tool_${at}`, {
      description: `Does thing ${at} with ${at % 50} parts and some more words. `.repeat(5),
    }),
  );
  index.replaceServer("big", docs);
  let turns = 0;
  let done = false;
  const count = () => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await index.settled();
  done = true;
  // Were it one block, there would be one turn.
  expect(turns).toBeGreaterThan(3);
});

it("what is indexed of one entry is bounded, whichever of its texts is long", () => {
  const long = "word ".repeat(200_000);
  const args = Array.from({ length: 1000 }, () => ({ name: long, description: long }));
  const doc = { key: "k", kind: "tool", name: long, originalName: `${long}!`, serverId: "s", mimeType: long } as const;
  const texts = textsOf({ ...doc, title: long, description: long, args });
  expect(Object.values(texts).join("").length).toBeLessThan(60_000);
});
