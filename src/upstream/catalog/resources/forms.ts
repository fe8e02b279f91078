/**
 * Renames an updated resource in the form that the client used to subscribe.
 *
 * Invariant: pure functions of strings. The same URI gives back exactly the client's name.
 */
import { collapsedBody, flatBody, prefixed } from "../../../mcp/identifiers/uris.ts";

/** Returns whether the child is a part of the parent: below its path, or a fragment of it. */
export function subResourceOf(parent: string, child: string): boolean {
  if (parent === "" || child.length <= parent.length || !child.startsWith(parent)) return false;
  const next = child[parent.length];
  return parent.endsWith("/") || next === "/" || next === "#";
}

/**
 * Returns the name of `updatedUri` in the same form that `subscribedForm` has for `resolvedUri`.
 */
export function rewriteLike(subscribedForm: string, resolvedUri: string, updatedUri: string): string {
  if (updatedUri === resolvedUri) return subscribedForm;
  if (subscribedForm === resolvedUri) return updatedUri;
  const prefix = /^([a-z][a-z0-9.-]*)\+/.exec(subscribedForm)?.[1];
  if (prefix !== undefined && subscribedForm === prefixed(prefix, resolvedUri)) return prefixed(prefix, updatedUri);
  if (subscribedForm.endsWith(resolvedUri)) return subscribedForm.slice(0, -resolvedUri.length) + updatedUri;
  return rewriteId(subscribedForm, resolvedUri, updatedUri) ?? updatedUri;
}

/** Does the same for flat and collapsed ids, with or without a collision suffix. */
function rewriteId(form: string, resolvedUri: string, updatedUri: string): string | undefined {
  for (const bodyOf of [flatBody, collapsedBody]) {
    const body = `_${bodyOf(resolvedUri)}`;
    for (const id of [form, form.replace(/~[0-9a-f]{8,64}$/, "")]) {
      if (id.endsWith(body)) return `${id.slice(0, -body.length)}_${bodyOf(updatedUri)}`;
    }
  }
  return undefined;
}
