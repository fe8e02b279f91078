/**
 * Saves a part of a result to a file in the current folder.
 *
 * Invariant: no file is ever overwritten, and the name is made of safe characters only.
 */
import { writeFileSync } from "node:fs";
import { fileExtension } from "../../lib/text/file-extension.ts";
import type { Block } from "./content/blocks.ts";

/** Returns the file's name. */
export function saveBlock(block: Block, about: string): string {
  const stem =
    about
      .replace(/[^\w.-]+/g, "_")
      .replace(/^[._]+|_+$/g, "")
      .slice(-60) || "result";
  const [ending, data] = contentOf(block);
  const base = stem.endsWith(`.${ending}`) ? stem.slice(0, -ending.length - 1) : stem;
  for (let number = 0; ; number += 1) {
    const file = `${base}${number === 0 ? "" : `-${number}`}.${ending}`;
    try {
      // wx: fails if the file exists.
      writeFileSync(file, data, { flag: "wx" });
      return file;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST" || number > 1000) throw error;
    }
  }
}

function contentOf(block: Block): [ending: string, data: string | Buffer] {
  switch (block.kind) {
    case "text":
      return ["txt", block.text];
    case "json":
      return ["json", `${JSON.stringify(block.value, null, 2)}\n`];
    case "media":
      return [fileExtension(block.mimeType), Buffer.from(block.data, "base64")];
  }
}
