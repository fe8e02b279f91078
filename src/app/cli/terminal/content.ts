/**
 * Prints the content of a tool, prompt or resource: text as text, structured content as JSON.
 * Images, audio and other bytes are saved if a folder is given; a line on stderr names the file. A
 * file is never overwritten.
 *
 * Invariant: nothing printed can control the terminal. In a pipe, text is data and stays unchanged;
 * everything else is sanitized there too.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { clean, cleanLines } from "../../../lib/text/clean.ts";
import { fileExtension } from "../../../lib/text/file-extension.ts";
import type { Fields } from "../gateway/mcp-client.ts";
import { printJson } from "./table.ts";

export interface PrintOptions {
  /** The folder for files; undefined: nothing is saved. */
  readonly out: string | undefined;
  /** The base name of saved files. */
  readonly name: string;
}

/**
 * Prints a tool's result once: servers repeat structured content as text for clients that do not
 * support it.
 */
export function printToolResult(result: Fields, options: PrintOptions): void {
  const structured = result["structuredContent"];
  const isText = (block: Fields): boolean => block["type"] === "text";
  const blocks = blocksOf(result["content"]).filter(
    (block) => !isText(block) || !isSameJson(block["text"], structured),
  );
  for (const block of blocks) printBlock(block, options);
  if (structured !== undefined && !blocks.some(isText)) printJson(structured);
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
      return console.log(clean(`${String(block["uri"])} ${String(block["name"] ?? "")}`.trim()));
    case "resource":
      return printContents((block["resource"] ?? {}) as Fields, options);
    default:
      return printJson(block);
  }
}

/** Prints one content item of a resource. */
export function printContents({ text, blob, mimeType }: Fields, options: PrintOptions): void {
  if (typeof text === "string") printText(text);
  else if (typeof blob === "string") save(blob, String(mimeType ?? ""), options);
}

export function blocksOf(value: unknown): Fields[] {
  if (Array.isArray(value)) return value as Fields[];
  return typeof value === "object" && value !== null ? [value as Fields] : [];
}

export function printText(text: string): void {
  const shown = process.stdout.isTTY ? cleanLines(text).join("\n") : text;
  process.stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

function save(base64: string, mimeType: string, { out, name }: PrintOptions): void {
  const bytes = Buffer.from(base64, "base64");
  const what = `${mimeType || "content"}, ${bytes.length} bytes`;
  if (out === undefined) return console.error(clean(`${what}: not saved; give a folder with --out`));
  const stem = name.replace(/[^\w.-]+/g, "_").slice(0, 80) || "content";
  const extension = fileExtension(mimeType);
  mkdirSync(out, { recursive: true });
  for (let n = 1; ; n++) {
    const path = join(out, `${stem}-${n}.${extension}`);
    try {
      writeFileSync(path, bytes, { flag: "wx" });
    } catch (error) {
      if ((error as { code?: string }).code === "EEXIST") continue;
      throw error;
    }
    console.error(clean(`saved ${what}: ${path}`));
    return;
  }
}

function isSameJson(text: unknown, value: unknown): boolean {
  if (typeof text !== "string" || value === undefined) return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
