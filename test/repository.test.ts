/**
 * What holds for every file of the repository: how wide its prose is, what must never be in it, and
 * that ARCHITECTURE.md names what exists.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

test("comments keep to 100 columns", () => {
  const isWide = (line: string): boolean =>
    line.length > 100 && /^\s*(\*(?![\w#])|\/\/|\/\*)/.test(line) && !line.includes("biome-ignore");
  const wide = tracked
    .filter((file) => /^(src|test|bench|scripts|\.ci)\/.*\.(tsx?|js|mjs)$/.test(file))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, i) => (isWide(line) ? [`${file}:${i + 1}`] : [])),
    );
  expect(wide).toEqual([]);
});

test("comments and the names of tests say who and how many", () => {
  const vague = /\bwhoever\b|\bso many\b|(?<!\b(?:there|it)) is none\b/i;
  const isProse = (line: string): boolean =>
    /^\s*(\*|\/\/|\/\*)|\s\/\/ |^\s*(test|it|describe)\b|^\s*"[^"]*[,:]/.test(line);
  expect(
    ["// Whoever comes", 'test("only so many", () => {', "a = b; // There is none"].map((line) => vague.test(line)),
  ).toEqual([true, true, false]);
  const found = tracked
    .filter(
      (file) => /^(src|test|bench|scripts|\.ci)\/.*\.(tsx?|js|mjs)$/.test(file) && file !== "test/repository.test.ts",
    )
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, i) => (isProse(line) && vague.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );
  const inMarkdown = tracked
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) =>
      proseOf(read(file)).flatMap(({ line, at }) =>
        /\bwhoever\b|\bso many\b/i.test(line) ? [`${file}:${at}: ${line.trim()}`] : [],
      ),
    );
  expect([...found, ...inMarkdown]).toEqual([]);
});

/** Lines of a Markdown text with their numbers, without tables and blocks of code. */
function proseOf(text: string): { line: string; at: number }[] {
  let isCode = false;
  return text.split("\n").flatMap((line, i) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isCode || isFence || /^\s*\|/.test(line) ? [] : [{ line, at: i + 1 }];
  });
}

test("prose in Markdown keeps to 100 columns", () => {
  const shown = (line: string): string => line.replace(/\]\([^)]*\)/g, "]");
  const isWide = (line: string): boolean => shown(line).length > 100 && !/^\s*(- )?`[^`]+`$/.test(line);
  expect(proseOf("a\n```\nb\n```\n| c |\nd").map(({ at }) => at)).toEqual([1, 6]);
  expect([`[a](${"b".repeat(200)})`, `- \`${"c ".repeat(60)}\``, "d ".repeat(51)].map(isWide)).toEqual([
    false,
    false,
    true,
  ]);
  const documents = tracked.filter((file) => file.endsWith(".md"));
  const wide = documents.flatMap((file) =>
    proseOf(read(file)).flatMap(({ line, at }) => (isWide(line) ? [`${file}:${at}`] : [])),
  );
  expect(documents.length).toBeGreaterThan(10);
  expect(wide).toEqual([]);
});

describe("nowhere in the repository", () => {
  const text = tracked.filter((file) => !/\.(png|ico|gz|zip|woff2?)$/.test(file) && file !== "test/repository.test.ts");
  const holding = (pattern: RegExp): string[] =>
    text.flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 160)}`] : [])),
    );

  test("is something left to do", () => {
    expect(holding(/\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  test("is a path of the machine that it was written on", () => {
    const places = [root, `${homedir()}/`, ["", "work", "main"].join("/"), ["", "work", "shared"].join("/")];
    const escaped = places.map((place) => place.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    expect(holding(new RegExp(escaped.join("|")))).toEqual([]);
  });

  test("is the address of a package registry", () => {
    // MCP's own registry is what goblin add and goblin search ask by default.
    const known = "registry\\.(?:modelcontextprotocol\\.io|example)\\b";
    const address = new RegExp(`https?://(?!${known})[^\\s"'/]*(registry|artifactory|nexus|verdaccio)`, "i");
    expect(holding(address)).toEqual([]);
    const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, { resolved?: string }> };
    const resolved = Object.values(lock.packages).flatMap((entry) => entry.resolved ?? []);
    expect(resolved.filter((address) => address.startsWith("http"))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const text = read("ARCHITECTURE.md");

  test("names files that exist", () => {
    const named = [...text.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("names functions and classes that are in the files beside them", () => {
    const named = [...text.matchAll(/`(src\/[\w./-]+\.ts)`\s+`(\w+)`/g)].map(([, file, name]) => ({ file, name }));
    expect(named.length).toBeGreaterThan(20);
    const missing = named.filter(
      ({ file, name }) => !new RegExp(`(function|class|const) ${name}\\b`).test(read(file!)),
    );
    expect(missing).toEqual([]);
  });
});

test("CONTRIBUTING names every folder of tests and every script", () => {
  const text = read("CONTRIBUTING.md");
  const folders = new Set(tracked.flatMap((file) => /^test\/([^/]+)\//.exec(file)?.[1] ?? []));
  expect([...folders].filter((folder) => !text.includes(`\`test/${folder}/`))).toEqual([]);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const own = Object.keys(scripts).filter((name) => !/^(build|prepack|prestart|start|test)$/.test(name));
  expect(own.filter((name) => !text.includes(`\`npm run ${name}`))).toEqual([]);
});
