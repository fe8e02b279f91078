/**
 * The keys that the schema knows at a path, for the suggestions that unknown keys get.
 */
import * as z from "zod";
import type { KeyPath } from "../problems/locate.ts";
import { configFileSchema } from "./config.ts";

type Schema = z.core.$ZodType;

export function keysAt(path: KeyPath): readonly string[] {
  let schemas = unwrap(configFileSchema);
  for (const step of path) schemas = schemas.flatMap((schema) => below(schema, step)).flatMap(unwrap);
  return schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
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
