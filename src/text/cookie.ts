/** Returns the value of a cookie from a Cookie header; undefined if it is not there. */
export function cookieIn(header: string | null | undefined, name: string): string | undefined {
  const pairs = header?.split(";").map((pair) => pair.trim()) ?? [];
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
