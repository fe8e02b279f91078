/** The version in package.json, which is the only place that states it. */
import { ownFile } from "./own-file.ts";

const manifest = JSON.parse(ownFile(new URL("../package.json", import.meta.url)).toString()) as { version: string };

export const version = manifest.version;
