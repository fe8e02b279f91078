/**
 * Writes every file that is generated from the source and has changed. Runs on the build's output,
 * as the last step of `npm run build`. To add a file, add a line to `files`; a test compares each
 * with what it should be.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../dist/admin/api/openapi.js";
import { configJsonSchema } from "../dist/config/schema/json-schema.js";
import { configObjectSource } from "../dist/config/schema/object-source.js";
import { configReference } from "../dist/config/schema/reference.js";
import { version } from "../dist/lib/package/version.js";

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

const files = {
  "docs/configuration.md": () => configReference(),
  "docs/openapi.json": () => json(openApiDocument({ version })),
  "src/config/schema/config-object.ts": () => configObjectSource(),
  "schema/goblin.schema.json": () => json(configJsonSchema()),
};

for (const [path, content] of Object.entries(files)) {
  const target = new URL(`../${path}`, import.meta.url);
  const text = content();
  // A source that is written anew looks newer than the build, and `npm start` would build again.
  if (existsSync(target) && readFileSync(target, "utf8") === text) continue;
  mkdirSync(new URL(".", target), { recursive: true });
  writeFileSync(target, text);
}
