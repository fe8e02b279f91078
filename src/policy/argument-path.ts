/**
 * The path of an argument: `owner`, `options.owner` for a nested one, or a JSON Pointer (RFC 6901)
 * where a name has dots in it: `/a.b`.
 */
export type ArgumentPath = readonly string[];

export function readPath(written: string): ArgumentPath {
  if (!written.startsWith("/")) return written.split(".");
  return written
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Names that some servers read as the same: Go's JSON, for one, ignores case. */
export function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}
