/**
 * Runs the same requests on two ways to one server and compares the answers: lists, prompts,
 * resources, completions, read-only tools, and what an unknown name gets.
 *
 * Invariant: a tool without `readOnlyHint` is never called. The first way is asked twice: what
 * differs from itself (a time, a random number) says nothing about the second one.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A client that is connected. An error answer rejects with `code`, `message` and `data`. */
export interface Way {
  request(method: string, params?: Fields): Promise<Fields>;
  list(method: string, member: string): Promise<Fields[]>;
}

export interface Difference {
  /** The request, in words: `tools/call echo`. */
  readonly request: string;
  /** Where in the answer: `tools[3].description`. */
  readonly at: string;
  readonly direct: unknown;
  readonly through: unknown;
}

export interface Comparison {
  readonly requests: number;
  /** Requests whose answers differ on the direct way alone, or that got none in time. */
  readonly skipped: readonly string[];
  readonly differences: readonly Difference[];
}

const ANSWER_MS = 8000;
const MAX_PER_KIND = 50;
const UNKNOWN = "goblin-doctor-no-such-name";
const LATE = Symbol("late");

const lists = [
  { method: "tools/list", member: "tools", key: "name" },
  { method: "prompts/list", member: "prompts", key: "name" },
  { method: "resources/list", member: "resources", key: "uri" },
  { method: "resources/templates/list", member: "resourceTemplates", key: "uriTemplate" },
] as const;

export async function compareWays(direct: Way, through: Way): Promise<Comparison> {
  const skipped: string[] = [];
  const differences: Difference[] = [];
  let requests = 0;
  const note = (request: string, first: unknown, second: unknown): void => {
    for (const found of differencesOf(first, second)) differences.push({ request, ...found });
  };
  const found: Record<string, readonly Fields[]> = {};
  for (const { method, member, key } of lists) {
    requests++;
    const [first, second] = await Promise.all([listOn(direct, method, member), listOn(through, method, member)]);
    found[member] = first ?? [];
    note(method, byKey(first ?? [], key), byKey(second ?? [], key));
  }
  for (const { name, method, params } of requestsFor(found)) {
    requests++;
    const ask = (way: Way) => answerOf(way, method, params);
    const first = await ask(direct);
    const isSteady = first !== LATE && isDeepStrictEqual(first, await ask(direct));
    const second = isSteady ? await ask(through) : undefined;
    if (!isSteady) skipped.push(name);
    else if (name.endsWith(UNKNOWN)) note(name, isRefusal(first), isRefusal(second));
    else note(name, first, second === LATE ? "no answer" : second);
  }
  return { requests, skipped, differences };
}

interface Asked {
  readonly name: string;
  readonly method: string;
  readonly params: Fields;
}

function* requestsFor(found: Readonly<Record<string, readonly Fields[]>>): Generator<Asked> {
  const of = (member: string): readonly Fields[] => (found[member] ?? []).slice(0, MAX_PER_KIND);
  for (const tool of of("tools")) {
    if (recordOf(tool["annotations"])["readOnlyHint"] !== true) continue;
    yield { name: `tools/call ${tool["name"]}`, method: "tools/call", params: { name: tool["name"], arguments: {} } };
  }
  for (const prompt of of("prompts")) {
    const names = (Array.isArray(prompt["arguments"]) ? prompt["arguments"] : []).map((one) => recordOf(one));
    const required = names.filter((one) => one["required"] === true).map((one) => [String(one["name"]), "1"]);
    const name = prompt["name"];
    const params = { name, arguments: Object.fromEntries(required) as Fields };
    yield { name: `prompts/get ${name}`, method: "prompts/get", params };
    for (const one of names) yield completion(`${name} ${one["name"]}`, { type: "ref/prompt", name }, one["name"]);
  }
  for (const { uri } of of("resources"))
    yield { name: `resources/read ${uri}`, method: "resources/read", params: { uri } };
  for (const { uriTemplate } of of("resourceTemplates")) {
    const uri = String(uriTemplate);
    for (const [, variable] of uri.matchAll(/\{[+#./;?&]?(\w+)/g))
      yield completion(`${uri} ${variable}`, { type: "ref/resource", uri }, variable);
  }
  yield { name: `tools/call ${UNKNOWN}`, method: "tools/call", params: { name: UNKNOWN, arguments: {} } };
  yield { name: `prompts/get ${UNKNOWN}`, method: "prompts/get", params: { name: UNKNOWN } };
  yield { name: `resources/read doctor:${UNKNOWN}`, method: "resources/read", params: { uri: `doctor:${UNKNOWN}` } };
}

function completion(what: string, ref: Fields, argument: unknown): Asked {
  const params = { ref, argument: { name: argument, value: "" } };
  return { name: `completion/complete ${what}`, method: "completion/complete", params };
}

/** Undefined: the server has no such list. */
function listOn(way: Way, method: string, member: string): Promise<Fields[] | undefined> {
  return way.list(method, member).catch(() => undefined);
}

/** The result, or the error as an answer. */
async function answerOf(way: Way, method: string, params: Fields): Promise<unknown> {
  const answer = way.request(method, params).catch((error: { code?: unknown; message?: string; data?: unknown }) => ({
    error: { code: error.code, message: error.message, ...dataOf(error.data) },
  }));
  return withTimeout(answer as Promise<unknown>, ANSWER_MS, LATE);
}

/** The gateway says which server an error is of, and gives errors of prompts a code of its own. */
function dataOf(data: unknown): Fields {
  if (!isRecord(data)) return data === undefined ? {} : { data };
  const { serverId: _serverId, code, ...rest } = data;
  const own = code === undefined || /^PROMPT-\d+$/.test(String(code)) ? rest : { code, ...rest };
  return Object.keys(own).length === 0 ? {} : { data: own };
}

/** A name that does not exist is refused by an error, or by a result that is one. */
function isRefusal(answer: unknown): string {
  const { error, isError } = recordOf(answer);
  return error !== undefined || isError === true ? "refused" : "answered";
}

function byKey(items: readonly Fields[], key: string): Fields {
  return Object.fromEntries(items.map((item) => [String(item[key]), item]));
}

function* differencesOf(direct: unknown, through: unknown, at = ""): Generator<Omit<Difference, "request">> {
  if (isDeepStrictEqual(direct, through)) return;
  const isBoth = (test: (value: unknown) => boolean): boolean => test(direct) && test(through);
  if (isBoth(isRecord) || isBoth(Array.isArray)) {
    const [a, b] = [direct as Fields, through as Fields];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      yield* differencesOf(a[key], b[key], at === "" ? key : `${at}.${key}`);
    }
  } else yield { at, direct, through };
}
