/**
 * Formats a result as plain text, for the clipboard and for files.
 *
 * Invariant: any result can be shown, even of an unknown kind. Binary content is described, not
 * printed.
 */

import { formatBytes } from "../../../lib/text/format.ts";
import type { Block } from "./blocks.ts";

export function blocksText(blocks: readonly Block[]): string {
  return blocks.map(blockText).join("\n\n");
}

function blockText(block: Block): string {
  const title = block.title ? `${block.title}:\n` : "";
  switch (block.kind) {
    case "text":
      return `${title}${block.text}`;
    case "json":
      return `${title}${JSON.stringify(block.value, null, 2) ?? "nothing"}`;
    case "media":
      return `[${block.title ? `${block.title}, ` : ""}${block.mimeType}, ${formatBytes(Math.floor((block.data.length * 3) / 4))}]`;
  }
}
