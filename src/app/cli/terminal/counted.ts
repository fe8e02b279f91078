/** A number of things in words: `1 tool`, `2 tools`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
