/** A call in full for the details panel: timing, arguments, answer, what happened meanwhile. */

import { isRecord } from "../../../lib/structures/record.ts";
import { formatBytes, formatClock, formatMs } from "../../../lib/text/format.ts";
import type { CallDetails } from "../../api/live/schema.ts";
import type { CallRow } from "../../api/schema.ts";
import type { About } from "../state/model.ts";
import { type Line, line, span } from "../text/line.ts";
import { type Block, resultBlocks } from "./blocks.ts";
import { type Fact, facts, heading, json, type Page, paragraph } from "./paragraph.ts";
import { levelTones, outcomeTones } from "./tones.ts";

export function callLines(page: Page, row: CallRow, about: About | undefined): Line[] {
  const call = about?.call;
  return [
    ...paragraph(page, row.name ?? row.method, { tone: "title" }),
    ...facts(page, [
      ["outcome", row.outcome + (row.code === null ? "" : ` (${row.code})`), outcomeTones[row.outcome]],
      ["ended", formatClock(row.time)],
      ["took", formatMs(row.ms)],
      ...timing(call),
      ["masked", maskedText(call?.masked ?? 0), "warn"],
      ["method", row.method],
      ["server", row.serverId ?? "none"],
      ["client", row.client ?? undefined],
      ["who", row.who ?? undefined],
      ["profile", row.profile ?? undefined],
      ["replica", row.replica],
      ["id", row.requestId],
    ]),
    ...(call === undefined
      ? [line(""), line(about?.error ?? "loading …", about?.error === undefined ? "quiet" : "warn")]
      : bodyLines(page, call)),
  ];
}

function maskedText(count: number): string | undefined {
  return count === 0 ? undefined : `${count} ${count === 1 ? "key or token" : "keys or tokens"}`;
}

function timing(call: CallDetails | undefined): Fact[] {
  if (call === undefined) return [];
  const { beforeMs, serverMs, afterMs } = call.timing;
  if (serverMs === null) return [["", "answered by the gateway itself"]];
  return [
    ["  server", formatMs(serverMs)],
    [
      "  gateway",
      `${formatMs((beforeMs ?? 0) + (afterMs ?? 0))} (before ${formatMs(beforeMs)}, after ${formatMs(afterMs)})`,
    ],
  ];
}

function bodyLines(page: Page, call: CallDetails): Line[] {
  return [...askedLines(page, call), ...answerLines(page, call), ...meanwhile(page, call)];
}

function askedLines(page: Page, { params, paramsBytes }: CallDetails): Line[] {
  if (params === null)
    return [...heading("Arguments"), line(` too large to keep: ${formatBytes(paramsBytes)}`, "quiet")];
  const given = isRecord(params) ? (params["arguments"] ?? {}) : params;
  return [...heading("Arguments"), ...json(page, given)];
}

function answerLines(page: Page, { result, error, answerBytes }: CallDetails): Line[] {
  if (error !== undefined) {
    const { message, data } = isRecord(error) ? error : {};
    return [
      ...heading("Error"),
      ...paragraph(page, String(message ?? ""), { indent: 1, tone: "bad" }),
      ...(data === undefined ? [] : json(page, data)),
    ];
  }
  const title = heading(`Answer  ${formatBytes(answerBytes)}`);
  if (!isRecord(result)) return [...title, line(" too large to keep", "quiet")];
  return [...title, ...resultBlocks(result).flatMap((block) => blockLines(page, block))];
}

function blockLines(page: Page, block: Block): Line[] {
  if (block.kind === "json") return json(page, block.value);
  if (block.kind === "text") return paragraph(page, block.text, { indent: 1 });
  return [line(` [${block.mimeType}, ${formatBytes(Math.floor((block.data.length * 3) / 4))}]`)];
}

function meanwhile(page: Page, { notifications, logs }: CallDetails): Line[] {
  const said = notifications.flatMap((one) => {
    const { method, params } = isRecord(one) ? one : {};
    const { progress, total, message, level, data } = isRecord(params) ? params : {};
    const words =
      method === "notifications/progress"
        ? `progress ${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}${message === undefined ? "" : `: ${String(message)}`}`
        : `${String(level)}: ${typeof data === "string" ? data : JSON.stringify(data)}`;
    return paragraph(page, words, { indent: 1 });
  });
  const lines = logs.flatMap((entry) => {
    const [first = [], ...more] = paragraph(page, entry.msg, { indent: 1 });
    return [[span(formatClock(entry.time), levelTones[entry.level]), ...first], ...more];
  });
  return [
    ...(said.length === 0 ? [] : [...heading("Progress and messages"), ...said]),
    ...(lines.length === 0 ? [] : [...heading("The server's log meanwhile"), ...lines]),
  ];
}
