/**
 * Formats the details of the selected item as lines for the side panel.
 *
 * Pure, so that scrolling knows its limit without drawing.
 */

import { formatAge, formatBytes, formatClock, formatCount, formatMs } from "../../../lib/text/format.ts";
import type { JsonSchema } from "../../../mcp/protocol/schema-shape.ts";
import type { CallRow, LogEntry, PromptRow, ResourceRow, ServerRow, TemplateRow, ToolRow } from "../../api/schema.ts";
import { outline } from "../../forms/schema-outline.ts";
import type { Layout } from "../state/layout.ts";
import type { About, State } from "../state/model.ts";
import { isSubscribed, logText, searchTerms, selectedItem } from "../state/select.ts";
import { type Line, line, span } from "../text/line.ts";
import { callLines } from "./call-details.ts";
import { type Fact, facts, heading, json, type Page, paragraph } from "./paragraph.ts";
import { originLines, stderrLines } from "./server-details.ts";
import { levelTones, stateTone } from "./tones.ts";

/** Returns the number of content rows in the panel. */
export function detailsHeight(layout: Layout): number {
  return layout.body;
}

export function detailsLines(state: State, layout: Layout): Line[] {
  const selected = selectedItem(state);
  const page = { width: Math.max(20, layout.detailsColumns - 3), terms: searchTerms(state.queries[state.panel]) };
  if (selected === undefined) return [line("Nothing is selected", "quiet")];
  switch (selected.list) {
    case "servers":
      return serverLines(page, selected.item, state);
    case "tools":
      return toolLines(page, selected.item);
    case "prompts":
      return promptLines(page, selected.item);
    case "resources":
      return resourceLines(page, selected.item, state);
    case "templates":
      return templateLines(page, selected.item);
    case "logs":
      return logLines(page, selected.item);
    case "calls":
      return callLines(page, selected.item, fetched(state, "calls", selected.item));
  }
}

function title(page: Page, text: string): Line[] {
  return paragraph(page, text, { tone: "title" });
}

function about(page: Page, description: string | undefined): Line[] {
  return description === undefined || description === "" ? [] : [line(""), ...paragraph(page, description)];
}

/** What was fetched about this item; undefined while it is on its way. */
function fetched(state: State, list: "servers", item: ServerRow): About | undefined;
function fetched(state: State, list: "calls", item: CallRow): About | undefined;
function fetched({ about }: State, list: string, item: ServerRow | CallRow): About | undefined {
  return about?.key === `${list} ${"requestId" in item ? item.requestId : item.id}` ? about : undefined;
}

function serverLines(page: Page, server: ServerRow, state: State): Line[] {
  const info = server.serverInfo;
  const about = fetched(state, "servers", server);
  return [
    ...title(page, server.id),
    ...facts(page, [
      [
        "state",
        `${server.state} for ${formatAge(state.now - server.since)}${state.link.status === "away" ? " when last seen" : ""}`,
        stateTone(server.state, state),
      ],
      ["reason", server.reason ?? undefined, "bad"],
      ["upgrade", server.upgrade ?? undefined, "warn"],
      ...originLines(about),
      ["transport", server.transport],
      ["protocol", [server.protocolVersion, server.era].filter((part) => part !== null).join(", ")],
      ["server", info === null ? undefined : [info.title ?? info.name, info.version].filter(Boolean).join(" ")],
      ["tools", `${formatCount(server.counts.tools)} (${formatCount(server.tokens)} tokens)`],
      ["prompts", formatCount(server.counts.prompts)],
      ["resources", formatCount(server.counts.resources)],
      ["templates", formatCount(server.counts.templates)],
      ["calls", formatCount(server.calls)],
      ["errors", formatCount(server.errors), server.errors > 0 ? "bad" : "plain"],
      ["in flight", formatCount(server.inFlight)],
      ["queue", formatCount(server.queue)],
      ["latency", `p50 ${formatMs(server.latency.p50Ms)}, p99 ${formatMs(server.latency.p99Ms)}`],
      ["restarts", formatCount(server.restarts)],
    ]),
    ...stderrLines(page, about),
  ];
}

function toolLines(page: Page, tool: ToolRow): Line[] {
  return [
    ...title(page, tool.name),
    ...(tool.annotations?.["destructiveHint"] === true ? [line("destructive: asks before it is called", "warn")] : []),
    ...facts(page, [
      ["title", tool.title],
      ["server", tool.serverId],
      ["original", tool.originalName === tool.name ? undefined : tool.originalName],
      ["tokens", formatCount(tool.tokens)],
      ["calls", formatCount(tool.calls)],
      ["errors", formatCount(tool.errors), tool.errors > 0 ? "bad" : "plain"],
      ["latency", `p50 ${formatMs(tool.p50Ms)}`],
      ["listed", tool.listed ? "yes" : "no, found by search"],
      ["hints", hints(tool.annotations)],
    ]),
    ...about(page, tool.description),
    ...schemaLines(page, "Input", tool.inputSchema),
    ...(tool.outputSchema === undefined ? [] : schemaLines(page, "Output", tool.outputSchema)),
  ];
}

