/** A config that was refused, as the API shows it: for one reason, and as many more as wanted. */
import type { ConfigProblem } from "../../src/admin/api/schema.ts";

export function refusal(more: Partial<ConfigProblem["problems"][number]> = {}, others = 0): ConfigProblem {
  const problem = { file: "/etc/goblin.json", line: 3, column: 14, key: "limit", message: "unknown key", hint: null };
  return {
    at: Date.UTC(2026, 8, 1, 12, 0, 0),
    summary: "goblin.json:3:14 limit: unknown key",
    problems: [{ ...problem, ...more }, ...Array.from({ length: others }, () => problem)],
  };
}
