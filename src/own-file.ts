/**
 * A file that belongs to the program. It lies beside the program's modules, or, in the single
 * executable (scripts/build-binary.js), inside of it: there the executable counts as the package's
 * folder, and `isSingleExecutable` is true.
 */
import { readFileSync } from "node:fs";
import { getRawAsset, isSea } from "node:sea";
import { pathToFileURL } from "node:url";

export const isSingleExecutable: boolean = isSea();

/** @throws if there is no such file */
export function ownFile(url: URL): Buffer {
  if (!isSingleExecutable) return readFileSync(url);
  const folder = `${pathToFileURL(process.execPath).href}/`;
  // What the executable holds is mapped read-only: the copy is the caller's.
  return Buffer.from(new Uint8Array(getRawAsset(url.href.slice(folder.length)) as ArrayBuffer));
}
