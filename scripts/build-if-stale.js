// @ts-check
// Builds what `npm start` runs, unless that is newer than its sources. A clone has nothing built,
// and users of the package must not have to build it.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "bundle/goblin.js");
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).map((file) => join("src", file));
const newest = Math.max(
  ...[...sources, "package.json", "package-lock.json"].map((file) => statSync(join(root, file)).mtimeMs),
);

if (!existsSync(built) || statSync(built).mtimeMs < newest) {
  const { status } = spawnSync("npm", ["run", "build"], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exitCode = status ?? 1;
}
