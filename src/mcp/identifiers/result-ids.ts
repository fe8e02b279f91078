/**
 * Ids and URIs of results that the gateway keeps: `goblin://result/<id>`.
 *
 * An id cannot be guessed: a client without a token proves by it that the result was shown to it.
 * It is only ever looked up, and never becomes a part of a path.
 */
import { randomBytes } from "node:crypto";

const SCHEME = "goblin://result/";
const ID = /^[A-Za-z0-9_-]{22}$/;

export function newResultId(): string {
  return randomBytes(16).toString("base64url");
}

export function resultUri(id: string): string {
  return `${SCHEME}${id}`;
}

/** Returns the id in a URI or an id as it is; undefined if the text is neither. */
export function resultIdIn(text: string): string | undefined {
  const id = text.startsWith(SCHEME) ? text.slice(SCHEME.length) : text;
  return ID.test(id) ? id : undefined;
}

/** Returns the id in a URI; undefined if it is another URI. */
export function resultIdOf(uri: string): string | undefined {
  return uri.startsWith(SCHEME) ? resultIdIn(uri) : undefined;
}
