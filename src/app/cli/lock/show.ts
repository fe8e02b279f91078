/** What is different at one server, as lines for a terminal: classes first, then side by side. */
import type { DriftRow, LockedServerRow } from "../../../admin/api/lock/schema.ts";
import { nearChanges, sideBySide } from "../../../admin/api/lock/side-by-side.ts";
import { wrapped } from "../../../admin/api/lock/wrapped-rows.ts";
import { clean } from "../../../lib/text/clean.ts";
import { pad } from "../../../lib/text/width.ts";
import type { Colour, Paint } from "../terminal/paint.ts";

export interface Look {
  readonly paint: Paint;
  readonly width: number;
}

const colours: Readonly<Record<DriftRow["class"], Colour>> = {
  cosmetic: "dim",
  wording: "yellow",
  narrowing: "yellow",
  widening: "red",
  suspicious: "red",
};

const MIN_WIDTH = 60;
const BAR = " │ ";

export function driftLines({ id, drifts }: Pick<LockedServerRow, "id" | "drifts">, look: Look): string[] {
  return drifts.flatMap((drift) => [...headOf(id, drift, look), ...bodyOf(drift, look), ""]);
}

function headOf(id: string, drift: DriftRow, { paint }: Look): string[] {
  const what = clean(drift.name === "" ? `${id} ${drift.kind}` : `${id} ${drift.kind} ${drift.name}`);
  const title = `${paint("bold", what)}: ${drift.change}, ${paint(colours[drift.class], drift.class)}, ${drift.effect}`;
  const changes = drift.changes.map(({ class: as, path, what: how }) => {
    const where = path === "" ? "" : `${path}: `;
    return `  ${paint(colours[as], as)}  ${clean(where + how)}`;
  });
  return [title, ...changes];
}

function bodyOf({ before, after }: DriftRow, { paint, width }: Look): string[] {
  if (before === null && after === null) return [];
  const room = Math.floor((Math.max(width, MIN_WIDTH) - BAR.length - 2) / 2);
  const rows = wrapped(nearChanges(sideBySide(before, after)), { room, shown: clean });
  return rows.map((row) => {
    if (!row) return `  ${paint("dim", "…")}`;
    const [left, right] = [pad(row.left ?? "", room), pad(row.right ?? "", room)];
    if (row.isSame) return `  ${left}${BAR}${right}`.trimEnd();
    return `  ${paint("red", left)}${BAR}${paint("green", right.trimEnd())}`.trimEnd();
  });
}
