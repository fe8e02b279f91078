/** A call that waits for a person, as lines: all that is needed to decide, nothing hidden. */

import { visibleJson } from "../../../lib/text/clean.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import { wrap } from "../../../lib/text/width.ts";
import type { ApprovalRow } from "../../api/live/approval-schema.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { type Line, line, span } from "../text/line.ts";

/** The rows of the text below its heading. */
export function approvalHeight(layout: Pick<Layout, "body">): number {
  return Math.max(1, layout.body - 2);
}

export function approvalLines(row: ApprovalRow, state: Pick<State, "now">, columns: number): Line[] {
  const left = formatDuration(Math.max(0, row.expiresAt - state.now));
  const facts: [string, string][] = [
    ["who", row.who ?? "anyone: the gateway needs no token"],
    ["client", [row.client, row.app].filter(Boolean).join(", ") || "–"],
    [row.kind, `${row.name} of ${row.server}`],
    ["rule", row.reason === null ? row.rule : `${row.rule}: ${row.reason}`],
    ...(row.replica === undefined ? [] : [["replica", row.replica] satisfies [string, string]]),
    ["left", left],
    ["digest", row.digest],
  ];
  const width = Math.max(20, columns - 4);
  return [
    ...facts.map(([name, value]) => [span(`  ${name.padEnd(10)}`, "quiet"), span(value)]),
    line(""),
    line("  Arguments", "accent"),
    ...wrap(visibleJson(row.arguments), width).map((text) => line(`  ${text}`)),
  ];
}

export function approvalTitle(row: ApprovalRow, place: number, all: number): Line {
  return [span(` Allow ${row.shownName}? `, "warn"), span(` ${place + 1} of ${all} that wait`, "quiet")];
}
