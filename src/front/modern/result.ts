/**
 * Puts a result or error into the form of 2026-07-28. It adds the result type, the gateway's
 * identity and the required cache hints, and replaces error codes that this version does not know.
 * Marks that a server of the same version set stay, except for its identity.
 */

import type { Question } from "../../core/session/dialogue.ts";
import { JsonKey } from "../../lib/json/json-key.ts";
import { skipBlank } from "../../lib/json/json-scan.ts";
import { eachMember, prependMembers, type Span, setMember, toDisplayText } from "../../lib/json/json-text.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import { SERVER_INFO } from "../../mcp/protocol/envelope.ts";
import { errorTable, GoblinError, LINKS_REQUIRED } from "../../mcp/protocol/errors.ts";
import {
  type Answer,
  type ErrorAnswer,
  failure,
  type Raw,
  rawText,
  withErrorCode,
} from "../../mcp/protocol/json-rpc.ts";
import { listMethods } from "../../mcp/protocol/methods.ts";
import type { CacheHints } from "../../upstream/catalog/definitions.ts";

export interface ResultContext {
  readonly method: string;
  /** The gateway's server info, in JSON. */
  readonly identity: string;
  /** For lists: the cache hints that their servers allow. */
  readonly hints: CacheHints;
  /** Whether credentials decided that the client gets it: then no cache may give it to others. */
  readonly isPrivate?: boolean;
}

const RESULT_TYPE = new JsonKey("resultType");
const META = new JsonKey("_meta");
const TTL = new JsonKey("ttlMs");
const SCOPE = new JsonKey("cacheScope");
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** This version has one number for both. */
const { RESOURCE_NOT_FOUND, INVALID_PARAMS } = errorTable;

/** Each page is built once per catalog, so its marked form is cached too. */
const pages = new WeakMap<Buffer, { readonly marks: string; readonly page: Raw }>();

export function toModern(answer: Answer, context: ResultContext): Answer {
  if (answer.ok) return { ok: true, raw: markOnce(answer.raw, context) };
  if (answer.code === RESOURCE_NOT_FOUND.rpc) return withErrorCode(answer, INVALID_PARAMS.rpc);
  if (answer.code === LINKS_REQUIRED) {
    const message = "The server needs the client to open a link, which this client does not support";
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    return failure(new GoblinError("MISSING_CLIENT_CAPABILITY", message, { data }));
  }
  return answer;
}

/** Marks a list once: megabytes must not be searched and copied again for every client. */
function markOnce(raw: Raw, context: ResultContext): Raw {
  const { method, identity, hints } = context;
  if (typeof raw === "string" || !listMethods.get(method)) return markResult(raw, context);
  const marks = `${hints.ttlMs} ${hints.cacheScope} ${identity}`;
  const known = pages.get(raw);
  if (known?.marks === marks) return known.page;
  const page = markResult(raw, context);
  pages.set(raw, { marks, page });
  return page;
}

function markResult(raw: Raw, { method, identity, hints, isPrivate }: ResultContext): Raw {
  // Only a broken server sends a result that is not an object. It has no members to mark.
  if ((typeof raw === "string" ? raw.charCodeAt(0) : raw[0]) !== OPEN_BRACE) return raw;
  const mayBeCached =
    method === "server/discover" || method === "resources/read" || listMethods.get(method) !== undefined;
  if (!RESULT_TYPE.isIn(raw) && !META.isIn(raw) && !(mayBeCached && (TTL.isIn(raw) || SCOPE.isIn(raw)))) {
    const hintMembers = mayBeCached ? `"ttlMs":${hints.ttlMs},"cacheScope":"${hints.cacheScope}",` : "";
    return prepend(raw, `"resultType":"complete",${hintMembers}"_meta":{"${SERVER_INFO}":${identity}}`);
  }
  const text = rawText(raw);
  let marked = "";
  let from = 0;
  let type: string | undefined;
  let hasTtl = false;
  let hasScope = false;
  let hasMeta = false;
  eachMember(text, 0, (key, start, end) => {
    if (key === "resultType") type = text.slice(start, end);
    else if (key === "ttlMs") hasTtl = true;
    else if (key === "cacheScope") {
      hasScope = true;
      if (!isPrivate || !mayBeCached) return;
      marked += `${text.slice(from, start)}"private"`;
      from = end;
    } else if (key === "_meta") {
      hasMeta = true;
      marked += text.slice(from, start) + withIdentity(text, { start, end }, identity);
      from = end;
    }
  });
  // Only a complete result can be cached, not one that asks for input.
  const cacheable = mayBeCached && (type === undefined || type === '"complete"');
  let members = type === undefined ? ',"resultType":"complete"' : "";
  if (cacheable && !hasTtl) members += `,"ttlMs":${hints.ttlMs}`;
  if (cacheable && !hasScope) members += `,"cacheScope":"${hints.cacheScope}"`;
  if (!hasMeta) members += `,"_meta":{"${SERVER_INFO}":${identity}}`;
  marked += text.slice(from);
  return members === "" ? marked : prependMembers(marked, members.slice(1));
}

/** The `_meta` of the newest small result. A server often gives all its results the same one. */
let newest = { meta: "", identity: "", marked: "" };
/** A part of a longer text is not remembered, because V8 would keep all of it. */
const SMALL = 16 * 1024;

function withIdentity(text: string, { start, end }: Span, identity: string): string {
  const meta = text.slice(start, end);
  if (meta === newest.meta && identity === newest.identity) return newest.marked;
  const marked = meta.startsWith("{") ? setMember(meta, SERVER_INFO, identity) : `{"${SERVER_INFO}":${identity}}`;
  if (text.length <= SMALL) newest = { meta, identity, marked };
  return marked;
}

function prepend(raw: Raw, members: string): Raw {
  if (typeof raw === "string") return prependMembers(raw, members);
  // The first byte is the brace (see protocol/frame.ts and catalog/pages.ts). A large result may be
  // nothing but whitespace inside.
  const isEmpty = raw[skipBlank(raw, 1, raw.length)] === CLOSE_BRACE;
  return Buffer.concat([Buffer.from(`{${members}${isEmpty ? "" : ","}`), raw.subarray(1)]);
}

/**
 * Turns a refusal of an earlier version's server, which wants links opened first, into this
 * version's questions.
 */
export function linkQuestions(answer: ErrorAnswer, client: Client): Question[] | undefined {
  if (answer.code !== LINKS_REQUIRED) return undefined;
  const elicitation = client.capabilities["elicitation"];
  if (typeof elicitation !== "object" || elicitation === null || !("url" in elicitation)) return undefined;
  const { data } = JSON.parse(answer.raw) as { data?: { elicitations?: unknown } };
  if (!Array.isArray(data?.elicitations)) return undefined;
  const questions = data.elicitations.flatMap((entry: unknown, i) => {
    const { message, url } = (entry ?? {}) as Record<string, unknown>;
    if (typeof url !== "string") return [];
    const params = JSON.stringify({ mode: "url", message: toDisplayText(message ?? ""), url });
    return [{ key: `url${i + 1}`, method: "elicitation/create", params }];
  });
  return questions.length > 0 ? questions : undefined;
}
