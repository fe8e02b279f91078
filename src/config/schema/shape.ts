/**
 * What the schema says about a path: the keys that it knows there, for the suggestions that unknown
 * keys get, and the type of a plain value.
 */
import * as z from "zod";
import type { KeyPath } from "../problems/locate.ts";
import { configFileSchema } from "./config.ts";

type Schema = z.core.$ZodType;

export function keysAt(path: KeyPath): readonly string[] {
  return schemasAt(path).flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
}

/** Returns the type if the value at the path must be a number or a boolean. */
export function plainTypeAt(path: KeyPath): "number" | "boolean" | undefined {
  const types = new Set(schemasAt(path).map(({ _zod }) => _zod.def.type));
  if (types.size !== 1) return undefined;
  return types.has("number") ? "number" : types.has("boolean") ? "boolean" : undefined;
}

function schemasAt(path: KeyPath): Schema[] {
  let schemas = unwrap(configFileSchema);
  for (const step of path) schemas = schemas.flatMap((schema) => below(schema, step)).flatMap(unwrap);
  return schemas;
}

/** Without defaults and the like; each branch of a union. */
function unwrap(schema: Schema): Schema[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return unwrap(schema.unwrap());
  }
  return schema instanceof z.ZodUnion ? schema.options.flatMap(unwrap) : [schema];
}

function below(schema: Schema, step: string | number): Schema[] {
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  if (schema instanceof z.ZodArray) return [schema.element];
  if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, step)) return [];
  // `shape` of an unknown object type has values of type `any`; each is a schema.
  return [schema.shape[step] as Schema];
}
