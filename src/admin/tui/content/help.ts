/** The help screen, generated from the key map. */

import { pad } from "../../../lib/text/width.ts";
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
  line("   ◉ watched from here   ? not known while the gateway is away"),
];

const lines: readonly Line[] = [
  line(" Keys", "accent"),
  ...[...keysByHelp()].map(([help, keys]) => [span(`   ${pad(keys.join("  "), 20)}`, "title"), span(help)]),
  ...marks,
  line(""),
  line(" In a form", "accent"),
  [span(`   ${pad("Tab  ↑  ↓", 20)}`, "title"), span("next or previous field; on a choice ← → or space")],
  [span(`   ${pad("Ctrl-S", 20)}`, "title"), span("call; so does Enter on the last line")],
  [span(`   ${pad("Ctrl-N", 20)}`, "title"), span("take what the server suggests for the field")],
  [span(`   ${pad("Esc", 20)}`, "title"), span("cancel a running call, leave a result, close the form")],
  line(""),
  line(" When a server asks", "accent"),
  [span(`   ${pad("Ctrl-S", 20)}`, "title"), span("send the answer; on [ Decline ], Enter declines")],
  [span(`   ${pad("Ctrl-D", 20)}`, "title"), span("decline; the server hears no")],
  [span(`   ${pad("Esc", 20)}`, "title"), span("cancel the question; again: the call")],
  [span(`   ${pad("Ctrl-Y", 20)}`, "title"), span("copy the address that the server wants opened")],
  line(""),
  line(" In a result", "accent"),
  [span(`   ${pad("Enter  Space", 20)}`, "title"), span("fold or unfold the object at the cursor")],
  [span(`   ${pad("-  +", 20)}`, "title"), span("fold or unfold everything")],
  [span(`   ${pad("w", 20)}`, "title"), span("save what is at the cursor to a file in the current folder")],
  [span(`   ${pad("v", 20)}`, "title"), span("show a picture (kitty, iTerm2, WezTerm, Ghostty)")],
  line(""),
  line(" Mouse", "accent"),
  [span(`   ${pad("click, wheel", 20)}`, "title"), span("tabs, rows, headings (sort); Shift selects text")],
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
