/**
 * A call in place of the panel: the form, the call under way with its progress, log messages and
 * questions, and the result.
 */

import { clean, cleanLines } from "../../../lib/text/clean.ts";
import { formatDuration, formatMs } from "../../../lib/text/format.ts";
import { shorten, widthOf, wrap } from "../../../lib/text/width.ts";
import type { Field } from "../../forms/form.ts";
import type { CallForm } from "../state/call-form.ts";
import type { Layout } from "../state/layout.ts";
import type { State } from "../state/model.ts";
import { windowTop } from "../state/select.ts";
import type { Done, Question, Running, Target } from "../state/stage.ts";
import { cutMiddle, type Line, line, type Span, span } from "../text/line.ts";
import { viewerLines } from "./viewer.ts";

const verbs: Record<Target["kind"], string> = { tool: "Call", prompt: "Get", resource: "Read", template: "Read" };

export function callLines(state: State, form: CallForm, layout: Layout): Line[] {
  const { stage } = form;
  if (stage.name === "done") return resultScreen(state, form, { stage, layout });
  if (stage.name !== "running") return formScreen(form, layout);
  const [question] = stage.questions;
  return question === undefined
    ? runningScreen(state, form, { stage, layout })
    : questionScreen(question, form, layout);
}

function head(form: CallForm, columns: number, more: Line): Line {
  const name = cutMiddle(clean(form.target.name), Math.max(20, columns - 30));
  return [span(` ${verbs[form.target.kind]} `, "accent"), span(name, "title"), ...more];
}

function resultScreen(state: State, form: CallForm, { stage, layout }: { stage: Done; layout: Layout }): Line[] {
  const verdict = stage.failed ? span("failed", "bad") : span("ok", "good");
  const watched = form.target.kind === "resource" ? state.watched[form.target.name] : undefined;
  const updates = watched === undefined ? "" : `  watching, ${watched.updates} updates`;
  const said = stage.said.length === 0 ? "" : `  ${stage.said.length} log messages`;
  const title: Line = [
    span(` ${cutMiddle(clean(form.target.name), Math.max(20, layout.columns - 50))} `, "title"),
    verdict,
    span(`  ${formatMs(stage.ms)}${updates}${said}`, "quiet"),
  ];
  return viewerLines(stage.viewer, title, layout);
}

/** What is known while the server works: how long, how far, and what it says. */
function runningScreen(state: State, form: CallForm, { stage, layout }: { stage: Running; layout: Layout }): Line[] {
  const { columns, body } = layout;
  const gerund = { tool: "calling", prompt: "getting", resource: "reading", template: "reading" }[form.target.kind];
  const lines: Line[] = [
    head(form, columns, []),
    line(""),
    line(`   ${gerund} … ${formatDuration(state.now - stage.since)}`, "warn"),
    ...progressLines(stage, columns),
  ];
  if (stage.said.length > 0) lines.push(line(""), line(" Log messages", "accent"));
  const room = Math.max(0, body - lines.length);
  return [...lines, ...stage.said.slice(-room).map((one) => line(`   ${one}`))];
}

function progressLines({ progress }: Running, columns: number): Line[] {
  if (progress === undefined) return [];
  const { progress: done, total, message } = progress;
  const share = total === undefined || total <= 0 ? undefined : Math.max(0, Math.min(1, done / total));
  const width = Math.min(40, columns - 30);
  const full = Math.round((share ?? 0) * width);
  const bar: Line =
    share === undefined
      ? [span(`   ${done}`, "title")]
      : [
          span("   "),
          span("█".repeat(full), "good"),
          span("░".repeat(width - full), "quiet"),
          span(`  ${done} of ${total}  ${Math.round(share * 100)} %`, "title"),
        ];
  return [line(""), bar, ...(message === undefined ? [] : [line(`   ${message}`)])];
}

