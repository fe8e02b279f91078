/**
 * A searchable document: one entry of the catalog, reduced to its names and its texts by field.
 *
 * Invariant: the texts of a field are bounded. Book-length descriptions can neither stall an
 * indexing slice nor fill the index.
 */

export type SearchKind = "tool" | "prompt" | "resource" | "template";

export interface SearchDoc {
  /** Unique over all kinds and servers: kind, server id and exposed name. */
  readonly key: string;
  readonly kind: SearchKind;
  /** The name or URI that clients see. */
  readonly name: string;
  readonly originalName: string;
  readonly title?: string;
  readonly description?: string;
  readonly args?: readonly SearchArg[];
  readonly serverId: string;
  readonly mimeType?: string;
}

export interface SearchArg {
  readonly name: string;
  readonly description?: string;
}

/** The searched fields, each as one text. */
export interface SearchTexts {
  readonly name: string;
  readonly title: string;
  /**
   * The first sentence of the description. It usually says what the tool does; the rest is detail.
   */
  readonly lead: string;
  readonly description: string;
  readonly args: string;
  readonly argTexts: string;
  readonly server: string;
}

const MAX_DESCRIPTION = 6_000;
const MAX_LEAD = 240;
export const MAX_ARGS = 64;
const MAX_NAME = 500;
const MAX_ARG_TEXT = 300;

export function textsOf(doc: SearchDoc): SearchTexts {
  const args = (doc.args ?? []).slice(0, MAX_ARGS);
  const description = (doc.description ?? "").trim().slice(0, MAX_DESCRIPTION);
  const name = doc.name.slice(0, MAX_NAME);
  return {
    name: doc.name === doc.originalName ? name : `${doc.originalName.slice(0, MAX_NAME)} ${name}`,
    title: (doc.title ?? "").slice(0, MAX_NAME),
    lead: description.slice(0, leadEnd(description)),
    description: description.slice(leadEnd(description)),
    args: args.map((arg) => arg.name.slice(0, MAX_ARG_TEXT)).join(" "),
    argTexts: args.map((arg) => (arg.description ?? "").slice(0, MAX_ARG_TEXT)).join(" "),
    server: `${doc.serverId} ${(doc.mimeType ?? "").slice(0, MAX_ARG_TEXT)}`,
  };
}

function leadEnd(description: string): number {
  const sentence = description.slice(0, MAX_LEAD).search(/[.!?:;]\s|\n/);
  return sentence < 0 ? Math.min(description.length, MAX_LEAD) : sentence + 1;
}

/** Returns whether the same queries find both states of an entry. */
export function sameDoc(a: SearchDoc, b: SearchDoc): boolean {
  return (
    a.name === b.name &&
    a.originalName === b.originalName &&
    a.title === b.title &&
    a.description === b.description &&
    a.mimeType === b.mimeType &&
    a.kind === b.kind &&
    a.serverId === b.serverId &&
    sameArgs(a.args ?? [], b.args ?? [])
  );
}

function sameArgs(a: readonly SearchArg[], b: readonly SearchArg[]): boolean {
  return (
    a.length === b.length && a.every((arg, at) => arg.name === b[at]?.name && arg.description === b[at]?.description)
  );
}
