/**
 * Adapts tools whose structured content need not be an object, for clients whose version requires
 * one. It puts the content under `result`, and the listed schema says so. Otherwise, a strict
 * client would reject the whole list because of one tool.
 *
 * Only tools of servers whose version allows these schemas are changed. All others pass unchanged.
 */

import type { Directory } from "../../core/routing/directory.ts";
import { elementSpans, memberSpan, setMember } from "../../lib/json/json-text.ts";
import { eraOf } from "../../mcp/protocol/envelope.ts";
import { type Raw, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Viewer } from "../../mcp/protocol/principal.ts";

/** What a client's tools return. */
export interface Outputs {
  readonly directory: Pick<Directory, "outputOf">;
  readonly viewer: Viewer;
}

/** Each page is built once per catalog, so its wrapped form is cached too. */
const pages = new WeakMap<Buffer, Raw>();

export function wrapsOutput({ directory, viewer }: Outputs, tool: unknown): boolean {
  const output = typeof tool === "string" ? directory.outputOf(tool, viewer) : undefined;
  if (!output || eraOf(output.version) === "legacy") return false;
  const { schema } = output;
  return typeof schema === "object" && schema !== null && (schema as { type?: unknown }).type !== "object";
}

/** Returns a page of `tools/list` in which every output schema describes an object. */
export function withObjectOutputs(raw: Raw, outputs: Outputs): Raw {
  // Looks in the cache first: searching megabytes for a word costs a good part of sending them.
  const known = typeof raw === "string" ? undefined : pages.get(raw);
  if (known !== undefined) return known;
  const wrapped = raw.includes('"outputSchema"') ? wrapSchemas(rawText(raw), outputs) : undefined;
  if (typeof raw === "string") return wrapped ?? raw;
  const page = wrapped === undefined ? raw : Buffer.from(wrapped);
  pages.set(raw, page);
  return page;
}

/** Returns undefined if nothing needs to change. */
function wrapSchemas(text: string, outputs: Outputs): string | undefined {
  const list = memberSpan(text, 0, "tools");
  if (!list) return undefined;
  let changed = false;
  const tools = elementSpans(text, list.start).map(({ start, end }) => {
    const tool = text.slice(start, end);
    if (!tool.includes('"outputSchema"')) return tool;
    const { name, outputSchema } = JSON.parse(tool) as Record<string, unknown>;
    if (!wrapsOutput(outputs, name)) return tool;
    changed = true;
    return setMember(tool, "outputSchema", JSON.stringify(underResult(outputSchema)));
  });
  return changed ? `${text.slice(0, list.start)}[${tools.join(",")}]${text.slice(list.end)}` : undefined;
}

function underResult(schema: unknown): Record<string, unknown> {
  return { type: "object", properties: { result: moveReferences(schema) }, required: ["result"] };
}

/** Members whose values are data, where `$ref` has no special meaning. */
const DATA = new Set(["const", "enum", "default", "examples"]);
/** Members that hold schemas under names chosen by the author. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** Moves references to the schema's root to its new place. */
function moveReferences(node: unknown, isByName = false): unknown {
  if (Array.isArray(node)) return node.map((element) => moveReferences(element));
  if (typeof node !== "object" || node === null) return node;
  const moved = Object.entries(node).map(([key, value]): [string, unknown] => {
    if (isByName) return [key, moveReferences(value)];
    if (DATA.has(key)) return [key, value];
    const isRooted = (key === "$ref" || key === "$dynamicRef") && typeof value === "string" && /^#(\/|$)/.test(value);
    return [key, isRooted ? `#/properties/result${value.slice(1)}` : moveReferences(value, BY_NAME.has(key))];
  });
  return Object.fromEntries(moved);
}
