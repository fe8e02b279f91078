/**
 * How much work goes into a URI: a URI that takes more is unknown, no matter who wrote the URI and
 * the templates, and everything else is found as ever.
 */
import { describe, expect, it } from "vitest";
import { exposeUris } from "../../../../src/core/routing/rewrite.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { MatchBudget } from "../../../../src/lib/uri-template/match-budget.ts";
import { createResourceIndex } from "../../../../src/upstream/catalog/resources/resource-index.ts";

function indexOf(templates: readonly string[], more: Record<string, string[]> = {}) {
  const servers = Object.entries({ a: templates, ...more }).map(([id, list]) => ({
    id,
    resources: [],
    templates: list.map((uriTemplate) => ({ uriTemplate })),
  }));
  return finish(createResourceIndex({ servers, mode: "prefixed" }));
}

/** None of them matches `x://aaa…`, and each has to read it to the end to know that. */
const costly = (count: number) => Array.from({ length: count }, (_, i) => `x://{+a}b{+b}${i}{+c}`);
const uri = (length: number) => `x://${"a".repeat(length)}`;

describe("a URI", () => {
  it("of up to 8 kB is matched, a longer one is not, in every form", () => {
    const index = indexOf(["x://{+a}"]);
    for (const form of [(u: string) => u, (u: string) => `a+${u}`, (u: string) => `a_${u}`]) {
      expect(index.resolve(form(uri(8000))).kind).toBe("found");
      expect(index.resolve(form(uri(8200))).kind).toBe("unknown");
    }
    expect(index.expose("a", uri(8000))).toBe(`a+${uri(8000)}`);
    expect(index.expose("a", uri(8200))).toBeUndefined();
  });

  it("has one budget for all templates: what is behind too many costly ones is not found", () => {
    expect(indexOf([...costly(5), "x://{+z}"]).resolve(uri(8000)).kind).toBe("found");
    const many = indexOf([...costly(200), "x://{+z}"]);
    expect(many.resolve(uri(8000)).kind).toBe("unknown");
    expect(many.expose("a", uri(8000))).toBeUndefined();
    expect(many.resolve(uri(50)).kind).toBe("found");
  });

  it("of another server is found under its own name, whatever templates there are", () => {
    const index = indexOf(costly(900), { b: ["x://{+z}"] });
    expect(index.resolve(`b+${uri(8000)}`)).toMatchObject({ kind: "found", serverId: "b" });
  });
});

describe("templates", () => {
  it("after the first thousand of a server are listed, but not matched, and that is said once", () => {
    const templates = Array.from({ length: 3000 }, (_, i) => `t${i}://{x}`);
    const index = indexOf(templates);
    expect(index.templates).toHaveLength(3000);
    expect(index.resolve("t999://1").kind).toBe("found");
    expect(index.resolve("t1000://1").kind).toBe("unknown");
    expect(index.problems).toEqual([
      { serverId: "a", uriTemplate: "t1000://{x}", message: "the server has more than 1000 templates" },
    ]);
  });

  it("of more than 8 kB are not matched", () => {
    const index = indexOf([`x://${"{+a}".repeat(3000)}`]);
    expect(index.resolve("x://1").kind).toBe("unknown");
    expect(index.problems[0]?.message).toBe("it is longer than 8192 characters");
  });
});

describe("a result", () => {
  const block = (u: string) => ({ type: "resource_link", uri: u, name: "n" });
  const rewritten = (uris: readonly string[], resources = indexOf(["x://{+a}"])) => {
    const raw = JSON.stringify({ content: uris.map(block) });
    const { content } = JSON.parse(String(exposeUris(raw, "tools/call", { serverId: "a", resources })));
    return content.map((c: { uri: string }) => c.uri.startsWith("a+")) as boolean[];
  };

  it("with thousands of links has all of them in the clients' form", () => {
    const flags = rewritten(Array.from({ length: 4000 }, (_, i) => `x://${i}`));
    expect(flags.every(Boolean)).toBe(true);
  });

  it("with more long links than there is time for has the first in the clients' form, and the others as they came", () => {
    const flags = rewritten(Array.from({ length: 1000 }, () => uri(8000)));
    expect(flags[0]).toBe(true);
    expect(flags.at(-1)).toBe(false);
    expect(flags.filter(Boolean).length).toBeLessThan(200);
  });

  it("with more than five thousand blocks: the rest stays as it came", () => {
    const flags = rewritten(Array.from({ length: 5002 }, (_, i) => (i < 4998 ? "y://none" : "x://1")));
    expect(flags.slice(4996)).toEqual([false, false, true, true, false, false]);
  });

  it("of a prompt counts the blocks of all messages", () => {
    const messages = Array.from({ length: 3 }, () => ({
      role: "user",
      content: Array.from({ length: 3000 }, () => block("x://1")),
    }));
    const raw = JSON.stringify({ messages });
    const text = String(exposeUris(raw, "prompts/get", { serverId: "a", resources: indexOf(["x://{+a}"]) }));
    expect(text.match(/"a\+x:/g)).toHaveLength(5000);
  });
});

it("a budget that was exceeded once has nothing left, and takes from the one it shares", () => {
  const shared = new MatchBudget(100);
  const one = new MatchBudget(50, shared);
  expect([one.spend(40), one.spend(20), one.spend(1)]).toEqual([true, false, false]);
  const two = new MatchBudget(50, shared);
  expect([two.spend(40), two.spend(1)]).toEqual([true, true]);
  const three = new MatchBudget(50, shared);
  expect(three.spend(30)).toBe(false);
});
