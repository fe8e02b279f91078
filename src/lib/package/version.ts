/** The version in package.json, the only place that states it. */
import { readPackageFile } from "./files.ts";

const manifest = JSON.parse(readPackageFile("package.json").toString()) as { version: string };

export const version = manifest.version;
