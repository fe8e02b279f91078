import { describe, expect, test } from "vitest";
import { canonical } from "../../../../src/lib/json/canonical.ts";
import { finish, type Sliced } from "../../../../src/lib/timing/slices.ts";
import type { Definition, ServerLists } from "../../../../src/upstream/catalog/definitions.ts";
import { emptyLists } from "../../../../src/upstream/catalog/definitions.ts";
import { formatLock, type LockedServer } from "../../../../src/upstream/lock/lock-file.ts";
import { readLock } from "../../../../src/upstream/lock/read-lock.ts";
import { surfaceOf } from "../../../../src/upstream/lock/surface.ts";

const definition = (text: string): Definition => ({ text, value: JSON.parse(text) as Definition["value"] });

const lists: ServerLists = {
  tools: [
    definition(
      '{"name":"write","description":"Writes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"openWorldHint":false}}',
    ),
    definition(
      '{"name":"read","inputSchema":{"type":"object","properties":{"id":{"maximum":9007199254740993}}},"outputSchema":{"type":"object"}}',
    ),
  ],
  prompts: [definition('{"name":"ask"}')],
  templates: [definition('{"uriTemplate":"file:///{path}","name":"files"}')],
  resources: [definition('{"uri":"file:///a","name":"a"}')],
};

function server(offered = lists, instructions: string | undefined = "Be kind."): LockedServer {
  return { ...finish(surfaceOf({ lists: offered, instructions })), source: { npm: "@demo/files", version: "1.2.3" } };
}

const lock = (servers: Record<string, LockedServer>): string => finish(formatLock(new Map(Object.entries(servers))));

describe("the canonical form", () => {
  test("sorts members, drops spaces and needless escapes, and keeps numbers as they are written", () => {
    const text =
      ' { "b" : [ 1.0 , 9007199254740993 , -0 , 1e2 ] , "a" : "\\u0041\\n\\/" , "e":{}, "f":[ ], "c":null } ';
    expect(canonical(text)).toBe('{"a":"A\\n/","b":[1.0,9007199254740993,-0,1e2],"c":null,"e":{},"f":[]}');
  });

  test("keeps what another reader may see: duplicate keys, in their order", () => {
    expect(canonical('{"b":1,"a":2,"b":{"d":1,"c":[{}]}}')).toBe('{"a":2,"b":1,"b":{"c":[{}],"d":1}}');
    expect(canonical('"x"')).toBe('"x"');
    expect(canonical("[[],[[1]],{}]")).toBe("[[],[[1]],{}]");
  });
});

describe("the digest of a surface", () => {
  const digest = (offered: ServerLists, instructions?: string): string => server(offered, instructions).digest;

  test("does not depend on the order of lists and members", () => {
    const turned = [...lists.tools].reverse();
    const spelled = definition(turned[0]!.text.replace('{"name":"read",', "{ ").replace(/\}$/, ', "name":"read"}'));
    expect(digest({ ...lists, tools: [spelled, turned[1]!] })).toBe(digest(lists));
  });

  test("sees a rename, other instructions, and an integer past 2^53", () => {
    const [first, second] = lists.tools as [Definition, Definition];
    const renamed = definition(first.text.replace('"write"', '"write2"'));
    const raised = definition(second.text.replace("9007199254740993", "9007199254740992"));
    const all = [
      digest(lists),
      digest({ ...lists, tools: [renamed, second] }),
      digest({ ...lists, tools: [first, raised] }),
      digest(lists, "Be rude."),
    ];
    expect(new Set(all).size).toBe(4);
  });

  test("sees other resources, whose texts are approved with it", () => {
    expect(digest({ ...lists, resources: [] })).not.toBe(digest(lists));
  });
});

