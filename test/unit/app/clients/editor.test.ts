/** Edits of clients' settings: what is not ours keeps its bytes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KnownClient } from "../../../../src/app/clients/client.ts";
import { EditError, readServers, withEntry, withoutEntry } from "../../../../src/app/clients/edit/editor.ts";
import { clients } from "../../../../src/app/clients/table.ts";

const clientOf = (id: string): KnownClient => clients.find((client) => client.id === id)!;
const entry = { url: "http://127.0.0.1:3000/mcp" };
const own = { name: "goblin", entry };

/** Lines that an edit may have moved or added to must all be there still, in order. */
function keepsLines(before: string, after: string): boolean {
  const rest = after.split(/\r?\n/);
  let at = 0;
  for (const line of before.split(/\r?\n/).filter((one) => one.trim() !== "")) {
    // A comma may follow what was last.
    const found = rest.findIndex(
      (one, i) => i >= at && (one === line || one === `${line},` || one.startsWith(`${line.split(" //")[0]},`)),
    );
    if (found < 0) return false;
    at = found + 1;
  }
  return true;
}

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/).filter((name) => name !== "goblin");
const text = fc.stringMatching(/^[ -!#-[\]-~]{0,12}$/);
const comment = fc.option(fc.stringMatching(/^[a-z ]{1,10}$/), { nil: undefined });
const shape = fc.record({
  servers: fc.uniqueArray(fc.record({ name: word, value: text, comment }), {
    maxLength: 4,
    selector: ({ name }) => name,
  }),
  settings: fc.uniqueArray(fc.record({ name: word, value: text, comment }), {
    maxLength: 3,
    selector: ({ name }) => `x${name}`,
  }),
  eol: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "\ufeff"),
  indent: fc.constantFrom("  ", "    ", "\t"),
  isEnded: fc.boolean(),
});
type Shape = typeof shape extends fc.Arbitrary<infer S> ? S : never;

function finish(lines: readonly string[], { eol, mark, isEnded }: Shape): string {
  return mark + lines.join(eol) + (isEnded ? eol : "");
}

const writers: Record<string, (given: Shape) => string> = {
  cursor: (given) => {
    const { servers, settings, indent } = given;
    const note = (words: string | undefined): string => (words === undefined ? "" : ` // ${words}`);
    const lines = ["{", `${indent}// settings`];
    for (const { name, value, comment: words } of settings)
      lines.push(`${indent}"x-${name}": ${JSON.stringify(value)},${note(words)}`);
    lines.push(`${indent}"mcpServers": {`);
    servers.forEach(({ name, value, comment: words }, i) => {
      lines.push(
        `${indent}${indent}"${name}": { "command": ${JSON.stringify(value)} }${i < servers.length - 1 ? "," : ""}${note(words)}`,
      );
    });
    return finish([...lines, `${indent}} /* end */`, "}"], given);
  },
  codex: (given) => {
    const note = (words: string | undefined): string => (words === undefined ? "" : ` # ${words}`);
    const lines = ["# settings"];
    for (const { name, value, comment: words } of given.settings)
      lines.push(`x-${name} = ${JSON.stringify(value)}${note(words)}`);
    for (const { name, value, comment: words } of given.servers) {
      lines.push(
        "",
        `[mcp_servers.${name}]${note(words)}`,
        `command = ${JSON.stringify(value)}`,
        "# more",
        `[mcp_servers.${name}.env]`,
        'A = "1"',
      );
    }
    return finish([...lines, "", "[other]", "x = [", '  "[mcp_servers.goblin]",', "]"], given);
  },
  goose: (given) => {
    const pad = given.indent === "\t" ? "  " : given.indent;
    const note = (words: string | undefined): string => (words === undefined ? "" : ` # ${words}`);
    const lines = ["# settings", "first: 1"];
    if (given.servers.length > 0) lines.push("extensions:");
    for (const { name, value, comment: words } of given.servers) {
      lines.push(
        `${pad}${name}:${note(words)}`,
        `${pad}${pad}cmd: ${JSON.stringify(value)}`,
        `${pad}${pad}text: |`,
        `${pad}${pad}  a`,
        `${pad}${pad}  b`,
      );
    }
    for (const { name, value, comment: words } of given.settings)
      lines.push(`x-${name}: ${JSON.stringify(value)}${note(words)}`);
    return finish([...lines, "last: [1, 2] # end"], given);
  },
  continue: (given) => {
    const note = (words: string | undefined): string => (words === undefined ? "" : ` # ${words}`);
    const lines = ["name: x", "mcpServers:"];
    for (const { name, value, comment: words } of given.servers)
      lines.push(`  - name: ${name}${note(words)}`, `    command: ${JSON.stringify(value)}`);
    return finish([...lines, "models: []"], given);
  },
};

describe.each(Object.keys(writers))("the settings of %s", (id) => {
  const client = clientOf(id);

  test("keep everything else when the entry is added, replaced and removed", async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (given) => {
        const before = writers[id]!(given);
        const added = await withEntry(before, client, own);
        const names = [...(await readServers(before, client)).keys()];
        const servers = await readServers(added, client);
        expect([...servers.keys()]).toEqual([...names, "goblin"]);
        expect(servers.get("goblin")).toMatchObject(entry);
        expect(keepsLines(before, added), `${JSON.stringify(before)}\n${JSON.stringify(added)}`).toBe(true);
        expect(added.startsWith("\ufeff")).toBe(before.startsWith("\ufeff"));
        if (before.includes("\r\n")) expect(added.replaceAll("\r\n", "")).not.toMatch(/\n/);
        else expect(added).not.toContain("\r");
        // The same again changes nothing; another one replaces it.
        expect(await withEntry(added, client, own)).toBe(added);
        const other = await withEntry(added, client, { name: "goblin", entry: { command: "npx", args: ["a b", "c"] } });
        expect((await readServers(other, client)).get("goblin")).toMatchObject({ command: "npx", args: ["a b", "c"] });
        const removed = await withoutEntry(other, client, "goblin");
        expect([...(await readServers(removed, client)).keys()]).toEqual(names);
        expect(keepsLines(before.replace(/^mcpServers:$/m, ""), removed)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

test.each([
  ["cursor", "", '{\n  "mcpServers": {\n    "goblin": {\n      "url": "http://127.0.0.1:3000/mcp"\n    }\n  }\n}\n'],
  ["codex", "", '[mcp_servers.goblin]\nurl = "http://127.0.0.1:3000/mcp"\n'],
  ["goose", "", "extensions:\n  goblin:\n    url: http://127.0.0.1:3000/mcp\n"],
  ["goose", "extensions: {} # none\n", "extensions: # none\n  goblin:\n    url: http://127.0.0.1:3000/mcp\n"],
  ["goose", "extensions:\nx: 1\n", "extensions:\n  goblin:\n    url: http://127.0.0.1:3000/mcp\nx: 1\n"],
  ["continue", "name: a\n", "name: a\nmcpServers:\n  - name: goblin\n    url: http://127.0.0.1:3000/mcp\n"],
])("an entry in %s's settings %j", async (id, before, after) => {
  expect(await withEntry(before, clientOf(id), own)).toBe(after);
});

test.each([
  ["cursor", '{ "mcpServers": {', /it cannot be read: line 1: /],
  ["cursor", "[]", /it is not an object in braces/],
  ["cursor", '{ "mcpServers": { "goblin": {}, "goblin": {} } }', /"goblin" is there twice/],
  ["continue", "mcpServers:\n  - name: goblin\n    url: a\n  - name: goblin\n    url: b\n", /"goblin" is there twice/],
  ["cursor", '{ "mcpServers": [] }', /"mcpServers" is not a table of servers/],
  ["codex", "a = ", /it cannot be read: /],
  ["codex", "mcp_servers = { goblin = { url = 'x' } }", /edited safely/],
  ["codex", "[mcp_servers.goblin]\n[mcp_servers.goblin]", /it cannot be read: /],
  ["goose", "extensions:\n  goblin: 1\n  goblin: 2", /it cannot be read: /],
  ["goose", "extensions: { a: { b: 1 } }", /edited safely/],
  ["goose", "a: [", /it cannot be read: /],
  ["continue", "mcpServers: { a: 1 }", /"mcpServers" is not a list/],
])("%s's settings %j are left alone", async (id, before, reason) => {
  await expect(withEntry(before, clientOf(id), own)).rejects.toThrow(reason);
  await expect(withEntry(before, clientOf(id), own)).rejects.toBeInstanceOf(EditError);
});
