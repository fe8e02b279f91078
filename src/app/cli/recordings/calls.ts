/**
 * `goblin calls`: the newest calls of a running gateway, or those of a recording, and one of them
 * in full.
 */
import type { CallRow } from "../../../admin/api/schema.ts";
import { clean } from "../../../lib/text/clean.ts";
import { formatBytes, formatClock, formatMs } from "../../../lib/text/format.ts";
import { isFailure } from "../../../mcp/protocol/outcomes.ts";
import type { GatewayOptions } from "../gateway/find-gateway.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { type Column, formatTable, printJson, printTable, withReplica } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { withAdmin } from "./admin.ts";
import { curlOf, harOf } from "./as-requests.ts";
import { type CallSource, type FullCall, isGone, recordedSource, runningSource } from "./call-source.ts";

interface CallsOptions extends GatewayOptions {
  readonly from?: string | undefined;
  readonly server?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly last: number;
  readonly follow?: boolean | undefined;
  readonly curl?: boolean | undefined;
  readonly har?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const columns: Column<CallRow>[] = [
  { title: "TIME", text: ({ time }) => formatClock(time) },
  { title: "ID", text: ({ requestId }) => requestId },
  {
    title: "OUTCOME",
    text: ({ outcome }) => outcome,
    colour: ({ outcome }) => (outcome === "ok" ? "green" : outcome === "cancelled" ? "dim" : "red"),
  },
  { title: "TOOK", text: ({ ms }) => formatMs(ms), align: "right" },
  { title: "SERVER", text: ({ serverId }) => serverId ?? "–" },
  { title: "CLIENT", text: ({ client, who }) => [client, who && `(${who})`].filter(Boolean).join(" ") || "–" },
  { title: "CALL", text: ({ method, name }) => (name === null ? method : `${method} ${name}`) },
];

export function calls(options: CallsOptions): Promise<number> {
  const { from, follow, curl, har, json } = options;
  if (curl && har) throw new UsageError("--curl and --har are two forms: use one of them");
  if (from !== undefined) {
    if (follow) throw new UsageError("a recording does not go on: --follow is for a running gateway");
    return printCalls(recordedSource(from, options.url), options);
  }
  if (follow && har) throw new UsageError("an archive has an end: use --har without --follow");
  return withAdmin(options, async (admin, hasToken) => {
    const source = await runningSource(admin, hasToken);
    await printCalls(source, options);
    if (!follow) return 0;
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    await admin
      .stream({
        onOpen: () => {},
        onEvent: ({ type, data }) => {
          if (type !== "call" || !isWanted(data, options)) return;
          if (curl) void printFull([data], source, options);
          else if (json) console.log(safeJson(data));
          else
            console.log(
              formatTable([data], withReplica([data], columns))
                .split("\n")
                .slice(1)
                .join("\n"),
            );
        },
        signal: stop.signal,
      })
      .catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
      });
    return 0;
  });
}

export function showCall(id: string, options: CallsOptions): Promise<number> {
  const show = async (source: CallSource): Promise<number> => {
    const call = await source.find(id);
    if (options.curl) console.log(curlOf(call, source.api));
    else if (options.har) printJson(harOf([call], source.endpoint));
    else if (options.json) printJson({ ...call.row, ...parsed(call) });
    else for (const line of describe(call)) console.log(line);
    return 0;
  };
  if (options.from !== undefined) return show(recordedSource(options.from, options.url));
  return withAdmin(options, async (admin, hasToken) => show(await runningSource(admin, hasToken)));
}

function isWanted({ serverId, outcome }: CallRow, { server, failed }: CallsOptions): boolean {
  return (server === undefined || serverId === server) && (!failed || isFailure(outcome));
}

async function printCalls(source: CallSource, options: CallsOptions): Promise<number> {
  const rows = (await source.list()).filter((row) => isWanted(row, options)).slice(-options.last);
  if (options.curl || options.har) await printFull(rows, source, options);
  else if (options.json) {
    if (options.follow) for (const row of rows) console.log(safeJson(row));
    else printJson(rows);
  } else if (rows.length === 0) console.error("no calls");
  else printTable(rows, withReplica(rows, columns));
  return 0;
}

async function printFull(rows: readonly CallRow[], source: CallSource, { har }: CallsOptions): Promise<void> {
  const found: FullCall[] = [];
  for (const { requestId } of rows) {
    try {
      found.push(await source.find(requestId));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  const gone = rows.length - found.length;
  if (gone > 0) console.error(`${gone} of ${rows.length} calls are not kept any more ("calls.keep")`);
  if (har) printJson(harOf(found, source.endpoint));
  else for (const call of found) console.log(curlOf(call, source.api));
}

function parsed({ request, answer, notifications, timing }: FullCall): object {
  const value = (text: string | null): unknown => (text === null ? null : (JSON.parse(text) as unknown));
  return { request: value(request), answer: value(answer), notifications, timing };
}

function* describe({ row, request, answer, notifications, timing }: FullCall): Generator<string> {
  const { method, name, serverId, client, who, profile, outcome, code, ms, time, replica } = row;
  yield clean(`${method}${name === null ? "" : ` ${name}`}: ${outcome}${code === null ? "" : ` (${code})`}`);
  const by = `${client ?? "an unnamed client"}${who === null ? "" : ` of ${who}`}`;
  const at = serverId === null ? "" : ` at ${serverId}`;
  const through = replica === undefined ? "" : ` through replica ${replica}`;
  yield clean(
    `by ${by}${profile === null ? "" : ` in profile ${profile}`}${at}${through}, ended ${new Date(time).toISOString()}`,
  );
  const part = (label: string, value: number | null): string => (value === null ? "" : `, ${formatMs(value)} ${label}`);
  const parts = timing
    ? part("in the gateway before", timing.beforeMs) +
      part("at the server", timing.serverMs) +
      part("in the gateway after", timing.afterMs)
    : "";
  yield `took ${formatMs(ms)}${parts}`;
  for (const [title, text] of [
    ["Request", request],
    ["Answer", answer],
  ] as const) {
    yield "";
    yield text === null ? `${title}: not kept` : `${title}, ${formatBytes(Buffer.byteLength(text))}:`;
    if (text !== null) yield safeJson(JSON.parse(text), 2);
  }
  if (notifications.length === 0) return;
  yield "";
  yield "Meanwhile:";
  for (const notification of notifications) yield safeJson(notification);
}
