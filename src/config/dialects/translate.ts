/**
 * Translates another program's config file into Goblin's form, as a tree.
 *
 * Invariant: everything that reads a config (the parser, and the outline that a person sees before
 * trusting it) reads the translated tree, so both see the same servers. Its nodes keep their places
 * in the text, and problems name the keys as they were written.
 */
import type { Node } from "jsonc-parser";
import { type KeyPath, noteWritten } from "../problems/locate.ts";
import { propertiesOf } from "../reading/document.ts";
import { keysAt } from "../schema/shape.ts";
import { type Dialect, hasServers, objectAt, recognise } from "./dialects.ts";
import { aliasOf, foreignKey, foreignTypes } from "./foreign-keys.ts";

export interface Translation {
  readonly root: Node;
  readonly dialect: Dialect | undefined;
  /** Keys that contradict each other. */
  readonly problems: readonly { readonly path: KeyPath; readonly message: string }[];
}

type Problems = { path: KeyPath; message: string }[];
/** A key of an entry under its name here. */
interface Field {
  readonly name: string;
  readonly key: Node;
  readonly value: Node;
  /** The written steps, if they differ. */
  readonly written?: KeyPath;
}

export function translate(root: Node, file: string): Translation {
  const dialect = recognise(root, file);
  const problems: Problems = [];
  const fields = sections(root, dialect).map((field): Field => {
    const { name, value } = field;
    return name === "mcpServers" || name === "servers" ? { ...field, value: servers(value, name, problems) } : field;
  });
  return { root: object(root, fields), dialect, problems };
}

/** Returns the file's sections, the servers under `mcpServers`. */
function sections(root: Node, dialect: Dialect | undefined): Field[] {
  const fields = fieldsOf(root);
  const keys = new Set(fields.map(({ name }) => name));
  const section = dialect?.section;
  if (section === undefined || hasServers(keys)) return fields;
  const found = objectAt(root, section);
  if (found === undefined) return fields;
  const [first] = section;
  if (first === undefined) {
    const isEntry = ({ name }: Field): boolean => !/^[$_/]/.test(name);
    const entries = object(root, fields.filter(isEntry));
    return [
      ...fields.filter((field) => !isEntry(field)),
      { name: "mcpServers", key: root, value: entries, written: [] },
    ];
  }
  return fields.map((field) =>
    field.name === first ? { name: "mcpServers", key: field.key, value: found, written: section } : field,
  );
}

/** Returns the servers by id. */
function servers(node: Node, section: string, problems: Problems): Node {
  const fields = node.type === "array" ? listed(node) : node.type === "object" ? fieldsOf(node) : undefined;
  if (fields === undefined && node.type === "array") {
    problems.push({ path: [section], message: 'a list of servers needs a "name" in each of them' });
  }
  if (fields === undefined) return node;
  return object(
    node,
    fields.map((field) => ({ ...field, value: entry(field.value, [section, field.name], problems) })),
  );
}

/** Returns a list's servers by the names in their entries; undefined if one has none. */
function listed(list: Node): Field[] | undefined {
  const fields = (list.children ?? []).flatMap((value, i): Field[] => {
    const name = propertiesOf(value).find(([key]) => key === "name")?.[2];
    return name?.type === "string" ? [{ name: String(name.value), key: name, value, written: [i] }] : [];
  });
  return fields.length === list.children?.length ? fields : undefined;
}

function entry(node: Node, path: KeyPath, problems: Problems): Node {
  if (node.type !== "object") return node;
  const known = new Set(keysAt(path));
  const fields = fieldsOf(node)
    .filter(({ name, value }) => !isUnset(name, value, known))
    .flatMap(flattened)
    .flatMap(renamed);
  const first = new Map<string, Field>();
  for (const field of fields) {
    const other = first.get(field.name);
    if (!other) first.set(field.name, field);
    // The same key twice is reported where all duplicates are.
    else if (nameOf(other) !== nameOf(field) && (other.value.value === undefined || !isSame(other, field))) {
      const message = `${nameOf(other)} and ${nameOf(field)} mean the same; keep one`;
      problems.push({ path: [...path, field.name], message });
    }
  }
  return object(
    node,
    fields.filter((field) => nameOf(first.get(field.name)!) === nameOf(field)),
  );
}

function isSame(one: Field, other: Field): boolean {
  return one.value.value === other.value.value;
}

/** Null says as much as no key; so does `false` for what Goblin does not do anyway. */
function isUnset(key: string, { type, value }: Node, known: ReadonlySet<string>): boolean {
  const isForeign = aliasOf(key) === undefined && foreignKey(["mcpServers", "", key]) !== undefined;
  if (type === "null") return known.has(key) || isForeign || aliasOf(key) !== undefined;
  return value === false && isForeign;
}

/** Takes apart a command with its arguments in one value, and a transport with its own keys. */
function flattened(field: Field, _i: number, all: readonly Field[]): Field[] {
  const { name, key, value } = field;
  if (name === "command" && value.type === "array" && value.children?.length) {
    const [command, ...args] = value.children;
    const program: Field = { name, key, value: command!, written: [name, 0] };
    if (args.length === 0 && all.some((other) => other.name === "args")) return [program];
    return [program, { name: "args", key, value: { ...value, children: args }, written: [name] }];
  }
  if ((name === "command" || name === "transport") && value.type === "object") {
    return fieldsOf(value).map((inner) => ({
      ...inner,
      name: inner.name === "path" ? "command" : inner.name,
      written: [name, inner.name],
    }));
  }
  return [field];
}

function renamed(field: Field): Field[] {
  const name = aliasOf(field.name) ?? field.name;
  const steps = field.written ?? (name === field.name ? undefined : [field.name]);
  const known = { ...field, name, ...(steps && { written: steps }) };
  if (name === "tools" && field.value.type === "array") return [{ ...known, value: allowList(field) }];
  const { value } = field.value;
  if (name === "auth" && value === "oauth") return [{ ...known, value: login(field) }];
  if (name !== "type" || typeof value !== "string" || !foreignTypes.has(value)) return [known];
  const type = foreignTypes.get(value);
  return type === undefined ? [] : [{ ...known, value: { ...field.value, value: type } }];
}

/** Returns `{ "allow": […] }` for a list of tools. */
function allowList({ key, value }: Field): Node {
  return object(value, [{ name: "allow", key, value, written: [] }]);
}

/** Returns `{ "type": "oauth" }` for the word alone, as FastMCP writes it. */
function login({ key, value }: Field): Node {
  return object(value, [{ name: "type", key, value, written: [] }]);
}

function nameOf({ name, written }: Field): string {
  return String(written?.[0] ?? name);
}

function fieldsOf(node: Node): Field[] {
  return propertiesOf(node).map(([name, key, value]) => ({ name, key, value }));
}

/** Returns an object with these fields, at the place of `from`. */
function object(from: Node, fields: readonly Field[]): Node {
  const children = fields.map(({ name, key, value, written }) => {
    const parts: Node[] = [];
    const property: Node = { type: "property", offset: key.offset, length: key.length, children: parts };
    const { offset, length } = key;
    parts.push({ type: "string", value: name, offset, length, parent: property }, { ...value, parent: property });
    if (written) noteWritten(property, written);
    return property;
  });
  return { type: "object", offset: from.offset, length: from.length, children };
}
