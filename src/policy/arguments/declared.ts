/**
 * Compares a call's arguments with the names and types that the tool's schema declares, at every
 * depth. A server that ignores case reads `Owner` as the declared `owner`, and one that converts
 * types reads `"true"` as the declared boolean; a condition does neither.
 *
 * Invariant: a schema is a server's text. One that refers to itself ends, because the arguments do.
 */
import { foldWords } from "../../lib/json/fold-key.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { AmbiguousArguments, type ExactValue, Members, misspelled } from "../conditions/exact-json.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema that branches further is not followed further. */
const MAX_SCHEMAS = 100;
const BRANCHES = ["allOf", "anyOf", "oneOf"];
const CONDITIONS = ["if", "then", "else"];

/** Levels of references and branches in which a type is searched. */
const MAX_DEPTH = 20;

/** Notes in each object what the schema declares there. @throws AmbiguousArguments */
export function checkDeclared(args: Members, schema: unknown): void {
  check(args, new Place([schema], schema), "arguments");
}

function check(value: ExactValue, place: Place, name: string): void {
  const { types } = place;
  // Null stands for a missing argument.
  if (types && value !== null && !types.has(typeOf(value)))
    throw new AmbiguousArguments(`"${name}" must be of the type ${[...types].join(" or ")}`);
  if (Array.isArray(value)) {
    const { elements } = place;
    if (elements) for (const element of value) check(element, elements, name);
    return;
  }
  if (!(value instanceof Members)) return;
  const { names } = place;
  if (names.size === 0) return;
  value.declared = names;
  for (const [key, inner] of value) {
    if (names.has(key)) check(inner, place.below(key), key);
    else {
      const declared = place.declaredAs(key);
      if (declared !== undefined) throw misspelled(key, declared);
    }
  }
}

/** A place in the arguments: all schemas that hold there. */
class Place {
  readonly #root: unknown;
  readonly #schemas: readonly Schema[];
  readonly #below = new Map<string, Place>();
  readonly names: ReadonlySet<string>;
  /** The types that a value can have here; undefined if the schema leaves that open. */
  readonly types: ReadonlySet<string> | undefined;
  #forms: ReadonlyMap<string, string> | undefined;
  #elements: Place | undefined;

  constructor(schemas: readonly unknown[], root: unknown) {
    this.#root = root;
    this.#schemas = allOf(schemas, root);
    this.types = anyOf(schemas.filter((schema) => schema !== undefined).map((schema) => typesOf(schema, root)));
    this.names = new Set(this.#schemas.flatMap(({ properties }) => Object.keys(recordOf(properties))));
  }

  below(name: string): Place {
    let place = this.#below.get(name);
    if (!place) {
      place = new Place(
        this.#schemas.map(({ properties }) => recordOf(properties)[name]),
        this.#root,
      );
      this.#below.set(name, place);
    }
    return place;
  }

  /** The place of a list's elements; undefined if nothing is declared for them. */
  get elements(): Place | undefined {
    const schemas = this.#schemas.flatMap(({ items, prefixItems }) => [items, prefixItems].flat().filter(isRecord));
    if (schemas.length > 0) this.#elements ??= new Place(schemas, this.#root);
    return this.#elements;
  }

  /** The declared name that some reader takes this one for. */
  declaredAs(key: string): string | undefined {
    this.#forms ??= new Map(Array.from(this.names, (name) => [foldWords(name), name]));
    return this.#forms.get(foldWords(key));
  }
}

function typeOf(value: ExactValue): string {
  if (value instanceof Members) return "object";
  if (Array.isArray(value)) return "array";
  return typeof value === "bigint" ? "number" : typeof value;
}

type Types = ReadonlySet<string> | undefined;

/** The types that a schema names. An integer may be written as a number. */
function typesOf(schema: unknown, root: unknown, depth = 0): Types {
  if (!isRecord(schema) || depth > MAX_DEPTH) return undefined;
  const { type, $ref: reference } = schema;
  const named = [type].flat().filter((one) => typeof one === "string");
  if (named.length > 0) return new Set(named.map((one) => (one === "integer" ? "number" : one)));
  if (typeof reference === "string") return typesOf(referred(reference, root), root, depth + 1);
  const [all, any, one] = BRANCHES.map((key) =>
    Array.isArray(schema[key])
      ? (schema[key] as unknown[]).slice(0, MAX_SCHEMAS).map((branch) => typesOf(branch, root, depth + 1))
      : [],
  );
  return all!.find((types) => types !== undefined) ?? anyOf(any!) ?? anyOf(one!);
}

function anyOf(types: readonly Types[]): Types {
  if (types.length === 0 || types.includes(undefined)) return undefined;
  return new Set(types.flatMap((some) => [...some!]));
}

/** The schemas, with those that they refer to and branch into. */
function allOf(schemas: readonly unknown[], root: unknown): readonly Schema[] {
  const found = new Set<Schema>();
  const pending = [...schemas];
  while (pending.length > 0 && found.size < MAX_SCHEMAS) {
    const schema = pending.pop();
    if (!isRecord(schema) || found.has(schema)) continue;
    found.add(schema);
    const reference = schema["$ref"];
    if (typeof reference === "string") pending.push(referred(reference, root));
    for (const key of BRANCHES) if (Array.isArray(schema[key])) pending.push(...(schema[key] as unknown[]));
    for (const key of CONDITIONS) pending.push(schema[key]);
  }
  return [...found];
}

/** Follows a reference of the form `#` or `#/…` inside of the schema. */
function referred(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const steps = reference.slice(2).split("/");
  return steps.reduce<unknown>((at, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return Object.hasOwn(recordOf(at), key) ? recordOf(at)[key] : undefined;
  }, root);
}
