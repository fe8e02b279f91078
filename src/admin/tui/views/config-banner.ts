/**
 * The banner for a rejected config edit: the first problem, its place, and the number of further
 * ones.
 *
 * Pure: maps a problem to a line. Invariant: the place and the number of further problems are
 * visible at any width. The hint and the file name are dropped first, then the end of the message.
 */
import type { ConfigProblem } from "../../api/schema.ts";
import { fitLine, type Line, line, lineWidth } from "../text/line.ts";

export function configBanner({ problems }: ConfigProblem, columns: number): Line {
  const [first, ...others] = problems;
  if (first === undefined) return line("");
  const more = line(others.length === 0 ? " " : ` and ${others.length} more `, "alarm");
  const room = columns - lineWidth(more);
  const file = first.file.replace(/^.*[\\/]/, "");
  const place = first.line === null ? "" : `${first.line}:${first.column}`;
  const what = `${first.key === null ? "" : `${first.key}: `}${first.message}`;
  const hinted = first.hint === null ? what : `${what} (${first.hint})`;
  const forms = [
    [place === "" ? `${file}:` : `${file}:${place}`, hinted],
    [place, hinted],
    [place, what],
  ].map((parts) => line(` Config not applied: ${parts.filter((part) => part !== "").join(" ")}`, "alarm"));
  const fitting = forms.find((form) => lineWidth(form) <= room) ?? forms.at(-1)!;
  // Fills the gap in the same tone, so that the bar is unbroken.
  const left = fitLine(fitting, room, false);
  const gap = line(" ".repeat(Math.max(0, room - lineWidth(left))), "alarm");
  return [...left, ...gap, ...more];
}
