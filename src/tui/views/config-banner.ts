/**
 * The line that says that an edit of the config was refused: the first problem, its place, and how
 * many more there are.
 *
 * Pure: a problem gives a line. What must always hold: whatever the width, the place and the number
 * of the others are seen; what was meant and the name of the file give way first, then the end of
 * the message.
 */
import type { ConfigProblem } from "../../admin/schema.ts";
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
  // The bar is whole, so the free cells stand in the same tone.
  const left = fitLine(fitting, room, false);
  const gap = line(" ".repeat(Math.max(0, room - lineWidth(left))), "alarm");
  return [...left, ...gap, ...more];
}
