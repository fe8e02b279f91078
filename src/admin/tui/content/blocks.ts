/**
 * A result as blocks that can be shown: text, JSON that folds, binary content that can be saved.
 *
 * Invariant: any result becomes blocks, even of an unknown kind. Nothing is shown twice: structured
 * content that only repeats the text is left out.
 */
import { isRecord } from "../../../lib/structures/record.ts";

export type Block =
  | { readonly kind: "text"; readonly title?: string; readonly text: string }
  | { readonly kind: "json"; readonly title?: string; readonly value: unknown }
  | {
      readonly kind: "media";
      readonly title?: string;
      readonly mimeType: string;
      /** Base64. */
      readonly data: string;
    };

/** Longer texts are not tried as JSON. */
const longestJson = 2_000_000;

export function resultBlocks(result: Record<string, unknown>): Block[] {
  if (Array.isArray(result["contents"])) return result["contents"].map(resourceBlock);
  if (Array.isArray(result["messages"])) return promptBlocks(result);
  const content = Array.isArray(result["content"]) ? result["content"].map((one: unknown) => contentBlock(one)) : [];
  const { structuredContent } = result;
  const repeats = content.some((block) => block.kind === "json" && same(block.value, structuredContent));
  const structured: Block[] =
    structuredContent === undefined || repeats
      ? []
      : [{ kind: "json", title: content.length > 0 ? "structured content" : "", value: structuredContent }];
  const blocks = [...content, ...structured];
  return blocks.length > 0 ? blocks : [{ kind: "json", value: result }];
}

function promptBlocks({ description, messages }: Record<string, unknown>): Block[] {
  const said = (messages as unknown[]).map((message) => {
    const { role, content } = isRecord(message) ? message : {};
    return { ...contentBlock(content), title: String(role ?? "message") };
  });
  return typeof description === "string" && description !== "" ? [{ kind: "text", text: description }, ...said] : said;
}

function contentBlock(block: unknown): Block {
  if (!isRecord(block)) return { kind: "json", value: block };
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return textBlock(text);
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { kind: "media", title: type, mimeType: String(mimeType ?? "unknown type"), data };
  }
  if (type === "resource_link") {
    return {
      kind: "text",
      title: "resource link",
      text: `${String(block["uri"])}${block["name"] ? ` (${String(block["name"])})` : ""}`,
    };
  }
  if (type === "resource") return resourceBlock(block["resource"]);
  return { kind: "json", value: block };
}

function resourceBlock(resource: unknown): Block {
  if (!isRecord(resource)) return { kind: "json", value: resource };
  const { uri, text, blob, mimeType } = resource;
  const title = String(uri ?? "");
  if (typeof text === "string") return textBlock(text, title);
  if (typeof blob === "string")
    return { kind: "media", title, mimeType: String(mimeType ?? "unknown type"), data: blob };
  return { kind: "json", title, value: resource };
}

/** Text that is a JSON object or array folds like one. */
export function textBlock(text: string, title?: string): Block {
  const named = title === undefined ? {} : { title };
  if (/^\s*[[{]/.test(text) && text.length <= longestJson) {
    try {
      return { kind: "json", ...named, value: JSON.parse(text) };
    } catch {
      // It only looks like JSON.
    }
  }
  return { kind: "text", ...named, text };
}

function same(a: unknown, b: unknown): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}
