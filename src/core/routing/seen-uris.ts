/**
 * The URIs that servers have named in results, so that a client can read and subscribe to a link
 * that is in no list.
 *
 * A URI is known to the account that received it, at the server that named it, and to nobody else.
 * Normal forms of a URI, as common clients write it, lead to the same URI.
 *
 * Invariant: the memory is bounded for each account and server, and in total. The least recently
 * used is forgotten first.
 */

import { MAX_URI_LENGTH } from "../../lib/uri-template/match-budget.ts";
import { isWebUri, normalForm } from "../../mcp/identifiers/uris.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { RoutedMethod } from "../../mcp/protocol/methods.ts";
import type { ResourceIndex } from "../../upstream/catalog/resources/resource-index.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { findResource, type Route, resolve, resourceRoute } from "./resolve.ts";

/** The most URIs and characters of one account at one server, and the most characters of all. */
const MAX_URIS = 1000;
const MAX_CHARACTERS = 128 * 1024;
const MAX_TOTAL_CHARACTERS = 16 * 1024 * 1024;

/** One account at one server: from a URI's normal form to the URI as the server wrote it. */
interface Book {
  readonly uris: Map<string, string>;
  size: number;
}

export interface SeenAt {
  readonly serverId: string;
  readonly account: string;
}

export class SeenUris {
  /** By account and server, the least recently used first. */
  readonly #books = new Map<string, Book>();
  #size = 0;

  add(uri: string, at: SeenAt): void {
    if (uri.length > MAX_URI_LENGTH) return;
    const key = keyOf(at);
    const book = this.#books.get(key) ?? { uris: new Map<string, string>(), size: 0 };
    this.#books.delete(key);
    this.#books.set(key, book);
    const form = normalForm(uri);
    const known = book.uris.delete(form);
    book.uris.set(form, uri);
    if (known) return;
    this.#grow(book, form.length + uri.length);
    for (const [oldest, own] of book.uris) {
      if (book.uris.size <= MAX_URIS && book.size <= MAX_CHARACTERS) break;
      book.uris.delete(oldest);
      this.#grow(book, -oldest.length - own.length);
    }
    for (const [oldest, { size }] of this.#books) {
      if (this.#size <= MAX_TOTAL_CHARACTERS) break;
      this.#books.delete(oldest);
      this.#size -= size;
    }
  }

  /** Returns the URI as the server wrote it, if the server named it to this account. */
  find(uri: string, at: SeenAt): string | undefined {
    return this.#books.get(keyOf(at))?.uris.get(normalForm(uri));
  }

  /** Returns the server and its own URI behind a client's name for a URI that is in no list. */
  named(name: string, account: string, resources: ResourceIndex): Seen | undefined {
    if (name.length > MAX_URI_LENGTH) return undefined;
    const found = resources.unlisted(name).flatMap(({ serverId, uri }) => {
      const own = this.find(uri, { serverId, account });
      return own === undefined ? [] : [{ serverId, uri: own }];
    });
    // A raw URI of two servers is nobody's.
    return new Set(found.map(({ serverId }) => serverId)).size === 1 ? found[0] : undefined;
  }

  #grow(book: Book, characters: number): void {
    book.size += characters;
    this.#size += characters;
  }
}

export interface Seen {
  readonly serverId: string;
  readonly uri: string;
}

function keyOf({ serverId, account }: SeenAt): string {
  return JSON.stringify([account, serverId]);
}

/** Resolves a request, also for a URI that is in no list but was in a result. */
export function resolveSeen(call: Call, spec: RoutedMethod, where: Where): Route {
  const { uri } = call.params;
  if (spec.names !== "resource" || typeof uri !== "string") return resolve(call, spec, where.snapshot);
  return orSeen(
    { ...where, uri, account: call.client.account },
    {
      listed: () => resolve(call, spec, where.snapshot),
      seen: (found) => resourceRoute(call, spec, { snapshot: where.snapshot, uri, found }),
    },
  );
}

/** Finds the server of a resource, also for a URI that is in no list but was in a result. */
export function findSeen(uri: string, where: Where & { readonly account: string }): Seen {
  return orSeen({ ...where, uri }, { listed: () => findResource(where.snapshot, uri), seen: (found) => found });
}

interface Where {
  readonly snapshot: Snapshot;
  readonly seen: SeenUris;
}

function orSeen<Found>(
  { uri, account, snapshot, seen }: Where & { readonly uri: string; readonly account: string },
  find: { readonly listed: () => Found; readonly seen: (found: Seen) => Found },
): Found {
  // A link to the web keeps its form. Another server must not get its readers by listing it.
  const link = isWebUri(uri) && !snapshot.resources.listsRaw ? seen.named(uri, account, snapshot.resources) : undefined;
  if (link && snapshot.standing(link.serverId).kind !== "disabled") return find.seen(link);
  try {
    return find.listed();
  } catch (error) {
    if (!(error instanceof GoblinError) || error.code !== "RESOURCE_NOT_FOUND") throw error;
    const found = seen.named(uri, account, snapshot.resources);
    if (!found || snapshot.standing(found.serverId).kind === "disabled") throw error;
    return find.seen(found);
  }
}
