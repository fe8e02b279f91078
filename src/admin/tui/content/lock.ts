/**
 * A server that is not as it was approved, as lines: each difference with its class and its effect,
 * and both texts side by side. Nothing is cut or hidden, since a person approves by it.
 */

import { visibleJson } from "../../../lib/text/clean.ts";
import { pad, wrap } from "../../../lib/text/width.ts";
import type { DriftRow } from "../../api/lock/schema.ts";
import { nearChanges, sideBySide } from "../../api/lock/side-by-side.ts";
import { sourceText } from "../../api/lock/source-text.ts";
import { wrapped } from "../../api/lock/wrapped-rows.ts";
import type { LockItem } from "../state/model.ts";
import { type Line, line, span, type Tone } from "../text/line.ts";

const tones: Readonly<Record<DriftRow["class"], Tone>> = {
  cosmetic: "quiet",
  wording: "warn",
  narrowing: "warn",
  widening: "bad",
  suspicious: "bad",
};

const MIN_COLUMNS = 60;
const BAR = " │ ";

let last: { readonly server: LockItem; readonly columns: number; readonly lines: readonly Line[] } | undefined;

/** Computed once for a server and a width: every frame needs them. */
export function lockLines(server: LockItem, columns: number): readonly Line[] {
  if (last?.server !== server || last.columns !== columns) last = { server, columns, lines: linesOf(server, columns) };
  return last.lines;
}

function linesOf(server: LockItem, columns: number): Line[] {
  const facts: [string, string][] = [
    ["source", sourceText(server.source) || "–"],
    ["approved", server.approved ?? "nothing"],
    ["now", server.current ?? "nothing is known: it has not been listed"],
    ...(server.reason === undefined ? [] : [["waits", server.reason] as [string, string]]),
  ];
  return [
    ...facts.map(([name, value]) => [span(`  ${name.padEnd(10)}`, "quiet"), span(value)]),
    ...server.drifts.flatMap((drift) => [line(""), ...driftLines(drift, Math.max(MIN_COLUMNS, columns))]),
  ];
}

function driftLines(drift: DriftRow, columns: number): Line[] {
  const { kind, name, change, effect, changes, before, after } = drift;
  const room = Math.floor((columns - BAR.length - 4) / 2);
  const rows = wrapped(nearChanges(sideBySide(before, after)), { room, shown: visibleJson });
  return [
    [
      span(`  ${visibleJson(name === "" ? kind : `${kind} ${name}`)}`, "title"),
      span(`: ${change}, `),
      span(drift.class, tones[drift.class]),
      span(`, ${effect}`),
    ],
    ...changes.flatMap(({ class: as, path, what }) =>
      wrap(visibleJson(path === "" ? what : `${path}: ${what}`), columns - 18).map((text, part) => [
        span(`    ${(part === 0 ? as : "").padEnd(12)}`, tones[as]),
        span(text),
      ]),
    ),
    ...rows.map((row): Line => {
      if (!row) return line("  …", "quiet");
      const left = pad(row.left ?? "", room);
      return row.isSame
        ? [span(`  ${left}${BAR}${row.right ?? ""}`, "quiet")]
        : [span(`  ${left}`, "bad"), span(BAR), span(row.right ?? "", "good")];
    }),
  ];
}

export function lockTitle({ id, state, drifts }: LockItem, place: number, all: number): Line {
  const what = {
    upgrade: "has a new version that has not taken over",
    new: "is not in the lock file",
    gone: "is not in the config any more",
    unknown: "has not been listed",
    drift: "is not as it was approved",
    approved: "is as it was approved",
  }[state];
  const isAttack = drifts.some((drift) => drift.class === "suspicious");
  return [
    span(` ${id} ${what} `, isAttack ? "alarm" : "warn"),
    span(isAttack ? " the scanner found an attack " : "", "bad"),
    span(` ${place + 1} of ${all}`, "quiet"),
  ];
}
