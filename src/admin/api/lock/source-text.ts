/** Where a server comes from, for people: `npm @scope/name 1.2.3`. */
import type { LockedServerRow } from "./schema.ts";

export function sourceText({ version, integrity: _, ...origin }: LockedServerRow["source"]): string {
  const [[kind, name] = ["", ""]] = Object.entries(origin);
  return `${kind} ${name}${version === undefined ? "" : ` ${version}`}`.trim();
}
