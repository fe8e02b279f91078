/**
 * Formats a tool's result as text, and then as lines that scroll.
 *
 * Invariant: any result can be shown, even of an unknown kind. Binary content is described, not
 * printed.
 */

import { isRecord } from "../../structures/record.ts";
import { cleanLines } from "../../text/clean.ts";
import { formatBytes } from "../../text/format.ts";
import { wrap } from "../../text/width.ts";
import type { Layout } from "../state/layout.ts";
import { type Line, line } from "../text/line.ts";

/** Returns the number of rows for the result below its heading. */
export function resultHeight(layout: Layout): number {
  return layout.body - 2;
}

let last: { readonly text: string; readonly columns: number; readonly lines: readonly Line[] } | undefined;

/** Cached, because a result can be large and every frame needs it. */
export function resultLines(text: string, columns: number): readonly Line[] {
  if (last === undefined || last.text !== text || last.columns !== columns) {
    const lines = cleanLines(text).flatMap((one) => wrap(one, columns - 3));
    last = { text, columns, lines: lines.map((one) => line(one)) };
  }
  return last.lines;
}

export function resultText(result: Record<string, unknown>): string {
  const content = Array.isArray(result.content) ? result.content.map(blockText) : [];
  const structured = result.structuredContent;
  const parts = structured === undefined ? content : [...content, `structured content:\n${show(structured)}`];
  return parts.length > 0 ? parts.join("\n\n") : show(result);
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return show(block);
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return text;
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return `[${type}, ${mimeType ?? "unknown type"}, ${formatBytes(Math.floor((data.length * 3) / 4))}]`;
  }
  if (type === "resource_link") return `[resource link] ${block.uri}${block.name ? ` (${block.name})` : ""}`;
  if (type === "resource" && isRecord(block.resource)) return embedded(block.resource);
  return show(block);
}

function embedded(resource: Record<string, unknown>): string {
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === "string") return `[resource] ${uri}\n${text}`;
  if (typeof blob !== "string") return show(resource);
  return `[resource] ${uri} (${mimeType ?? "unknown type"}, ${formatBytes(Math.floor((blob.length * 3) / 4))})`;
}

function show(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "nothing";
}
