/**
 * `config-object.ts`, written from the config's JSON Schema: the types of a config that is given as
 * an object, with every key's description where an editor shows it. What must always hold: the
 * types need no package, so that users of the library need none either.
 */
import { ownKeys, type Schema, type Section } from "./json-schema.ts";

const HEADER = `/**
 * The config as an object: what may stand in goblin.json. Generated from the schema by
 * \`npm run build\`; do not edit.
 */
// biome-ignore-all format: generated
`;
const WIDTH = 100;

/** The file as it should be. */
export function configObjectSource(): string {
  const { mcpServers, servers, ...rest } = ownKeys().properties;
  const entry = mcpServers?.additionalProperties as Section;
  const sections = Object.entries(rest).filter((pair): pair is [string, Section] => isSection(pair[1]));
  const named = new Map<Schema | undefined, string>(sections.map(([key, section]) => [section, sectionName(key)]));
  const byId = "Readonly<Record<string, ServerObject>>";
  for (const schema of [mcpServers, servers]) named.set(schema, byId);
  const parts = [
    HEADER,
    declared(
      "ConfigObject",
      "A config as it would stand in goblin.json.",
      membersOf(ownKeysWith(rest, { mcpServers, servers }), named),
    ),
    declared("ServerObject", "A server's entry under `mcpServers`.", membersOf(entry, named)),
    ...sections.map(([key, section]) =>
      declared(sectionName(key), section.description ?? "", membersOf(section, named)),
    ),
  ];
  return parts.join("\n");
}

function ownKeysWith(rest: Section["properties"], servers: Readonly<Record<string, Schema | undefined>>): Section {
  return { properties: { ...servers, ...rest } as Section["properties"] };
}

function sectionName(key: string): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}Settings`;
}

function declared(name: string, description: string, members: string): string {
  return `${comment(description, "")}export interface ${name} {\n${members}}\n`;
}

function membersOf(
  { properties, required }: Section,
  named: ReadonlyMap<Schema | undefined, string>,
  indent = "  ",
): string {
  return Object.entries(properties)
    .map(([key, schema]) => {
      const isNeeded = required?.includes(key) === true;
      const type = named.get(schema) ?? typeOf(schema, indent);
      const member = `${indent}readonly ${key}${isNeeded ? "" : "?"}: ${type}${isNeeded ? "" : " | undefined"};\n`;
      return comment(noteOn(schema), indent) + member;
    })
    .join("");
}

function noteOn({ description = "", default: value }: Schema): string {
  const isPlain = value !== undefined && (typeof value !== "object" || value === null);
  return isPlain ? `${description} Default ${JSON.stringify(value)}.`.trimStart() : description;
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((option) => typeOf(option, indent)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `readonly ${bracketed(schema.items ? typeOf(schema.items, indent) : "unknown")}[]`;
    case "object":
      return objectType(schema, indent);
    default:
      return "unknown";
  }
}

function objectType(schema: Schema, indent: string): string {
  if (!isSection(schema)) {
    const { additionalProperties: value } = schema;
    return `Readonly<Record<string, ${value ? typeOf(value, indent) : "unknown"}>>`;
  }
  const open = schema.additionalProperties ? `${indent}  readonly [key: string]: unknown;\n` : "";
  return `{\n${membersOf(schema, new Map(), `${indent}  `)}${open}${indent}}`;
}

function bracketed(type: string): string {
  return type.includes(" | ") ? `(${type})` : type;
}

function isSection(schema: Schema): schema is Section {
  return schema.properties !== undefined;
}

function comment(note: string, indent: string): string {
  if (note === "") return "";
  const single = `${indent}/** ${note} */`;
  if (single.length <= WIDTH) return `${single}\n`;
  const lines = wrapped(note, WIDTH - indent.length - 3);
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.replaceAll("*/", "* /").split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
