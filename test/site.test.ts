/** The documentation as pages: complete, linked, searchable, and without anything inline. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { clients } from "../src/app/clients/table.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
let pages: Map<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "goblin-site-"));
  execFileSync(process.execPath, [join(root, "scripts/docs.js"), folder]);
  const names = readdirSync(folder).filter((name) => name.endsWith(".html"));
  pages = new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const idsIn = (page: string): Set<string> => new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!));

/** Whether a link of a page leads somewhere. */
function leads(href: string, from: string): boolean {
  if (/^[a-z]+:/i.test(href)) return true;
  const [path = "", anchor] = href.split("#");
  const name = path === "" ? from : path;
  if (anchor === undefined || !name.endsWith(".html")) return existsSync(join(folder, name));
  return idsIn(pages.get(name) ?? "").has(decodeURIComponent(anchor));
}

test("every document is a page, and Markdown too", () => {
  const documents = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  for (const name of documents) {
    expect(pages.has(name.replace(".md", ".html"))).toBe(true);
    expect(readFileSync(join(folder, name), "utf8")).toBe(readFileSync(join(root, "docs", name), "utf8"));
  }
});

test("every link leads somewhere", () => {
  const broken = [...pages].flatMap(([name, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"]+)"/g)]
      .map((match) => match[1]!.replaceAll("&amp;", "&"))
      .filter((href) => !leads(href, name))
      .map((href) => `${name}: ${href}`),
  );
  expect(broken).toEqual([]);
});

test("nothing is inline, and a policy forbids it", () => {
  for (const text of pages.values()) {
    expect(text).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'/);
    expect(text).not.toMatch(/<script(?! src=)|<style| style="| on\w+="/);
  }
});

test("the search leads to places that exist", () => {
  const text = readFileSync(join(folder, "search-index.js"), "utf8");
  const index = JSON.parse(text.slice("globalThis.searchIndex = ".length, -2)) as { href: string; heading: string }[];
  expect(index.length).toBeGreaterThan(200);
  expect(index.find(({ heading }) => heading === "BACKEND_UNAVAILABLE")?.href).toBe("errors.html#backend_unavailable");
  expect(index.filter(({ href }) => !leads(href, "")).map(({ href }) => href)).toEqual([]);
});

test("llms.txt names every page", () => {
  const text = readFileSync(join(folder, "llms.txt"), "utf8");
  const named = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\.md\): \S/gm)].map((match) => `${match[1]}.html`);
  expect(named.sort()).toEqual([...pages.keys()].sort());
});

test.each(clients.map((client) => [client.id, client] as const))("the recipe for %s shows its entry", (id, client) => {
  const text = readFileSync(join(folder, `client-${id}.md`), "utf8");
  const read = { json: JSON.parse, toml: parseToml, yaml: parseYaml }[client.format] as (text: string) => unknown;
  const blocks = [...text.matchAll(/```(?:json|toml|yaml)\n([\s\S]*?)```/g)].map((match) => read(match[1]!));
  const wrap = (entry: object): unknown =>
    client.section.reduceRight<unknown>(
      (inner, key) => ({ [key]: inner }),
      client.isList ? [{ name: "goblin", ...entry }] : { goblin: entry },
    );
  expect(blocks).toContainEqual(
    wrap(client.program({ command: "npx", args: ["-y", "goblin-mcp", "stdio", "--attach"] })),
  );
  if (client.remote) expect(blocks).toContainEqual(wrap(client.remote("http://127.0.0.1:3000/mcp", {})));
});
