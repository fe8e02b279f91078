/** The keys that matter now, for the last line of the screen. */

import type { CallForm } from "../state/call-form.ts";
import { openQuestion } from "../state/calling.ts";
import { layoutOf } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { selectedItem } from "../state/select.ts";

export type Hint = readonly [key: string, does: string];

export function hintsOf(state: State): readonly Hint[] {
  const { mode } = state;
  switch (mode.name) {
    case "search":
      return [
        ["Enter", "keep"],
        ["Esc", "drop"],
        ["Ctrl-U", "clear"],
      ];
    case "picker":
      return [
        ["↑↓", "choose"],
        ["Enter", "take"],
        ["Esc", "cancel"],
      ];
    case "palette":
      return [
        ["↑↓", "choose"],
        ["Enter", "do it"],
        ["Esc", "cancel"],
      ];
    case "help":
      return [
        ["↑↓", "scroll"],
        ["Esc", "close"],
      ];
    case "confirm":
      return [];
    case "image":
      return [["any key", "back"]];
    case "approval":
      return [
        ["y", "allow once"],
        ["H", "for an hour"],
        ["S", "for its session"],
        ["n", "deny"],
        ["Tab", "next"],
        ["↑↓", "scroll"],
        ["Esc", "back"],
      ];
    case "lock":
      return [
        ["Y", "approve all of it"],
        ...(mode.servers[mode.index]?.state === "upgrade" ? ([["X", "switch without an approval"]] as const) : []),
        ["Tab", "next"],
        ["↑↓", "scroll"],
        ["Esc", "back"],
      ];
    case "view":
      return [...viewerHints, ["Esc", "back"]];
    case "call":
      return callHints(state, mode.form);
    case "browse":
      return state.details === "focused"
        ? [
            ["↑↓", "scroll"],
            ["Esc", "back to the list"],
            ["y", "copy"],
            ["?", "help"],
            ["q", "quit"],
          ]
        : [...panelHints(state), ["?", "help"], ["q", "quit"]];
  }
}

const viewerHints: readonly Hint[] = [
  ["↑↓", "move"],
  ["Enter", "fold"],
  ["-+", "fold all"],
  ["w", "save"],
  ["y", "copy"],
];

function callHints(state: State, { stage, target }: CallForm): readonly Hint[] {
  switch (stage.name) {
    case "edit":
      return [
        ["Tab", "next"],
        ["←→", "move, choose"],
        ["Ctrl-S", target.kind === "tool" ? "call" : "go"],
        ["Esc", "close"],
      ];
    case "confirm":
      return [
        ["y", "call it"],
        ["n", "back"],
      ];
    case "running": {
      const question = openQuestion(state);
      if (question === undefined) return [["Esc", "cancel the call"]];
      if (question.kind === "other")
        return [
          ["Enter", "refuse"],
          ["Esc", "refuse"],
        ];
      const link: readonly Hint[] = question.kind === "link" ? [["Ctrl-Y", "copy the address"]] : [];
      return [["Tab", "next"], ["Ctrl-S", "answer"], ["Ctrl-D", "decline"], ...link, ["Esc", "cancel the question"]];
    }
    case "done": {
      const watch: readonly Hint[] = target.kind === "resource" ? [["W", "watch"]] : [];
      return [...viewerHints, ...watch, ["Esc", "back"]];
    }
  }
}

function panelHints(state: State): readonly Hint[] {
  const isOpen = layoutOf(state).detailsColumns > 0;
  const open: Hint = isOpen ? ["Enter", "scroll"] : ["Enter", "details"];
  const lists: readonly Hint[] = [open, ["/", "search"], ["s", "server"]];
  switch (state.panel) {
    case "overview":
      return [
        ["Tab", "next panel"],
        ["1-7", "panels"],
        [":", "palette"],
        ["R", "reload config"],
      ];
    case "servers": {
      const selected = selectedItem(state);
      const toggle = selected?.list === "servers" && selected.item.state === "disabled" ? "enable" : "disable";
      return [
        open,
        ["T", "tools"],
        ["L", "logs"],
        ["r", "restart"],
        ["e", toggle],
        ["/", "search"],
        ["S", "sort"],
        [":", "palette"],
      ];
    }
    case "tools":
      return [...lists, ["c", "call"], ["S", "sort"], ["y", "copy"], [":", "palette"]];
    case "prompts":
      return [...lists, ["c", "get"], ["S", "sort"], ["y", "copy"], [":", "palette"]];
    case "resources": {
      const other: Hint = ["t", state.inTemplates ? "resources" : "templates"];
      return [
        open,
        ["c", "read"],
        ["W", "watch"],
        ["/", "search"],
        ["s", "server"],
        ["m", "type"],
        other,
        ["S", "sort"],
      ];
    }
    case "logs":
      return [...lists, ["L", "level"], ["f", state.follow ? "pause" : "follow"], ["S", "sort"], ["y", "copy"]];
    case "calls":
      return [
        ["Enter", isOpen ? "open" : "details"],
        ["/", "search"],
        ["s", "server"],
        ["S", "sort"],
        ["y", "copy"],
        [":", "palette"],
      ];
  }
}
