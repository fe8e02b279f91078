/**
 * What a tool's annotations say, with the defaults of the protocol for hints that are missing: a
 * tool that says nothing writes, destroys, and reaches out into the world.
 *
 * Invariant: only the booleans of the protocol count. A tool that calls itself both read-only and
 * destructive is destructive.
 */
import { recordOf } from "../lib/structures/record.ts";

export const annotationNames = ["@readOnly", "@destructive", "@idempotent", "@openWorld"] as const;
export type AnnotationName = (typeof annotationNames)[number];

export function hasAnnotation(annotations: unknown, name: AnnotationName): boolean {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = recordOf(annotations);
  const isReadOnly = readOnlyHint === true && destructiveHint !== true;
  switch (name) {
    case "@readOnly":
      return isReadOnly;
    case "@destructive":
      return !isReadOnly && destructiveHint !== false;
    case "@idempotent":
      return isReadOnly || idempotentHint === true;
    case "@openWorld":
      return openWorldHint !== false;
  }
}

export function isAnnotation(pattern: string): pattern is AnnotationName {
  return (annotationNames as readonly string[]).includes(pattern);
}
