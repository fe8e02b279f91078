/**
 * Builds the names that clients see for tools and prompts: prefix and original name, cut to a
 * length. A name that another server's prefix could claim gets a suffix.
 *
 * Invariants: a name depends only on the config, its server and its original name. Only servers
 * with the same prefix can collide. Then each of them gets a hash of its origin, so the order does
 * not matter. No server gets a reserved name. Names are resolved through the map built here, never
 * by splitting them.
 */
import { createHash } from "node:crypto";
import { each, mapped, type Sliced } from "../../lib/timing/slices.ts";
import { type Claim, Claims } from "./claims.ts";

export interface Named {
  readonly serverId: string;
  readonly name: string;
  /** The prefix joined with the name or alias. */
  readonly wanted: string;
}

const HASH_DIGITS = 6;
const SUFFIX = /-[0-9a-f]{6,64}$/;

export interface NameRules {
  readonly maxLength: number;
  /** Names that no server may have. */
  readonly reserved: ReadonlySet<string>;
  readonly claims: Claims;
}

/**
 * Creates the claims of all configured servers. A prefix longer than the uncut part of a name is
 * cut, too.
 */
export function nameClaims(servers: readonly Claim[], maxLength: number): Claims {
  const kept = maxLength - HASH_DIGITS - 1;
  return new Claims(
    servers.map(({ serverId, prefix }) => ({ serverId, prefix: prefix.slice(0, kept) })),
    SUFFIX,
  );
}

function originHash(serverId: string, name: string): string {
  return createHash("sha256").update(`${serverId}\n${name}`).digest("hex");
}

function withHash(wanted: string, hash: string, maxLength: number): string {
  return `${cut(wanted, maxLength - hash.length - 1)}-${hash}`;
}

/** Cuts a text without splitting a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** Returns an entry's name in the absence of collisions. */
export function ownName(entry: Named, { maxLength, claims }: Omit<NameRules, "reserved">): string {
  const { wanted, serverId } = entry;
  return wanted.length > maxLength || claims.needsSuffix(serverId, wanted)
    ? suffixed(entry, { digits: HASH_DIGITS, maxLength })
    : wanted;
}

function suffixed({ wanted, serverId, name }: Named, options: { digits: number; maxLength: number }): string {
  return withHash(wanted, originHash(serverId, name).slice(0, options.digits), options.maxLength);
}

/** Returns the exposed name of each entry, in the given order: all different, none reserved. */
export function* assignNames(entries: readonly Named[], rules: NameRules): Sliced<string[]> {
  const { maxLength, reserved } = rules;
  const names = yield* mapped(entries, (entry) => ownName(entry, rules), nameCost);
  for (let digits = HASH_DIGITS; digits <= 64; digits += 2) {
    const clashing = yield* positionsOfClashes(names, reserved);
    if (clashing.length === 0) return names;
    yield* each(
      clashing,
      (i) => {
        names[i] = suffixed(entries[i]!, { digits, maxLength });
      },
      nameCost,
    );
  }
  return names;
}

/** A name may need a hash. */
function nameCost(): number {
  return 3;
}

function* positionsOfClashes(names: readonly string[], reserved: ReadonlySet<string>): Sliced<number[]> {
  const seen = new Map<string, number>();
  yield* each(names, (name) => void seen.set(name, (seen.get(name) ?? 0) + 1));
  const clashing: number[] = [];
  yield* each(names, (name, i) => {
    if (seen.get(name)! > 1 || reserved.has(name)) clashing.push(i);
  });
  return clashing;
}
