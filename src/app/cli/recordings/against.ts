/**
 * `goblin replay --against`: repeats the recorded requests of a server at the real one, and shows
 * which answers changed. Exit code 1 if any did.
 *
 * Invariant: only requests that the recording marks as harmless are repeated, unless told
 * otherwise, and none whose arguments were masked.
 */

import { isRecord, recordOf } from "../../../lib/structures/record.ts";
import { clean } from "../../../lib/text/clean.ts";
import { listMethods } from "../../../mcp/protocol/methods.ts";
import { type Exchange, exchangesOf } from "../../../observe/recording/exchanges.ts";
import { framesOf, indexOf, type Offers } from "../../../observe/recording/read.ts";
import { canonical, type Difference, describe, differences } from "../../replay/compare.ts";
import { type Fields, type McpClient, RpcError } from "../gateway/mcp-client.ts";
import { withTarget } from "../gateway/target.ts";
import { counted } from "../terminal/counted.ts";
import { painter } from "../terminal/paint.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import type { ReplayOptions } from "./replay.ts";

/** The requests that can be repeated on their own. */
const REPEATABLE: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);

interface Compared {
  readonly method: string;
  readonly name: string | undefined;
  readonly requestId: string | undefined;
  readonly differences: readonly Difference[];
}

export async function compareWith(server: string, path: string, options: ReplayOptions): Promise<number> {
  const all = exchangesOf(framesOf(path), server).filter(({ method, answer }) => REPEATABLE.has(method) && answer);
  const offers = indexOf(path).servers?.[server];
  if (all.length === 0 && !offers) {
    const known = Object.keys(indexOf(path).servers ?? {}).join(", ") || "none";
    throw new Error(`${path} has no requests to a server "${server}"; its servers: ${known}`);
  }
  const isHarmless = harmless(offers?.tools);
  const masked = all.filter(({ isMasked }) => isMasked.request);
  const unsafe = all.filter((one) => !isHarmless(one) && !options.all && !masked.includes(one));
  const left = all.filter((one) => !masked.includes(one) && !unsafe.includes(one));
  const compared = await withTarget({ ...options, only: server }, async (target) => {
    const line = createStatusLine();
    const repeated = distinct(left);
    let done = 0;
    line.spin(() => `repeating requests at ${server}: ${done} of ${repeated.length}`);
    const client = await target.mcpOf({}, server);
    try {
      const results = offers ? await compareLists(client, offers) : [];
      for (const exchange of repeated) {
        results.push(await compare(client, exchange));
        done++;
      }
      return results;
    } finally {
      line.clear();
      await client.close().catch(() => {});
    }
  });
  const changed = compared.filter(({ differences: found }) => found.length > 0);
  if (options.json) {
    printJson({ compared: compared.length, changed, skipped: { masked: masked.length, unsafe: unsafe.length } });
  } else {
    const paint = painter(process.stdout);
    for (const { method, name, requestId, differences: found } of changed) {
      console.log(
        paint(
          "bold",
          clean(`${method}${name === undefined ? "" : ` ${name}`}${requestId === undefined ? "" : ` (${requestId})`}`),
        ),
      );
      for (const one of found) console.log(clean(`  ${describe(one)}`));
    }
    console.log(`${counted(compared.length, "request")} repeated, ${counted(changed.length, "answer")} changed`);
    if (unsafe.length > 0)
      console.log(`${counted(unsafe.length, "call")} not repeated, of tools that may change something; --all does`);
    if (masked.length > 0) console.log(`${counted(masked.length, "call")} not repeated, with masked arguments`);
  }
  return changed.length > 0 ? 1 : 0;
}

/** Of equal requests the last one counts. */
function distinct(exchanges: readonly Exchange[]): Exchange[] {
  return [...new Map(exchanges.map((one) => [`${one.method} ${canonical(paramsOf(one))}`, one])).values()];
}

function harmless(tools: readonly unknown[] = []): (exchange: Exchange) => boolean {
  const readOnly = new Set(
    tools.flatMap((tool) => {
      const { name, annotations } = recordOf(tool);
      return recordOf(annotations)["readOnlyHint"] === true ? [name] : [];
    }),
  );
  return (exchange) => exchange.method !== "tools/call" || readOnly.has(paramsOf(exchange)["name"]);
}

function paramsOf({ params }: Exchange): Fields {
  const { _meta, ...rest } = recordOf(JSON.parse(params));
  return rest;
}

/** Compares what the server offers, by name: a list's order does not count. */
async function compareLists(client: McpClient, offers: Offers): Promise<Compared[]> {
  const results: Compared[] = [];
  for (const [method, { kind, member }] of listMethods) {
    const before = offers[kind] ?? [];
    const after = await client.list(method, member).catch(() => []);
    if (before.length === 0 && after.length === 0) continue;
    const found = differences(byName(before), byName(after));
    results.push({ method, name: undefined, requestId: undefined, differences: found });
  }
  return results;
}

function byName(items: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    items.map((item) => {
      const { name, uri, uriTemplate } = recordOf(item);
      return [String(uri ?? uriTemplate ?? name), item];
    }),
  );
}

async function compare(client: McpClient, exchange: Exchange): Promise<Compared> {
  const params = paramsOf(exchange);
  const before: unknown = { [exchange.ok ? "result" : "error"]: own(JSON.parse(exchange.answer!)) };
  let after: unknown;
  try {
    after = { result: own(await client.request(exchange.method, params)) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    after = { error: { code: error.code, message: error.message } };
  }
  const name = params["name"] ?? params["uri"];
  return {
    method: exchange.method,
    name: typeof name === "string" ? name : undefined,
    requestId: exchange.request.call,
    differences: differences(before, after),
  };
}

/** What an answer says, without what the protocol or a gateway adds to it. */
function own(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  if (typeof answer["code"] === "number" && "message" in answer) {
    return { code: answer["code"], message: answer["message"] };
  }
  const { _meta, resultType, ttlMs, cacheScope, ...rest } = answer;
  return rest;
}
