/**
 * The names that clients see for tools and prompts: prefix + original name, cut to a length, told
 * apart on collision.
 *
 * Always holds: a name depends only on its own server and name, except where two would be equal;
 * then every one of them (but a reserved one) gets a hash of its own origin, so the outcome does
 * not depend on any order. Names are resolved through the map built from this, never by cutting
 * them apart.
 */
import { createHash } from "node:crypto";

export interface Named {
  readonly serverId: string;
  readonly name: string;
  /** Prefix and name (or alias) joined. */
  readonly wanted: string;
}

const HASH_DIGITS = 6;

function originHash(serverId: string, name: string): string {
  return createHash("sha256").update(`${serverId}\n${name}`).digest("hex");
}

function withHash(wanted: string, hash: string, maxLength: number): string {
  return `${cut(wanted, maxLength - hash.length - 1)}-${hash}`;
}

/** Cuts without leaving half of a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The name of an entry as long as no other wants the same. */
export function ownName({ wanted, serverId, name }: Named, maxLength: number): string {
  if (wanted.length <= maxLength) return wanted;
  return withHash(wanted, originHash(serverId, name).slice(0, HASH_DIGITS), maxLength);
}

/** The exposed name of each entry, in the order given; all of them differ, and none is reserved. */
export function assignNames(
  entries: readonly Named[],
  options: { readonly maxLength: number; readonly reserved: ReadonlySet<string> },
): string[] {
  const { maxLength, reserved } = options;
  const names = entries.map((entry) => ownName(entry, maxLength));
  for (let digits = HASH_DIGITS; digits <= 64; digits += 2) {
    const clashing = positionsOfClashes(names, reserved);
    if (clashing.length === 0) return names;
    for (const i of clashing) {
      const entry = entries[i]!;
      names[i] = withHash(entry.wanted, originHash(entry.serverId, entry.name).slice(0, digits), maxLength);
    }
  }
  return names;
}

function positionsOfClashes(names: readonly string[], reserved: ReadonlySet<string>): number[] {
  const seen = new Map<string, number>();
  for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1);
  const clashing: number[] = [];
  names.forEach((name, i) => {
    if (seen.get(name)! > 1 || reserved.has(name)) clashing.push(i);
  });
  return clashing;
}
