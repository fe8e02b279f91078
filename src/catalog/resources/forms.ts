/**
 * How a client that knows a resource by one name is told of another one below it, in the same kind
 * of name.
 *
 * What must always hold: pure functions of strings; the same URI gives back the very name the
 * client used.
 */
import { collapsedBody, flatBody, prefixed } from "../../identifiers/uris.ts";

/** Is the second URI a part of the first: below its path, or a fragment of it? */
export function subResourceOf(parent: string, child: string): boolean {
  if (parent === "" || child.length <= parent.length || !child.startsWith(parent)) return false;
  const next = child[parent.length];
  return parent.endsWith("/") || next === "/" || next === "#";
}

/** The name of `updatedUri` in the form in which `subscribedForm` names `resolvedUri`. */
export function rewriteLike(subscribedForm: string, resolvedUri: string, updatedUri: string): string {
  if (updatedUri === resolvedUri) return subscribedForm;
  if (subscribedForm === resolvedUri) return updatedUri;
  const prefix = /^([a-z][a-z0-9.-]*)\+/.exec(subscribedForm)?.[1];
  if (prefix !== undefined && subscribedForm === prefixed(prefix, resolvedUri)) return prefixed(prefix, updatedUri);
  if (subscribedForm.endsWith(resolvedUri)) return subscribedForm.slice(0, -resolvedUri.length) + updatedUri;
  return rewriteId(subscribedForm, resolvedUri, updatedUri) ?? updatedUri;
}

/**
 * The same for flat and collapsed ids, with or without the suffix that keeps colliding ones apart.
 */
function rewriteId(form: string, resolvedUri: string, updatedUri: string): string | undefined {
  for (const bodyOf of [flatBody, collapsedBody]) {
    const body = `_${bodyOf(resolvedUri)}`;
    for (const id of [form, form.replace(/~[0-9a-f]{8,64}$/, "")]) {
      if (id.endsWith(body)) return `${id.slice(0, -body.length)}_${bodyOf(updatedUri)}`;
    }
  }
  return undefined;
}
