/**
 * Converts a rejected config edit to the API's shape, and back to the line that people read.
 *
 * Invariant: both sides of the API use the wording of `goblin check`, and every text is masked.
 */
import { formatProblem } from "../../config/problems/problem.ts";
import type { ReloadFailure } from "../../config/reload-history.ts";
import type * as schema from "./schema.ts";

type Located = schema.ConfigProblem["problems"][number];

export function configProblem(
  { at, problems }: ReloadFailure,
  masker: { text(text: string): string },
): schema.ConfigProblem {
  const shown = problems.map(
    ({ file, line, column, key, message, hint }): Located => ({
      file,
      line: line === 0 ? null : line,
      column: line === 0 ? null : column,
      key: key === "" ? null : masker.text(key),
      message: masker.text(message),
      hint: hint === undefined ? null : masker.text(hint),
    }),
  );
  const more = shown.length - 1;
  const first = shown[0] ? problemLine(shown[0]) : "";
  return { at, summary: more === 0 ? first : `${first}, and ${more} more`, problems: shown };
}

/** Formats one line: `goblin.json:12:5 mcpServers.docs.urll: unknown key (did you mean "url"?)` */
export function problemLine({ file, line, column, key, message, hint }: Located): string {
  return formatProblem({
    file,
    line: line ?? 0,
    column: column ?? 0,
    key: key ?? "",
    message,
    ...(hint !== null && { hint }),
  });
}
