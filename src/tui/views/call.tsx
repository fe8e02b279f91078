/**
 * The call form and the result of a call, in place of the panel.
 */

import { clean } from "../../text/clean.ts";
import { formatDuration, formatMs } from "../../text/format.ts";
import { shorten, widthOf } from "../../text/width.ts";
import { resultHeight, resultLines } from "../content/result.ts";
import type { CallForm, Field } from "../state/form.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { windowTop } from "../state/select.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { Rows } from "./line.tsx";

export function CallView({ state, form, layout }: { state: State; form: CallForm; layout: Layout }) {
  const lines = form.stage.name === "done" ? resultScreen(form, form.stage, layout) : formScreen(state, form, layout);
  return <Rows lines={lines} width={layout.columns} height={layout.body} />;
}

function resultScreen(form: CallForm, stage: Extract<CallForm["stage"], { name: "done" }>, layout: Layout): Line[] {
  const lines = resultLines(stage.text, layout.columns);
  const height = resultHeight(layout);
  const top = Math.max(0, Math.min(stage.top, lines.length - height));
  const place =
    lines.length > height ? `  lines ${top + 1}–${Math.min(lines.length, top + height)} of ${lines.length}` : "";
  const verdict = stage.failed ? span("failed", "bad") : span("ok", "good");
  return [
    [span(` ${form.tool} `, "title"), verdict, span(`  ${formatMs(stage.ms)}${place}`, "quiet")],
    line(""),
    ...lines.slice(top, top + height).map((one) => [span(" "), ...one]),
  ];
}

function formScreen(state: State, form: CallForm, layout: Layout): Line[] {
  const { columns, body } = layout;
  const blocks = form.fields.map((field, index) => fieldLines(field, index === form.focus, columns));
  const button = buttonLines(state, form);
  const groups = [...blocks, button];
  const lines = groups.flat();
  const before = groups.slice(0, form.focus).reduce((sum, group) => sum + group.length, 0);
  const height = body - 2;
  // Keeps the focused field and its message visible.
  const top = windowTop(before + 1, lines.length, height);
  const none = form.fields.length === 0 ? [line(" This tool takes no arguments.", "quiet")] : [];
  return [
    [span(" Call ", "accent"), span(form.tool, "title"), span("  * required", "quiet")],
    line(""),
    ...none,
    ...lines.slice(top, top + height - none.length),
  ];
}

function buttonLines(state: State, form: CallForm): Line[] {
  if (form.stage.name === "running") {
    return [line(""), line(`   calling … ${formatDuration(state.now - form.stage.since)}`, "warn")];
  }
  const focused = form.focus >= form.fields.length;
  return [line(""), [span(focused ? " ▸ " : "   ", "accent"), span("[ Call ]", focused ? "selected" : "title")]];
}

function fieldLines(field: Field, focused: boolean, columns: number): Line[] {
  const label = clean(field.name);
  const head: Line = [
    span(focused ? " ▸ " : "   ", "accent"),
    span(label, focused ? "accent" : "title"),
    span(field.required ? "* " : "  ", "bad"),
    span(shorten(clean(field.type), Math.max(8, Math.floor(columns / 3))), "quiet"),
    ...(field.description === "" ? [] : [span(`  ${field.description}`, "quiet")]),
  ];
  const error = field.error === undefined ? [] : [line(`     ✗ ${field.error}`, "bad")];
  return [head, [span("     "), ...valueSpans(field, focused, columns - 7)], ...error];
}

function valueSpans(field: Field, focused: boolean, width: number): Span[] {
  if (field.options.length > 0) return choiceSpans(field, focused, width);
  const text = clean(field.text);
  if (!focused) return [span(text === "" ? "–" : shorten(text, width), text === "" ? "quiet" : "plain")];
  // Scrolls a long text so that the caret stays visible.
  const from = Math.max(0, field.caret - (width - 2));
  const shown = text.slice(from);
  const at = field.caret - from;
  return [
    span(shown.slice(0, at)),
    span(shown[at] ?? " ", "selected"),
    span(shorten(shown.slice(at + 1), width - at - 1)),
  ];
}

/** Shows all options if they fit, else the chosen one with its position. */
function choiceSpans(field: Field, focused: boolean, width: number): Span[] {
  const label = (option: string): string => (option === "" ? "(leave out)" : clean(option).replace(/^"(.*)"$/, "$1"));
  const total = field.options.reduce((sum, option) => sum + widthOf(label(option)) + 2, 0);
  if (total > width) {
    const place = `${field.options.indexOf(field.text) + 1} of ${field.options.length}`;
    return [span("‹ "), span(label(field.text), focused ? "selected" : "title"), span(" › "), span(place, "quiet")];
  }
  return field.options.map((option) => {
    const chosen = option === field.text;
    return span(
      chosen ? `[${label(option)}]` : ` ${label(option)} `,
      chosen ? (focused ? "selected" : "title") : "quiet",
    );
  });
}
