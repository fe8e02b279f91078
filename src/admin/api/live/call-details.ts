/**
 * Shows a kept call in full, with secrets masked. This is where a kept text is parsed first, if at
 * all.
 *
 * Invariant: what leaves here passed the masker and the rules of the audit log. Texts without a
 * secret keep their exact bytes.
 */

import { rawText } from "../../../mcp/protocol/json-rpc.ts";
import { masked } from "../../../observe/telemetry/audit-mask.ts";
import type { KeptCall } from "../../../observe/telemetry/kept-calls.ts";
import type { LogBook } from "../../../observe/telemetry/log-book.ts";
import { logEntry } from "../api-rows.ts";
import type { CallText } from "./schema.ts";

const MAX_LINES = 100;

/** Returns the messages of a call, as they would be on the wire. */
export function callText({ record, params, ok, answer }: KeptCall, logs: LogBook): CallText {
  const mask = (text: string): string => logs.masker.json(shown(text));
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(record.requestId)}`;
  return {
    request:
      params === undefined ? null : `${head},"method":${JSON.stringify(record.method)},"params":${mask(params)}}`,
    answer: answer === undefined ? null : `${head},"${ok ? "result" : "error"}":${mask(rawText(answer))}}`,
  };
}

/** Returns the response's JSON. */
export function callDetails(kept: KeptCall, logs: LogBook): string {
  const { record, beforeMs, serverMs } = kept;
  const { ms, time, serverId } = record;
  const afterMs = beforeMs === null || serverMs === null ? null : Math.max(0, ms - beforeMs - serverMs);
  const mask = (text: string): string => logs.masker.json(shown(text));
  const answer = kept.answer === undefined ? "null" : mask(rawText(kept.answer));
  const params = kept.params === undefined ? "null" : mask(kept.params);
  const lines = serverId === null ? [] : linesBetween(logs, serverId, { from: time - ms, until: time });
  const rest = {
    ...record,
    // Of a text that is not kept, only its length is known.
    masked: kept.masked,
    paramsBytes: kept.params === undefined ? kept.paramsBytes : Buffer.byteLength(kept.params),
    paramsMasked: kept.params !== undefined && params !== kept.params,
    answerBytes: kept.answer === undefined ? kept.answerBytes : Buffer.byteLength(kept.answer),
    timing: { beforeMs, serverMs, afterMs },
    logs: lines,
  };
  const members = [
    `"params":${params}`,
    `"${kept.ok ? "result" : "error"}":${answer}`,
    `"notifications":[${kept.emitted.map(mask).join(",")}]`,
  ];
  return `${JSON.stringify(rest).slice(0, -1)},${members.join(",")}}`;
}

/** Returns the text itself unless something in it looks like a secret. */
function shown(text: string): string {
  const value: unknown = JSON.parse(text);
  const safe = JSON.stringify(masked(value));
  return safe === JSON.stringify(value) ? text : safe;
}

function linesBetween(logs: LogBook, serverId: string, { from, until }: { from: number; until: number }) {
  const lines = logs.lines().filter(({ server, time }) => server === serverId && time >= from - 1 && time <= until + 1);
  return lines.slice(-MAX_LINES).map(logEntry);
}