function questionScreen(question: Question, form: CallForm, { columns, body }: Layout): Line[] {
  const intro = question.kind === "other" ? "asks for a model's words, which the dashboard does not have" : "asks";
  const asked = cleanLines(question.message)
    .flatMap((one) => wrap(one, columns - 6))
    .slice(0, Math.max(2, Math.floor(body / 3)));
  const top: Line[] = [
    [span(` ${clean(form.target.name)} `, "title"), span(intro, "warn")],
    line(""),
    ...asked.map((one) => line(`   ${one}`)),
    ...(question.link === undefined ? [] : [line(""), ...linkLines(question.link, columns)]),
    line(""),
  ];
  const { fields, focus } = question.form;
  const groups = [...fields.map((field, index) => fieldLines(field, index === focus, columns)), buttons(question)];
  return [...top, ...scrolled(groups, Math.min(focus, groups.length - 1), body - top.length)];
}

function linkLines(link: string, columns: number): Line[] {
  return [
    line("   Open this address in a browser, then accept:", "quiet"),
    ...wrap(clean(link), columns - 6).map((one) => line(`   ${one}`, "accent")),
  ];
}

function buttons({ kind, form }: Question): Line[] {
  const at = form.focus - form.fields.length;
  const labels = kind === "other" ? ["Refuse"] : kind === "link" ? ["Accept", "Decline"] : ["Send", "Decline"];
  const shown = labels.flatMap((label, index) => [
    span(index === at || labels.length === 1 ? " ▸ " : "   ", "accent"),
    span(`[ ${label} ]`, index === at || labels.length === 1 ? "selected" : "title"),
  ]);
  return [line(""), shown];
}

function formScreen(form: CallForm, layout: Layout): Line[] {
  const { columns, body } = layout;
  const blocks = form.fields.map((field, index) => fieldLines(field, index === form.focus, columns));
  const none = form.fields.length === 0 ? [line(" This tool takes no arguments.", "quiet")] : [];
  const top = [head(form, columns, [span("  * required", "quiet")]), line(""), ...none];
  return [...top, ...scrolled([...blocks, buttonLines(form)], form.focus, body - top.length)];
}

/** Keeps the focused group and its message visible. */
function scrolled(groups: readonly Line[][], focus: number, height: number): Line[] {
  const lines = groups.flat();
  const before = groups.slice(0, focus).reduce((sum, group) => sum + group.length, 0);
  const top = windowTop(before + 1, lines.length, height);
  return lines.slice(top, top + height);
}

function buttonLines(form: CallForm): Line[] {
  const verb = verbs[form.target.kind];
  if (form.stage.name === "confirm") {
    return [
      line(""),
      [
        span("   This tool may destroy something. Call it? ", "warn"),
        span("y", "title"),
        span(" yes  "),
        span("n", "title"),
        span(" no"),
      ],
    ];
  }
  const focused = form.focus >= form.fields.length;
  const note =
    form.stage.name === "edit" && form.stage.note !== undefined ? [line(`   ${form.stage.note}`, "warn")] : [];
  const risky =
    form.target.kind === "tool" && form.target.destructive ? span("  destructive: asks first", "warn") : span("");
  return [
    line(""),
    [span(focused ? " ▸ " : "   ", "accent"), span(`[ ${verb} ]`, focused ? "selected" : "title"), risky],
    ...note,
  ];
}

function fieldLines(field: Field, focused: boolean, columns: number): Line[] {
  const label = clean(field.name);
  const wants = field.wants === "" ? "" : `  ${field.wants}`;
  const heading: Line = [
    span(focused ? " ▸ " : "   ", "accent"),
    span(label, focused ? "accent" : "title"),
    span(field.required ? "* " : "  ", "bad"),
    span(shorten(clean(field.type), Math.max(8, Math.floor(columns / 3))), "quiet"),
    span(shorten(clean(wants), Math.floor(columns / 2)), "number"),
    ...(field.description === "" ? [] : [span(`  ${field.description}`, "quiet")]),
  ];
  const error = field.error === undefined ? [] : [line(`     ✗ ${field.error}`, "bad")];
  const suggested = focused && field.suggestions.length > 0 ? [suggestions(field, columns)] : [];
  return [heading, [span("     "), ...valueSpans(field, focused, columns - 7)], ...suggested, ...error];
}

function suggestions(field: Field, columns: number): Line {
  return [span("     Ctrl-N: ", "quiet"), span(shorten(clean(field.suggestions.join("  ")), columns - 16), "string")];
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
