/**
 * Returns the value of a cookie from a Cookie header; undefined if it is not there.
 *
 * A name with two values has none: another port or path of this host set one of them, and nobody
 * can tell which.
 */
export function cookieIn(header: string | null | undefined, name: string): string | undefined {
  const pairs = header?.split(";").map((pair) => pair.trim()) ?? [];
  const values = new Set(
    pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
  );
  return values.size === 1 ? [...values][0] : undefined;
}
