// @ts-check
// Makes Goblin a single executable: Node.js with the bundle inside (docs/install.md). It is for the
// system that builds it. `--node <file>` takes another Node.js, 22.15 or later; `--out <file>`
// names the result. Run `npm run build` before, as `npm run build:binary` does.

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { inject } from "postject";
import { nodeRelease, RELEASES } from "./node-release.js";

/** Node.js looks for its resource by these names. */
const RESOURCE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const { values } = parseArgs({ options: { node: { type: "string" }, out: { type: "string" } } });
const root = fileURLToPath(new URL("..", import.meta.url));
const out = resolve(values.out ?? join(root, "build", process.platform === "win32" ? "goblin.exe" : "goblin"));
const node = values.node ?? nodeRelease(RELEASES[24]);

const folder = mkdtempSync(join(tmpdir(), "goblin-binary-"));
try {
  const blob = join(folder, "blob");
  const settings = {
    main: join(root, "scripts/binary/boot.cjs"),
    output: blob,
    disableExperimentalSEAWarning: true,
    assets: Object.fromEntries(assets().map((file) => [file, join(root, file)])),
  };
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
  execFileSync(node, ["--experimental-sea-config", join(folder, "settings.json")], { stdio: "pipe" });
  mkdirSync(dirname(out), { recursive: true });
  rmSync(out, { force: true });
  copyFileSync(node, out);
  chmodSync(out, 0o755);
  if (process.platform === "linux") spawnSync("strip", ["--strip-all", out]);
  if (process.platform === "darwin") execFileSync("codesign", ["--remove-signature", out]);
  // LIEF, which it uses, warns of each section that has no name.
  console.warn = () => {};
  await inject(out, RESOURCE, readFileSync(blob), {
    sentinelFuse: FUSE,
    ...(process.platform === "darwin" && { machoSegmentName: "NODE_SEA" }),
  });
  if (process.platform === "darwin") execFileSync("codesign", ["--sign", "-", out]);
} finally {
  rmSync(folder, { recursive: true });
}
const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
console.log(`${out}: ${Math.round(statSync(out).size / 1e6)} MB, with Node.js ${version}`);

/** What the command reads of the package: its programs, the page's files and the manifest. */
function assets() {
  const bundle = readdirSync(join(root, "bundle"), { recursive: true, encoding: "utf8" })
    .map((file) => `bundle/${file.replaceAll("\\", "/")}`)
    .filter((file) => !file.startsWith("bundle/types") && statSync(join(root, file)).isFile());
  return ["bin/goblin.js", "package.json", ...bundle];
}
