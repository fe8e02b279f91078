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
