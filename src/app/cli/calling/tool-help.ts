/** A tool's schema as the help of a command: `goblin call <tool> --help`. Pure. */

import { clean, cleanLines } from "../../../lib/text/clean.ts";
import {
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typeName,
  typeOf,
} from "../../../mcp/protocol/schema-shape.ts";

export interface DescribedTool {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
}

interface Row {
  readonly name: string;
  readonly what: string;
  readonly about: string;
}

/** Objects in objects are shown this deep. */
const DEPTH = 3;
const MAX_NAME_WIDTH = 28;

export function toolHelp({ name, title, description, inputSchema, outputSchema }: DescribedTool): string {
  const root = resolveSchema(inputSchema, inputSchema);
  const required = requiredOf(root);
  const ordered = [...propertiesOf(root)].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const usage = ordered.map(([key, value]) => {
    const pair = `${key}=<${typeName(resolveSchema(value, inputSchema), inputSchema)}>`;
    return required.has(key) ? pair : `[${pair}]`;
  });
  const about = typeof description === "string" ? description : typeof title === "string" ? title : "";
  const lines = [clean(`Usage: goblin call ${[name, ...usage].join(" ")}`)];
  if (about.trim() !== "") lines.push("", ...cleanLines(about.trim()));
  const inputs = rowsOf(root, inputSchema, 0);
  lines.push("", ...(inputs.length === 0 ? ["It takes no arguments."] : ["Arguments:", ...table(inputs)]));
  const output = outputSchema && resolveSchema(outputSchema, outputSchema);
  const outputs = output ? rowsOf(output, outputSchema, 0) : [];
  if (outputs.length > 0) lines.push("", "Result (for --pick):", ...table(outputs));
  lines.push("", "key=text  key:=json  key=@file  key=@- (stdin); goblin call --help shows the options.");
  return lines.join("\n");
}

function rowsOf(schema: JsonSchema, root: JsonSchema, depth: number): Row[] {
  const required = requiredOf(schema);
  return propertiesOf(schema).flatMap(([key, value]) => {
    const property = resolveSchema(value, root);
    const notes = [typeName(property, root)];
    if (required.has(key)) notes.push("required");
    if (property["default"] !== undefined) notes.push(`default ${JSON.stringify(property["default"])}`);
    const { description } = property;
    const row = {
      name: `${"  ".repeat(depth)}${key}`,
      what: notes.join(", "),
      about: typeof description === "string" ? description.trim().replace(/\s+/g, " ") : "",
    };
    const inner = typeOf(property) === "array" ? resolveSchema(property["items"], root) : property;
    return [row, ...(depth + 1 < DEPTH ? rowsOf(inner, root, depth + 1) : [])];
  });
}

function table(rows: readonly Row[]): string[] {
  const width = Math.min(MAX_NAME_WIDTH, Math.max(...rows.map(({ name }) => name.length)));
  return rows.map(({ name, what, about }) =>
    clean(`  ${name.padEnd(width)}  ${what}${about === "" ? "" : `  – ${about}`}`),
  );
}
