/**
 * The shape of the code: who may import whom, and where packages and era words live. Every
 * exception is one line in one of the tables below; adding one is a decision.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { layers } from "./layers.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Third-party package → where in `src` it may be imported. */
const packages: Record<string, readonly string[]> = {
  hono: ["front/", "admin/"],
  "@hono/node-server": ["front/http/routes/app.ts"],
  minisearch: ["catalog/search/"],
  ink: ["tui/"],
  react: ["tui/"],
  preact: ["page/"],
  "prom-client": ["telemetry/"],
  pino: ["telemetry/"],
  zod: ["config/", "meta/", "admin/", "tui/client.ts", "cli/gateway/target.ts"],
  commander: ["cli/"],
  "@clack/prompts": ["cli/wizard/prompts.ts"],
  "jsonc-parser": ["config/", "clients/"],
  "smol-toml": ["clients/edit/toml.ts"],
  yaml: ["clients/edit/yaml.ts"],
  jose: ["identity/", "pairing/"],
  oauth4webapi: ["login/"],
  "@napi-rs/keyring": ["secrets/keychain.ts"],
  "@marcbachmann/cel-js": ["policy/conditions/cel.ts"],
};

/** The folders (and few files) that own what differs between protocol versions. */
const eraFiles = [
  "front/legacy/",
  "front/modern/",
  "front/http/http.ts",
  "front/http/cors.ts",
  "front/line-channel.ts",
  "front/classify.ts",
  "peers/legacy/",
  "peers/modern/",
  "peers/negotiate.ts",
  "config/schema/server.ts",
  "config/schema/config-object.ts",
  "config/reading/normalise.ts",
  "links/http/request-heads.ts",
  "protocol/envelope.ts",
  "admin/call-tool.ts",
  "cli/gateway/mcp-client.ts",
  "replay/replay.ts",
  "cli/attach/client-state.ts",
  "demo/line-server.ts",
];
const eraWords =
  /legacy|modern|\binitialize\b|mcp-session-id|mcp-protocol-version|\b20(24-11-05|25-03-26|25-06-18|25-11-25|26-07-28)\b(?!T)/i;

const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const sources = tracked
  .filter((file) => /^src\/.*\.tsx?$/.test(file))
  .map((file) => ({ file: file.slice("src/".length), text: read(file) }));

/** The specifiers that a source file imports, statically or not. */
function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  const found = code.matchAll(/^(?:import|export)\b[^;"']*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, from, bare, dynamic]) => (from ?? bare ?? dynamic)!);
}

/** `front` for `front/http/http.ts`, the file itself at the top. */
function layerOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : file;
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

const startsWithOneOf = (file: string, owners: readonly string[]): boolean =>
  owners.some((owner) => file.startsWith(owner));

test("the tables know every folder and every import was seen", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(new Set(sources.map(({ file }) => layerOf(file)))).toEqual(new Set(Object.keys(layers)));
  expect(
    importsOf('import { a } from "./a.ts";\nimport type {\n  B,\n} from "b";\nconst c = import("./c.ts");'),
  ).toEqual(["./a.ts", "b", "./c.ts"]);
});

test("folders import only what their row in the table names", () => {
  const wrong = sources.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => posix.join(posix.dirname(file), specifier))
      .filter((target) => layerOf(target) !== layerOf(file) && !layers[layerOf(file)]?.includes(layerOf(target)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("every allowed edge exists", () => {
  const used = new Map<string, Set<string>>();
  for (const { file, text } of sources) {
    const edges = used.get(layerOf(file)) ?? new Set();
    used.set(layerOf(file), edges);
    for (const specifier of importsOf(text)) {
      if (specifier.startsWith(".")) edges.add(layerOf(posix.join(posix.dirname(file), specifier)));
    }
  }
  const unused = Object.entries(layers).flatMap(([from, to]) =>
    to.filter((target) => !used.get(from)?.has(target)).map((target) => `${from} -> ${target}`),
  );
  expect(unused).toEqual([]);
});

test("own files are imported with their extension", () => {
  const wrong = sources.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith(".") && !/\.tsx?$/.test(specifier))
      .map((specifier) => `${file}: ${specifier}`),
  );
  expect(wrong).toEqual([]);
});

test("third-party packages stay with their owners", () => {
  const wrong = sources.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"))
      .filter((specifier) => !startsWithOneOf(file, packages[packageOf(specifier)] ?? []))
      .map((specifier) => `${file} imports ${specifier}`),
  );
  expect(wrong).toEqual([]);
});

test("every package has an owner, and every owner a package; the bundle holds them all", () => {
  const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const used = new Set(
    sources.flatMap(({ text }) =>
      importsOf(text)
        .filter((specifier) => !/^(\.|node:)/.test(specifier))
        .map(packageOf),
    ),
  );
  expect(Object.keys(packages).sort()).toEqual([...used].sort());
  expect(Object.keys(packages).filter((name) => manifest["devDependencies"]?.[name] === undefined)).toEqual([]);
  expect(manifest["dependencies"]).toBeUndefined();
});

describe("era words", () => {
  test("stay in the files that own them", () => {
    const wrong = sources
      .filter(({ file }) => !startsWithOneOf(file, eraFiles))
      .flatMap(({ file, text }) =>
        text.split("\n").flatMap((line, i) => (eraWords.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
      );
    expect(wrong).toEqual([]);
  });

  test("are in every file that is said to own them", () => {
    const idle = eraFiles.filter(
      (owner) => !sources.some(({ file, text }) => file.startsWith(owner) && eraWords.test(text)),
    );
    expect(idle).toEqual([]);
  });
});

test("numbers of JSON-RPC errors stand in one table", () => {
  const wrong = sources
    .filter(({ file }) => file !== "protocol/errors.ts")
    .flatMap(({ file, text }) =>
      text.split("\n").flatMap((line, i) => (/-32\d{3}\b/.test(line) ? [`${file}:${i + 1}`] : [])),
    );
  expect(wrong).toEqual([]);
});

test("no literal is spread into another only to save lines", () => {
  const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;
  // An array may be spread that is computed from a literal: `...["a", "b"].map(…)`.
  const trick = /^\s*\.\.\.\{ \w|\.\.\.\[(?!\.\.\.)[^[\]]*\](?=,?\n|[\])])/gm;
  const tricksIn = (text: string): number[] => [...text.matchAll(trick)].map(({ index }) => lineOf(text, index));
  expect(tricksIn('f([...["a"]]);\n  ...["a", "b"],\n  ...["a"].map(f),\n  ...[\n"a",\n],\n')).toEqual([1, 2, 4]);
  const tricks = tracked
    .filter((file) => /^(src|test|bench|scripts)\/.*\.(ts|tsx|js)$/.test(file) && file !== "test/architecture.test.ts")
    .flatMap((file) => tricksIn(read(file)).map((line) => `${file}:${line}`));
  expect(tricks).toEqual([]);
});

test("files are called what they are", () => {
  const vague = sources.filter(({ file }) =>
    /(^|\/|-)(utils?|helpers?|managers?|common|misc|types)(\.|-|\/)/.test(file),
  );
  const odd = sources.filter(({ file }) => !/^[a-z0-9-]+(\/[a-z0-9-]+)*\.tsx?$/.test(file));
  expect([...vague, ...odd].map(({ file }) => file)).toEqual([]);
});