describe("a lock file", () => {
  test("has one sorted line for each tool, with digests, hints and the definition as it was sent", () => {
    const lines = lock({ zeta: server(emptyLists, ""), files: server() }).split("\n");
    expect(lines.slice(0, 4)).toEqual(["{", '  "version": 1,', '  "servers": {', '    "files": {']);
    expect(lines[4]).toBe('      "source": { "npm": "@demo/files", "version": "1.2.3" },');
    const tools = lines.filter((line) => line.startsWith('        "read"') || line.startsWith('        "write"'));
    expect(tools).toHaveLength(2);
    expect(tools[0]).toMatch(
      /^ {8}"read": \{ "digest": "sha256:[0-9a-f]{64}", "input": "sha256:[0-9a-f]{64}", "output": "sha256:/,
    );
    expect(tools[0]).toContain('"maximum":9007199254740993');
    expect(tools[1]).toContain('"hints": "may write, closed world", "definition": {"name":"write",');
    expect(lines.at(-1)).toBe("");
  });

  test("is read again as it was written, byte by byte", () => {
    const text = lock({ files: server(), zeta: server(emptyLists, "") });
    const { servers, problems } = finish(readLock(text));
    expect(problems).toEqual([]);
    expect(finish(formatLock(servers))).toBe(text);
    expect(servers.get("files")!.tools.get("write")!.definition).toEqual(lists.tools[0]);
  });

  test("of megabytes is read and written in small slices, all of one server too", () => {
    const many = Array.from({ length: 1500 }, (_, i) =>
      definition(JSON.stringify({ name: `t${i}`, description: "word ".repeat(800), inputSchema: { type: "object" } })),
    );
    const text = lock({ big: server({ ...lists, tools: many }) });
    expect(text.length).toBeGreaterThan(6_000_000);
    /** How much work a single step did at most, of all work; and what came of it. */
    const stepped = <Result>(work: Sliced<Result>) => {
      let [all, most] = [0, 0];
      for (;;) {
        const step = work.next();
        if (step.done) return { result: step.value, share: most / all };
        all += step.value;
        most = Math.max(most, step.value);
      }
    };
    const read = stepped(readLock(text));
    expect(read.result.problems).toEqual([]);
    expect(read.result.servers.get("big")!.tools.size).toBe(1500);
    expect(read.share).toBeLessThan(0.01);
    const written = stepped(formatLock(read.result.servers));
    expect(written.result).toBe(text);
    expect(written.share).toBeLessThan(0.01);
  });

  test.each([
    [
      "a description",
      (text: string) => text.replace('"Writes."', '"Sends everything."'),
      'tool "write": its digests do not fit its definition: was the file edited by hand?',
      '"write": {',
    ],
    [
      "hints",
      (text: string) => text.replace("may write, closed", "read-only, closed"),
      'tool "write": its digests do not fit',
      '"write": {',
    ],
    [
      "the name",
      (text: string) => text.replace('"ask": {', '"task": {'),
      'prompt "task": its definition has another name',
      '"task": {',
    ],
    [
      "the instructions",
      (text: string) => text.replace("Be kind", "Be rude"),
      "the digest of the instructions does not fit",
      '"instructions"',
    ],
    [
      "a removed tool",
      (text: string) => text.replace(/^ {8}"read".*\n/m, ""),
      "the digest of the surface does not fit; approve it again: goblin lock approve files",
      '"surface"',
    ],
    [
      "a new key",
      (text: string) => text.replace('"source"', '"trusted": true,\n      "source"'),
      'unknown key "trusted"',
      '"trusted"',
    ],
  ])("names %s that was edited by hand with its line", (_what, edit, message, at) => {
    const text = edit(lock({ files: server() }));
    const { problems } = finish(readLock(text));
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toContain(message);
    expect(text.split("\n")[problems[0]!.line - 1]).toContain(at);
    expect(problems[0]!.server).toBe("files");
  });

  test("does not take an edited entry for approved, and keeps the others", () => {
    const { servers } = finish(readLock(lock({ files: server() }).replace('"Writes."', '"Sends everything."')));
    expect([...servers.get("files")!.tools.keys()]).toEqual(["read"]);
  });

  test.each([
    ['{\n  "version": 2,\n  "servers": {}\n}', 2, "another version than 1; update Goblin, or write it again"],
    ['{\n  "servers": {}\n}', 1, "another version than 1; write it again"],
    ['{\n  "version": 1,\n  "servers": []\n}', 3, 'expected an object "servers"'],
    ['{\n  "version": 1,\n<<<<<<< ours\n  "servers": {}\n}', 3, "not valid JSON"],
    ["[]", 1, "expected an object"],
    ["", 1, "not valid JSON"],
  ])("of another kind is named with its line: %j", (text, line, message) => {
    const { servers, problems } = finish(readLock(text));
    expect(servers.size).toBe(0);
    expect(problems).toEqual([{ line, message: expect.stringContaining(message) }]);
  });
});
