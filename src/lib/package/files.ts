/**
 * The files of Goblin's own package. In the single executable (scripts/build-binary.js) they are
 * inside the executable, which then counts as the package's folder.
 */
import { readFileSync } from "node:fs";
import { getRawAsset, isSea } from "node:sea";
import { pathToFileURL } from "node:url";

export const isSingleExecutable: boolean = isSea();

/** This module is below one of these folders, which are at the top of the package. */
const [packageFolder] = /^.*\/(?=(?:bundle|dist|src)\/)/.exec(import.meta.url)!;

/** Returns the address of a file by its path in the package: `bundle/page/index.html`. */
export function packageUrl(path: string): URL {
  return new URL(path, packageFolder);
}

/** @throws if there is no such file */
export function readPackageFile(path: string): Buffer {
  const url = packageUrl(path);
  if (!isSingleExecutable) return readFileSync(url);
  const folder = `${pathToFileURL(process.execPath).href}/`;
  // The executable's assets are mapped read-only: the caller gets a copy.
  return Buffer.from(new Uint8Array(getRawAsset(url.href.slice(folder.length)) as ArrayBuffer));
}
