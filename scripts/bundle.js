// @ts-check
// Makes what is published from what tsc wrote: the command, the library and the demo servers'
// program, with every package that they need inside. Who installs Goblin installs nothing else, and
// a start reads few files instead of hundreds (docs/performance.md). The types of the library are
// the files that `dist/app/library/index.d.ts` leads to; they name no package. `bundle/` lies as
// deep as `dist/` does: what a module finds by its own address (the manifest, the demo servers'
// program) it finds in both.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { sbom } from "./sbom.js";

/** @param {string} path */
const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** What loads a gateway, or parts of one. */
const GATEWAY = [
  "app/cli/commands/serve.js",
  "app/gateway.js",
  "observe/telemetry/logger.js",
  "auth/login/logins.js",
  "auth/login/book/open-logins.js",
];

rmSync(fromRoot("bundle"), { recursive: true, force: true });
/** What each module imports when it is loaded. @type {Map<string, readonly string[]>} */
const imports = new Map();
const build = await rolldown({
  input: {
    goblin: fromRoot("dist/app/cli/run.js"),
    index: fromRoot("dist/app/library/index.js"),
    main: fromRoot("dist/app/demo/main.js"),
  },
  platform: "node",
  // Native code, which users may install beside Goblin for the system's keychain.
  external: ["@napi-rs/keyring"],
  // Of packages that come in two forms the one with imports: the other finds its own files at run
  // time.
  resolve: { mainFields: ["module", "main"] },
  // Of pino the one without threads.
  transform: { define: { "process.env.NODE_ENV": '"production"' } },
  plugins: [
    { name: "no-threads", load: (id) => (/\/pino\/lib\/transport\.js$/.test(id) ? "module.exports = null;" : null) },
    { name: "imports", moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) },
  ],
});
const { output } = await build.write({
  dir: fromRoot("bundle"),
  format: "esm",
  entryFileNames: "[name].js",
  comments: false,
  // Names and statements stay as they are, for those who read a stack.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  // A few files for what every command loads and for what every gateway loads, one for what else
  // several commands share: dozens of small files cost 3 MB at idle. One large file costs as much.
  // V8 takes more memory to compile it. And when the C library frees the buffer into which it was
  // read, it takes blocks of that size for usual, and keeps twice as much in each thread. Each of
  // the files imports only those above it.
  codeSplitting: {
    groups: [
      { name: "packages", test: isPackageLoadedWith("app/cli/run.js") },
      { name: "base", test: isLoadedWith("app/cli/run.js") },
      { name: "command", test: isCommandLoadedWith("app/cli/run.js") },
      { name: "gateway-packages", test: isPackageLoadedWith(...GATEWAY) },
      { name: "links", test: isLoadedWith("mcp/peers/negotiate.js", "auth/login/logins.js") },
      { name: "catalog", test: isLoadedWith("app/assembly/catalog.js") },
      {
        name: "calls",
        test: isLoadedWith("upstream/servers/servers.js", "core/calls/relay.js", "core/session/client-state.js"),
      },
      { name: "gateway", test: isLoadedWith(...GATEWAY) },
      { name: "serve", test: isCommandLoadedWith("app/cli/commands/serve.js") },
      {
        name: "shared",
        test: /\/dist\/(config|lib\/(json|structures|text|timing)|mcp\/(outbound|protocol))\//,
        minShareCount: 2,
      },
    ],
  },
});
await build.close();
writeAscii(output);
// The pipe into a running gateway, for which clients wait when they start, and the recorder's
// thread: each is one small file.
output.push(...(await buildAlone("attach", "dist/app/cli/attach/main.js")));
output.push(
  ...(await buildAlone("recorder-thread", "dist/observe/recording/recorder-thread.js")),
  ...(await buildPage()),
);
copyTypes(fromRoot("dist/app/library/index.d.ts"), new Set());
const packages = packagesOf(output.flatMap((file) => ("moduleIds" in file ? file.moduleIds : [])));
writeFileSync(fromRoot("bundle/LICENSES.txt"), licences(packages));
writeFileSync(fromRoot("bundle/sbom.cdx.json"), JSON.stringify(sbom(manifest("package.json"), packages)));

/**
 * Returns a test for the modules that one of these imports, itself or through others. The command's
 * own modules are left out: programs with the library need none of them.
 * @param {string[]} modules
 */
function isLoadedWith(...modules) {
  const isFound = isReachedFrom(...modules);
  return (/** @type {string} */ id) => isFound(id) && !id.includes("/dist/app/cli/");
}

