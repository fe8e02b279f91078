/**
 * Fetches one list of a server, page by page, within a budget.
 *
 * Invariant: every fetch ends. Repeated or endless cursors fail it. A list that exceeds the budget
 * is cut, and the entries so far are kept.
 */
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import { limitExceeded } from "../../../mcp/protocol/limit-exceeded.ts";
import type { ListKind } from "../../../mcp/protocol/methods.ts";
import { type CacheHints, combineHints, type Definition, setHints } from "../definitions.ts";
import type { ListBudget } from "./list-budget.ts";
import { type LeftOut, readPage } from "./read-page.ts";

export interface ListSource {
  readonly method: string;
  readonly kind: ListKind;
  readonly member: string;
}

export interface FetchOptions {
  /** Sends a request to the server; `params` is raw JSON. */
  readonly request: (method: string, params: string) => Promise<Answer>;
  readonly budget: ListBudget;
  /** The size limit of one entry, in bytes. */
  readonly definitionBytes: number;
}

export interface FetchedList {
  readonly definitions: readonly Definition[];
  readonly leftOut: readonly LeftOut[];
  /** The reason if the list was cut. */
  readonly cut: string | undefined;
}

const MAX_PAGES = 10_000;
const MAX_ENTRIES = 200_000;
const REASON_CHARACTERS = 500;

export async function fetchList({ method, kind, member }: ListSource, options: FetchOptions): Promise<FetchedList> {
  const { request, budget, definitionBytes } = options;
  const all: Definition[] = [];
  const leftOut: LeftOut[] = [];
  const hints: CacheHints[] = [];
  const seen = new Set<string>();
  const done = (cut?: string): FetchedList => {
    setHints(all, combineHints(hints));
    return { definitions: all, leftOut, cut };
  };
  let params = "{}";
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await request(method, params);
    if (!answer.ok) throw new ListRefused(answer.code, answer.raw);
    if (!budget.page(kind, answer.raw.length)) return done(tooMuch(method, all.length, budget.limit));
    const {
      definitions,
      leftOut: without,
      nextCursor,
      hints: pageHints,
    } = await readPage(answer.raw, member, definitionBytes);
    hints.push(pageHints);
    const taken = budget.entries(kind, definitions.length);
    for (let i = 0; i < taken; i++) all.push(definitions[i]!);
    for (const entry of without) leftOut.push(entry);
    if (taken < definitions.length) return done(tooMuch(method, all.length, budget.limit));
    if (nextCursor === undefined) return done();
    if (seen.has(nextCursor))
      throw new GoblinError("BACKEND_ERROR", `${method}: the server repeats the cursor of an earlier page`);
    if (all.length > MAX_ENTRIES) break;
    seen.add(nextCursor);
    params = `{"cursor":${JSON.stringify(nextCursor)}}`;
  }
  throw new GoblinError("BACKEND_ERROR", `${method}: the list does not end (${all.length} entries so far)`);
}

function tooMuch(method: string, kept: number, value: number): string {
  const what = `the server's lists are too large; ${method} is cut after ${kept} entries`;
  return limitExceeded({ limit: "catalogBytes", value, what, advice: "let the server list less" }).message;
}

export class ListRefused extends Error {
  readonly rpcCode: number;

  constructor(rpcCode: number, raw: string) {
    super(raw.slice(0, REASON_CHARACTERS));
    this.rpcCode = rpcCode;
  }
}
