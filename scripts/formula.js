// @ts-check
// Prints the Homebrew formula for a packed package: `node scripts/formula.js <tarball> <its URL>`.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [tarball, url] = process.argv.slice(2);
if (tarball === undefined || !url?.startsWith("https://")) {
  console.error("usage: node scripts/formula.js <goblin-mcp-x.y.z.tgz> <the https URL that it is published at>");
  process.exit(2);
}
const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex");
const text = readFileSync(new URL("../deploy/homebrew/goblin.rb", import.meta.url), "utf8");
process.stdout.write(
  text
    .replace(/^#.*\n/gm, "")
    .replace("@URL@", () => url)
    .replace("@SHA256@", digest),
);
