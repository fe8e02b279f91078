/**
 * A book as entries with stamps, and back. Pure.
 *
 * The newest stamp of an entry wins, in whatever order entries arrive. The stamps are kept in the
 * book itself. A process that knows nothing of them changes an entry and leaves its stamp: then the
 * entry's digest differs from the one in the stamp, and the entry counts as changed now.
 */
import { createHash } from "node:crypto";
import type { RemovedMs, Stamped } from "./shared-place.ts";

/** How a kind of book is taken apart. Names are unique in a book. */
export interface BookForm<Content> {
  entries(content: Content): Map<string, string>;
  content(entries: ReadonlyMap<string, string>): Content;
  /** Undefined: as long as an old entry could do harm if somebody brought it back. */
  readonly removedMs?: RemovedMs;
}

/** By name: the stamp, and the digest of the text; null: the entry was removed. */
type Stamps = Readonly<Record<string, readonly [number, string | null]>>;

type Entries = ReadonlyMap<string, Stamped>;

/** What was there before replicas shared it gives way to what they share. */
const BEFORE_ALL = 1;
/** Longer than anything in a book is good for that nobody uses, such as a grant of pairing. */
const REMOVED_MS = 400 * 24 * 3_600_000;

/** Returns the entries of a book with their stamps. */
export function entriesOf<Content extends object>(content: Content, form: BookForm<Content>, now: number): Entries {
  const { stamps } = content as { stamps?: Stamps };
  const isForgotten = forgets(now, form.removedMs);
  const found = new Map<string, Stamped>();
  for (const [name, text] of form.entries(content)) {
    const [stamp, digest] = stamps?.[name] ?? [];
    const isSame = digest === digestOf(text);
    found.set(name, { text, stamp: stamps === undefined ? BEFORE_ALL : isSame ? stamp! : after(stamp, now) });
  }
  for (const [name, [stamp, digest]] of Object.entries(stamps ?? {})) {
    if (found.has(name)) continue;
    const removed = { text: null, stamp: digest === null ? stamp : after(stamp, now) };
    if (!isForgotten(name, removed)) found.set(name, removed);
  }
  return found;
}

/** Returns the book of these entries. */
export function bookOf<Content extends object>(entries: Entries, form: BookForm<Content>): Content {
  const texts = new Map<string, string>();
  const stamps: Record<string, readonly [number, string | null]> = Object.create(null);
  for (const [name, { stamp, text }] of entries) {
    stamps[name] = [stamp, text === null ? null : digestOf(text)];
    if (text !== null) texts.set(name, text);
  }
  return { ...form.content(texts), stamps };
}

/** Returns the newest of each entry, without those that are forgotten. */
export function newest(own: Entries, others: Entries, isForgotten: Forgets): Entries {
  const all = new Map(own);
  for (const [name, other] of others) {
    const known = all.get(name);
    if ((!known || isNewer(other, known)) && !isForgotten(name, other)) all.set(name, other);
  }
  return all;
}

/** Returns the entries that are newer than those of the others. */
export function ahead(own: Entries, others: Entries): Entries {
  return new Map([...own].filter(([name, one]) => !others.has(name) || isNewer(one, others.get(name)!)));
}

type Forgets = (name: string, entry: Stamped) => boolean;

/** Tells whether an entry was removed so long ago that no replica still has it. */
export function forgets(now: number, removedMs: RemovedMs = () => REMOVED_MS): Forgets {
  return (name, { stamp, text }) => text === null && now - stamp > removedMs(name);
}

function isNewer(one: Stamped, other: Stamped): boolean {
  if (one.stamp !== other.stamp) return one.stamp > other.stamp;
  return (one.text ?? "") > (other.text ?? "");
}

/** Clocks differ: a change is newer than what it changed, whatever the clock says. */
function after(stamp: number | undefined, now: number): number {
  return Math.max(now, (stamp ?? 0) + 1);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
