/** What `npm run attack` runs: the files and the names of the tests in the table. */
import type { Defect } from "./proof.ts";

/** The files of the table. */
export function filesOf(table: readonly Defect[]): string[] {
  return [...new Set(table.flatMap(({ tests }) => tests.map(({ file }) => file)))];
}

/** The full names of the table's tests, and no others. */
export function namePattern(table: readonly Defect[]): RegExp {
  const names = table.flatMap(({ tests }) => tests.map(({ title, of }) => asPattern(title, of)));
  return new RegExp(`(?:^| )(?:${[...new Set(names)].join("|")})$`);
}

/** Placeholders of titles: `%s` and its like, `$name`, `${expression}`. */
function asPattern(title: string, of?: string): string {
  return title
    .split(/%[sdij]|\$\{[^}]*\}|\$\w+/)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(of ?? ".*");
}