function hints(annotations: ToolRow["annotations"]): string {
  return Object.entries(annotations ?? {})
    .filter(([, value]) => value === true)
    .map(([name]) => name.replace(/Hint$/, ""))
    .join(", ");
}

function schemaLines(page: Page, name: string, schema: JsonSchema): Line[] {
  const rows = outline(schema);
  if (rows.length === 0) return [...heading(name), line(" no named properties", "quiet")];
  return [
    ...heading(`${name}  (* required)`),
    ...rows.flatMap((row) => {
      const indent = 1 + row.depth * 2;
      const limits = row.limits === "" ? [] : paragraph(page, row.limits, { indent: indent + 2, tone: "quiet" });
      const [first, ...more] = paragraph({ ...page, terms: [] }, `${row.name}${row.required ? "*" : ""}: ${row.type}`, {
        indent,
      });
      return [
        tint(first ?? [], row.name.length + indent),
        ...more,
        ...limits,
        ...(row.description === "" ? [] : paragraph(page, row.description, { indent: indent + 2, tone: "quiet" })),
      ];
    }),
  ];
}

/** Gives the property's name another tone than its type. */
function tint(whole: Line, until: number): Line {
  const text = whole.map((part) => part.text).join("");
  return [span(text.slice(0, until), "good"), span(text.slice(until))];
}

function promptLines(page: Page, prompt: PromptRow): Line[] {
  const rows = prompt.arguments.flatMap((argument) => [
    [span(` ${argument.name}`, "good"), span(argument.required === true ? "*" : "")],
    ...(argument.description === undefined ? [] : paragraph(page, argument.description, { indent: 3, tone: "quiet" })),
  ]);
  return [
    ...title(page, prompt.name),
    ...facts(page, [
      ["title", prompt.title],
      ["server", prompt.serverId],
      ["original", prompt.originalName],
      ["calls", formatCount(prompt.calls)],
      ["errors", formatCount(prompt.errors), prompt.errors > 0 ? "bad" : "plain"],
    ]),
    ...about(page, prompt.description),
    ...(rows.length === 0
      ? [...heading("Arguments"), line(" none", "quiet")]
      : [...heading("Arguments  (* required)"), ...rows]),
  ];
}

function resourceLines(page: Page, resource: ResourceRow, state: State): Line[] {
  const followers = state.subscriptions.filter(
    (item) => item.serverId === resource.serverId && item.uri === resource.originalUri,
  );
  const mark: Fact = isSubscribed(state, resource)
    ? ["subscribed", `● by ${Math.max(followers.length, resource.subscribers)}`, "good"]
    : ["subscribed", "no"];
  const watched = state.watched[resource.uri];
  const watch: Fact = [
    "watched",
    watched && `◉ ${watched.updates} updates${watched.last === undefined ? "" : `, last ${formatClock(watched.last)}`}`,
    "good",
  ];
  return [
    ...title(page, resource.title ?? resource.name),
    ...facts(page, [
      ["URI", resource.uri],
      ["id", resource.id],
      ["original", resource.originalUri],
      ["name", resource.name],
      ["server", resource.serverId],
      ["MIME type", resource.mimeType ?? "unknown"],
      ["size", formatBytes(resource.size)],
      mark,
      watch,
      ...followers.map((item): Fact => ["", `${item.client} since ${formatClock(item.since)}`]),
    ]),
    ...about(page, resource.description),
    ...(resource.meta === undefined ? [] : [...heading("Metadata"), ...json(page, resource.meta)]),
  ];
}

function templateLines(page: Page, template: TemplateRow): Line[] {
  return [
    ...title(page, template.title ?? template.name),
    ...facts(page, [
      ["pattern", template.uriTemplate],
      ["original", template.originalUriTemplate],
      ["name", template.name],
      ["server", template.serverId],
      ["MIME type", template.mimeType ?? "unknown"],
    ]),
    ...about(page, template.description),
    ...(template.meta === undefined ? [] : [...heading("Metadata"), ...json(page, template.meta)]),
  ];
}

function logLines(page: Page, entry: LogEntry): Line[] {
  return [
    [span(formatClock(entry.time), "quiet"), span(" "), span(entry.level.toUpperCase(), levelTones[entry.level])],
    ...facts(page, [
      ["server", entry.server ?? "the gateway"],
      ["replica", entry.replica],
    ]),
    line(""),
    ...paragraph(page, logText(entry)),
    ...(entry.extra === undefined ? [] : [...heading("More"), ...json(page, entry.extra)]),
  ];
}
