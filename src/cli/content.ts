/**
 * Prints what a tool, a prompt or a resource returned: text as text, structured content as JSON,
 * and images, audio and other bytes as files, with a line on stderr that says where. A file that
 * exists is never overwritten. On a terminal, text cannot drive it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { cleanLines } from "../text/clean.ts";
import type { Fields } from "./mcp-client.ts";

export interface PrintOptions {
  /** The folder for files. */
  readonly out: string;
  /** What files are named after. */
  readonly name: string;
}

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "application/zip": "zip",
  "text/plain": "txt",
  "text/html": "html",
  "text/markdown": "md",
};

/** The result of a tool. */
export function printToolResult(result: Fields, options: PrintOptions): void {
  const structured = result["structuredContent"];
  for (const block of blocksOf(result["content"])) {
    // Servers repeat structured content as text, for clients that do not know it.
    if (structured !== undefined && block["type"] === "text" && isSameJson(block["text"], structured)) continue;
    printBlock(block, options);
  }
  if (structured !== undefined) console.log(JSON.stringify(structured, null, 2));
}

export function printBlock(block: Fields, options: PrintOptions): void {
  const { type, text, data, mimeType } = block;
  switch (type) {
    case "text":
      return printText(String(text ?? ""));
    case "image":
    case "audio":
      return save(String(data ?? ""), String(mimeType ?? ""), options);
    case "resource_link":
      return printText(`${String(block["uri"])} ${String(block["name"] ?? "")}`.trim());
    case "resource":
      return printContents((block["resource"] ?? {}) as Fields, options);
    default:
      return printText(JSON.stringify(block, null, 2));
  }
}

/** One of the contents of a resource. */
export function printContents({ text, blob, mimeType }: Fields, options: PrintOptions): void {
  if (typeof text === "string") printText(text);
  else if (typeof blob === "string") save(blob, String(mimeType ?? ""), options);
}

export function blocksOf(value: unknown): Fields[] {
  if (Array.isArray(value)) return value as Fields[];
  return typeof value === "object" && value !== null ? [value as Fields] : [];
}

function printText(text: string): void {
  const shown = process.stdout.isTTY ? cleanLines(text).join("\n") : text;
  process.stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

function save(base64: string, mimeType: string, { out, name }: PrintOptions): void {
  const bytes = Buffer.from(base64, "base64");
  const stem = name.replace(/[^\w.-]+/g, "_").slice(0, 80) || "content";
  const extension = extensions[mimeType.split(";", 1)[0]!.trim().toLowerCase()] ?? "bin";
  mkdirSync(out, { recursive: true });
  for (let n = 1; ; n++) {
    const path = join(out, `${stem}-${n}.${extension}`);
    try {
      writeFileSync(path, bytes, { flag: "wx" });
    } catch (error) {
      if ((error as { code?: string }).code === "EEXIST") continue;
      throw error;
    }
    console.error(`saved ${mimeType || "bytes"}, ${bytes.length} bytes: ${path}`);
    return;
  }
}

function isSameJson(text: unknown, value: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
