/**
 * The shape of the code: who may import whom, and where packages and era words live. Every
 * exception is one line in one of the tables below; adding one is a decision.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The areas of `src`, and the folders of each, in the one order of the code. A file imports its own
 * folder, folders above it in its area, and areas above its area. Files that lie directly in an
 * area may import everything in that area.
 */
const areas: Readonly<Record<string, readonly string[]>> = {
  lib: ["package", "timing", "structures", "text", "json", "uri-template", "html", "crypto", "process", "http-client"],
  mcp: ["protocol", "identifiers", "outbound", "links", "peers"],
  policy: ["conditions", "arguments"],
  config: [],
  observe: ["telemetry", "otel", "recording"],
  auth: ["access", "identity", "secrets", "login", "login-page", "pairing", "approvals"],
  upstream: ["catalog", "registry", "lock", "servers"],
  core: ["routing", "session", "results", "masking", "meta", "calls"],
  cluster: [],
  front: [],
  admin: ["doctor", "api", "forms", "tui", "page"],
  app: ["assembly", "library", "clients", "demo", "replay", "cli"],
};

/** Third-party package → where in `src` it may be imported. */
const packages: Record<string, readonly string[]> = {
  hono: ["front/", "admin/api/"],
  "@hono/node-server": ["front/http/routes/app.ts"],
  minisearch: ["upstream/catalog/search/"],
  preact: ["admin/page/"],
  "prom-client": ["observe/telemetry/"],
  pino: ["observe/telemetry/"],
  zod: ["config/", "core/meta/", "admin/api/", "admin/tui/client.ts", "app/cli/gateway/target.ts"],
  commander: ["app/cli/"],
  "@clack/prompts": ["app/cli/wizard/prompts.ts"],
  "jsonc-parser": ["config/", "app/clients/"],
  "smol-toml": ["app/clients/edit/toml.ts"],
  yaml: ["app/clients/edit/yaml.ts"],
  jose: ["auth/identity/", "auth/pairing/"],
  oauth4webapi: ["auth/login/"],
  "@napi-rs/keyring": ["auth/secrets/keychain.ts"],
  ioredis: ["cluster/redis/redis.ts"],
  "@marcbachmann/cel-js": ["policy/conditions/cel.ts", "policy/conditions/work.ts"],
  re2js: ["policy/conditions/pattern.ts"],
};

/** The folders (and few files) that own what differs between protocol versions. */
const eraFiles = [
  "front/legacy/",
  "front/modern/",
  "front/http/http.ts",
  "front/http/cors.ts",
  "front/line-channel.ts",
  "front/classify.ts",
  "mcp/peers/legacy/",
  "mcp/peers/modern/",
  "mcp/peers/negotiate.ts",
  "config/schema/server.ts",
  "config/schema/config-object.ts",
  "config/reading/normalise.ts",
  "mcp/links/http/request-heads.ts",
  "mcp/protocol/envelope.ts",
  "admin/api/call-tool.ts",
  "app/cli/gateway/mcp-client.ts",
  "app/replay/replay.ts",
  "app/cli/attach/client-state.ts",
  "app/demo/line-server.ts",
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

/** The position of a file in the order: its area, then its folder there (-1 for a loose file). */
function positionOf(file: string): { area: number; folder: number } {
  const [area = "", folder = ""] = file.split("/");
  return { area: Object.keys(areas).indexOf(area), folder: areas[area]?.indexOf(folder) ?? -1 };
}

/** Whether `file` may import `target`. */
function mayImport(file: string, target: string): boolean {
  const from = positionOf(file);
  const to = positionOf(target);
  if (from.area !== to.area) return to.area < from.area;
  return from.folder === -1 || to.folder <= from.folder;
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

const startsWithOneOf = (file: string, owners: readonly string[]): boolean =>
  owners.some((owner) => file.startsWith(owner));

test("src holds the twelve areas and nothing else, and every import is seen", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect([...new Set(sources.map(({ file }) => file.split("/")[0]))].sort()).toEqual(Object.keys(areas).sort());
  const folders = new Set(sources.map(({ file }) => file.split("/").slice(0, -1).slice(0, 2).join("/")));
  const listed = Object.entries(areas).flatMap(([area, inside]) => inside.map((folder) => `${area}/${folder}`));
  expect(listed.filter((folder) => !folders.has(folder))).toEqual([]);
  expect(
    importsOf('import { a } from "./a.ts";\nimport type {\n  B,\n} from "b";\nconst c = import("./c.ts");'),
  ).toEqual(["./a.ts", "b", "./c.ts"]);
});

test("imports go up the list of areas, and up the list of folders inside an area", () => {
  expect(mayImport("core/calls/relay.ts", "mcp/protocol/call.ts")).toBe(true);
  expect(mayImport("mcp/peers/peer.ts", "config/schema/server.ts")).toBe(false);
  expect(mayImport("core/session/session.ts", "core/calls/relay.ts")).toBe(false);
  const wrong = sources.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => posix.join(posix.dirname(file), specifier))
      .filter((target) => !mayImport(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
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
    .filter(({ file }) => file !== "mcp/protocol/errors.ts")
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
