/**
 * Which names of members readers of JSON take for the same one.
 *
 * JavaScript and Python compare names exactly. Go's encoding/json and case-insensitive readers of
 * .NET and Java ignore case, by different tables: Go reads the Kelvin sign as "k" and the long s
 * as "s", Java the dotted capital I as "i". Swift compares composed and decomposed characters as
 * equal, C stops at a NUL, and Go replaces half a surrogate pair.
 *
 * Invariant: two names that any of these readers takes for the same have the same form. Two names
 * with the same form may still be different ones to all of them.
 */
const PLAIN = /^[ -~]*$/;

export function foldKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const end = name.indexOf("\0");
  const read = (end === -1 ? name : name.slice(0, end))
    .replace(/\p{Surrogate}/gu, "\uFFFD")
    .replaceAll("\u0130", "i")
    .normalize("NFC");
  // Lower case alone keeps the long s, upper case alone the capital sharp s.
  return read.toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
}

/** Like `foldKey`, for readers that also take `task_id` and `task-id` for `taskId`. */
export function foldWords(name: string): string {
  return foldKey(name).replaceAll(/[_-]/g, "");
}
