/** Calls as other programs take them: curl commands and HTTP archives (HAR 1.2). Pure. */
import { dropMembers, memberText } from "../../../lib/json/json-text.ts";
import { version } from "../../../lib/package/version.ts";
import { safeText } from "../terminal/safe-json.ts";
import type { FullCall } from "./call-source.ts";

/**
 * Returns a command for a POSIX shell that makes the call through the API, which needs no
 * handshake. What a client sent stays one word of it.
 */
export function curlOf(
  { row, request, isMasked }: FullCall,
  { url, hasToken }: { url: string; hasToken: boolean },
): string {
  // What a client says about itself and its trace is in `_meta`: curl is another client.
  const params = dropMembers(memberText(request ?? "{}", "params") ?? "{}", (key) => key === "_meta");
  const warning = isMasked ? "# Secrets in it are masked: put them in first.\n" : "";
  const command = [
    `curl -sSN ${quoted(`${url}/api/calls`)}`,
    "-H 'content-type: application/json'",
    ...(hasToken ? ['-H "authorization: Bearer $GOBLIN_TOKEN"'] : []),
    `-d ${quoted(safeText(`{"method":${JSON.stringify(row.method)},"params":${params}}`))}`,
  ].join(" \\\n  ");
  return warning + command;
}

export function harOf(calls: readonly FullCall[], endpoint: string): object {
  return {
    log: { version: "1.2", creator: { name: "goblin", version }, entries: calls.map((call) => entry(call, endpoint)) },
  };
}

const HEADERS = [
  { name: "content-type", value: "application/json" },
  { name: "accept", value: "application/json, text/event-stream" },
];

function entry({ row, request, answer, timing }: FullCall, url: string): object {
  const asked = request ?? "";
  const answered = answer ?? "";
  const { beforeMs, serverMs, afterMs } = timing ?? {};
  const shared = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1 };
  return {
    startedDateTime: new Date(row.time - row.ms).toISOString(),
    time: row.ms,
    request: {
      ...shared,
      method: "POST",
      url,
      headers: HEADERS,
      queryString: [],
      bodySize: Buffer.byteLength(asked),
      postData: { mimeType: "application/json", text: asked },
    },
    response: {
      ...shared,
      status: 200,
      statusText: "OK",
      headers: HEADERS.slice(0, 1),
      redirectURL: "",
      content: { size: Buffer.byteLength(answered), mimeType: "application/json", text: answered },
      bodySize: Buffer.byteLength(answered),
    },
    cache: {},
    timings: { send: beforeMs ?? 0, wait: serverMs ?? row.ms, receive: afterMs ?? 0 },
    comment: `${row.method} ${row.name ?? ""} ${row.outcome}`.trim(),
    _goblin: { requestId: row.requestId, server: row.serverId, client: row.client, who: row.who, outcome: row.outcome },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