/**
 * The same for the command's own modules, without the one with which it begins.
 * @param {string[]} modules
 */
function isCommandLoadedWith(...modules) {
  const isFound = isReachedFrom(...modules);
  return (/** @type {string} */ id) => isFound(id) && id.includes("/dist/app/cli/") && !id.endsWith("/cli/run.js");
}

/** @param {string[]} modules */
function isReachedFrom(...modules) {
  /** @type {Set<string>} */
  const found = new Set();
  const visit = (/** @type {string} */ id) => {
    if (found.has(id)) return;
    found.add(id);
    imports.get(id)?.forEach(visit);
  };
  return (/** @type {string} */ id) => {
    if (found.size === 0) for (const module of modules) visit(knownModule(module));
    return found.has(id);
  };
}

/** @param {string[]} modules */
function isPackageLoadedWith(...modules) {
  const isLoaded = isLoadedWith(...modules);
  return (/** @type {string} */ id) => id.includes("/node_modules/") && isLoaded(id);
}

/** @param {string} path */
function knownModule(path) {
  const id = fromRoot(`dist/${path}`);
  if (!imports.has(id)) throw new Error(`there is no module ${path}: name the one that has its place in the groups`);
  return id;
}

/**
 * Escapes all other characters. A source with one of them needs two bytes for each of its
 * characters as long as the process runs: 3.5 MB at idle.
 * @param {string} code
 */
function ascii(code) {
  if (/\\[\u0080-\uffff]|String\.raw`[^`]*[\u0080-\uffff]/.test(code)) throw new Error("a character cannot be escaped");
  return code.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param {import("rolldown").RolldownOutput["output"]} files */
function writeAscii(files) {
  for (const file of files) if ("code" in file) writeFileSync(fromRoot(`bundle/${file.fileName}`), ascii(file.code));
}

/** @param {string} name @param {string} source */
async function buildAlone(name, source) {
  const alone = await rolldown({
    input: { [name]: fromRoot(source) },
    platform: "node",
    resolve: { mainFields: ["module", "main"] },
  });
  const written = await alone.write({
    dir: fromRoot("bundle"),
    format: "esm",
    entryFileNames: "[name].js",
    comments: false,
  });
  await alone.close();
  writeAscii(written.output);
  return written.output;
}

/** The page for browsers: one script, one style sheet, the document and its icon. */
async function buildPage() {
  const page = await rolldown({
    input: { page: fromRoot("src/admin/page/main.tsx") },
    platform: "browser",
  });
  const written = await page.write({
    dir: fromRoot("bundle/page"),
    format: "esm",
    entryFileNames: "[name].js",
    minify: true,
    comments: false,
  });
  await page.close();
  for (const name of ["index.html", "icon.svg"])
    copyFileSync(fromRoot(`src/admin/page/${name}`), fromRoot(`bundle/page/${name}`));
  // The order counts: small screens override.
  const sheets = ["base", "frame", "panels", "forms", "content", "access", "small-screens"];
  const styles = sheets.map((name) => readFileSync(fromRoot(`src/admin/page/style/${name}.css`), "utf8"));
  writeFileSync(fromRoot("bundle/page/style.css"), styles.join("\n"));
  return written.output;
}

/**
 * @param {string} file
 * @param {Set<string>} copied
 */
function copyTypes(file, copied) {
  if (copied.has(file)) return;
  copied.add(file);
  const text = readFileSync(file, "utf8");
  const target = join(fromRoot("bundle/types"), relative(fromRoot("dist"), file));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  for (const [, path] of text.matchAll(/\bfrom "(\.[^"]+)\.ts"/g))
    copyTypes(join(dirname(file), `${path}.d.ts`), copied);
}

/**
 * The packages that these modules are of, by name.
 * @param {string[]} modules
 */
function packagesOf(modules) {
  const { packages: locked } = manifest("package-lock.json");
  const folders = modules.flatMap(
    (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll("\\", "/"))?.[0] ?? [],
  );
  const found = [...new Set(folders)].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const place = folder.slice(folder.indexOf("node_modules/"));
    return { name, version, license, folder, integrity: locked[place]?.integrity };
  });
  return found.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** @param {string} file */
function manifest(file) {
  return JSON.parse(readFileSync(fromRoot(file), "utf8"));
}

/**
 * The licences of the packages inside, which ask to be passed on.
 * @param {ReturnType<typeof packagesOf>} inside
 */
function licences(inside) {
  const texts = inside.map(({ name, version, license, folder }) => {
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}`;
  });
  return `Goblin's bundle contains these packages.\n\n${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
