/** One URI, one decision (A-H2): every spelling of a secret URI is refused like the URI itself. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, type RawHttp, rawHttp } from "../../fixtures/peers.ts";
import { runs } from "../../fixtures/thorough.ts";

const PROGRAM = fileURLToPath(new URL("../../fixtures/file-server.js", import.meta.url));
const SECRET = "/secret/a.txt";
const SPELLINGS = [
  "file:///secret/a.txt",
  "file:///%73ecret/a.txt",
  "file:///%73%65%63%72%65%74/a.txt",
  "file:///./secret/a.txt",
  "file:///secret/./a.txt",
  "file:///open/../secret/a.txt",
  "file:///open/%2e%2e/secret/a.txt",
  "file:///open/%2E./secret/a.txt",
  "file:///open/..%2fsecret/a.txt",
  "file:///open\\..\\secret\\a.txt",
  "file:///open/..%5csecret%5Ca.txt",
  "file:///open/%252e%252e/secret/a.txt",
  "file:///%2573ecret/a.txt",
  "file:///open/%25252e%25252e/secret/a.txt",
  "file:///%252573ecret/a.txt",
  "file:////secret//a.txt",
  "file:///secret/a.txt%00.png",
  "file:///secret/a.txt?open",
  "file:///secret/a.txt#open",
  "file:///sec\tret/a.txt",
  "file:///open/.\n./secret/a.txt",
  "file:///open%3f/../secret/a.txt",
  "file:///open%23/%2e%2e/secret/a.txt",
  "file:///open/../secret/%2e%2e/../secret/a.txt",
  "file:///secret/a.txt ",
];

/** Who asks, and what keeps each of them from the secret. */
const NAMES = ["free", "denied", "exact", "allowed", "ruled", "granted", "asked"] as const;
type Name = (typeof NAMES)[number];
const tokenOf = (name: Name): string => `the-long-token-of-${name}`;
const who = (name: Name) => ({ principals: [name] });

const clients = new Map<Name, RawHttp>();
const logs = new Map<string, string>();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "spellings-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const server = (kind: string) => {
    logs.set(kind, join(folder, kind));
    return { command: process.execPath, args: [PROGRAM, kind, logs.get(kind)!] };
  };
  const profileOf: Partial<Record<Name, string>> = { denied: "denied", exact: "exact", allowed: "allowed" };
  const { url } = await startGoblin({
    mcpServers: { node: server("node"), lenient: server("lenient") },
    gateway: {
      auth: {
        clients: Object.fromEntries(
          NAMES.map((name) => [name, { token: tokenOf(name), ...(profileOf[name] && { profile: profileOf[name] }) }]),
        ),
      },
    },
    profiles: {
      denied: { resources: { deny: ["file:///secret/*"] } },
      exact: { resources: { deny: ["file:///secret/a.txt"] } },
      allowed: { resources: { allow: ["file:///open/*", "file:///{+path}"] } },
    },
    policy: {
      rules: [
        { effect: "deny", resources: ["file:///secret/*"], who: who("ruled") },
        { effect: "deny", server: ["node", "lenient"], resources: ["file:///secret/a.txt"], who: who("ruled") },
        { effect: "ask", resources: ["file:///secret/*"], who: who("asked") },
        { effect: "allow", resources: ["file:///open/*", "file:///{+path}"], who: who("granted") },
        { effect: "allow", who: { not: { principals: ["granted"] } } },
      ],
      default: "deny",
    },
    approvals: { timeoutMs: 30 },
  });
  for (const name of NAMES) {
    const http = rawHttp(url);
    http.headers["authorization"] = `Bearer ${tokenOf(name)}`;
    await http.initialize();
    clients.set(name, http);
  }
}, 60_000);
afterAll(disposeAll);

/** Asks for a URI in every way. Returns whether it was read. */
async function asks(name: Name, server: string, uri: string): Promise<boolean> {
  const http = clients.get(name)!;
  const exposed = /^[\w!-;=?-~]*$/.test(uri) && !/%(?![\da-f]{2})/i.test(uri) && !uri.includes("\\");
  const form = `${server}+${exposed ? uri : `raw:${encodeURIComponent(uri)}`}`;
  const [read] = await Promise.all([
    http.call("resources/read", { uri: form }),
    http.call("resources/subscribe", { uri: form }),
    http.call("completion/complete", {
      ref: { type: "ref/resource", uri: form },
      argument: { name: "path", value: "" },
    }),
  ]);
  return read.message.result !== undefined;
}

/** What the server was asked for, as it understands that. */
const pathsAt = (server: string): string[] =>
  readFileSync(logs.get(server)!, { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1);
const secretsAt = (server: string): string[] => pathsAt(server).filter((line) => line.endsWith(` ${SECRET}`));

describe.each(["node", "lenient"])("at a server that reads URIs in the way of %s", (server) => {
  test("spellings of the secret reach it if nothing is in the way", async () => {
    const read = await Promise.all(SPELLINGS.map((uri) => asks("free", server, uri)));
    expect(read).not.toContain(false);
    const reached = secretsAt(server).filter((line) => line.startsWith("resources/read"));
    expect(reached.length).toBe({ node: 18, lenient: 20 }[server]);
    expect(secretsAt(server)).toContain(`resources/subscribe ${SECRET}`);
    expect(secretsAt(server)).toContain(`completion/complete ${SECRET}`);
  });

  test.each(NAMES.slice(1))("no spelling of the secret reaches it for a client that is %s", async (name) => {
    const before = secretsAt(server).length;
    const read = await Promise.all(SPELLINGS.map((uri) => asks(name, server, uri)));
    expect(SPELLINGS.filter((_, i) => read[i])).toEqual([]);
    expect(secretsAt(server).slice(before)).toEqual([]);
    expect(await asks(name, server, "file:///open/a.txt")).toBe(true);
    expect(await asks(name, server, "file:///open/a%20b.txt")).toBe(true);
  });

  test("no generated spelling of the secret reaches it", { timeout: 120_000 }, async () => {
    const before = secretsAt(server).length;
    const denied = NAMES.slice(1);
    await fc.assert(
      fc.asyncProperty(spelling, fc.constantFrom(...denied), async (uri, name) => {
        await asks(name, server, uri);
        expect(secretsAt(server).slice(before)).toEqual([]);
      }),
      { numRuns: runs(60, 2000) },
    );
  });
});

/** A path to the secret with detours, each character of it written in one of many ways. */
const detour = fc.constantFrom("", "./", "/", "open/../", "a/b/../../", "open?/../", "open#/../", "../", "\\", ".\\");
const written = fc.array(fc.nat({ max: 7 }), { minLength: 40, maxLength: 40 });
const spelling = fc
  .tuple(
    fc.array(detour, { maxLength: 3 }),
    fc.array(detour, { maxLength: 2 }),
    written,
    fc.constantFrom("", "?x", "#x", "%00x"),
  )
  .map(([first, second, ways, end]) => {
    const path = `${first.join("")}secret/${second.filter((one) => !one.startsWith("../")).join("")}a.txt`;
    return `file:///${[...path].map((character, i) => spelled(character, ways[i % ways.length]!)).join("")}${end}`;
  });

function spelled(character: string, way: number): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
  if (way === 1) return `%${hex}`;
  if (way === 2) return `%${hex.toUpperCase()}`;
  if (way === 3) return `%25${hex}`;
  if (way === 4) return `%2525${hex}`;
  if (way === 5) return `${character}\t`;
  // A bare one would begin a query or a fragment, which the detours are not about.
  return character === "?" || character === "#" ? `%${hex}` : character;
}
