/** The help screen, generated from the key map. */

import { pad } from "../../text/width.ts";
import { browseBindings } from "../keys.ts";
import { type Line, line, span } from "../text/line.ts";

const signs: Record<string, string> = {
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  pagedown: "PgDn",
  pageup: "PgUp",
  home: "Home",
  end: "End",
  escape: "Esc",
  enter: "Enter",
  tab: "Tab",
  "shift-tab": "Shift-Tab",
};

const marks: readonly Line[] = [
  line(""),
  line(" Symbols", "accent"),
  [
    span("   ●", "good"),
    span(" ready, subscribed   "),
    span("◐", "warn"),
    span(" degraded   "),
    span("◌", "warn"),
    span(" connecting   "),
    span("◔", "warn"),
    span(" installing   "),
    span("✗", "bad"),
    span(" down   – disabled   "),
    span("!", "bad"),
    span(" invalid"),
  ],
];

const lines: readonly Line[] = [
  line(" Keys", "accent"),
  ...[...keysByHelp()].map(([help, keys]) => [span(`   ${pad(keys.join("  "), 20)}`, "title"), span(help)]),
  ...marks,
  line(""),
  line(" In a call form", "accent"),
  [span(`   ${pad("Tab  ↑  ↓", 20)}`, "title"), span("next or previous field; on a choice ← → or space")],
  [span(`   ${pad("Ctrl-S", 20)}`, "title"), span("call; so does Enter on the last line")],
  [span(`   ${pad("Esc", 20)}`, "title"), span("cancel a running call, leave a result, close the form")],
];

function keysByHelp(): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { keys, help } of browseBindings) {
    lines.set(help, [...(lines.get(help) ?? []), ...keys.map((key) => signs[key] ?? key)]);
  }
  return lines;
}

export function helpLines(): readonly Line[] {
  return lines;
}
