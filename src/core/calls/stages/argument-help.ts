/**
 * Adds a tool's input schema to the refusal of wrong arguments, so that a model that called the
 * tool without its schema can correct itself.
 *
 * Only for tools that are not in the client's list: it has the schema of the others. A session gets
 * the schema of a tool once; a client without a session cannot be told from another, and gets it
 * each time. All other answers stay as they are.
 */

import { applyEdits, elementSpans, memberSpan, memberText, setMember } from "../../../lib/json/json-text.ts";
import { BoundedSet } from "../../../lib/structures/bounded-map.ts";
import { isRecord, recordOf } from "../../../lib/structures/record.ts";
import type { Call } from "../../../mcp/protocol/call.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, rawText } from "../../../mcp/protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

/** Longer answers are no refusals, and longer schemas no help. */
const MAX_LENGTH = 16 * 1024;
/** The most schemas that are known to have been sent. */
const MAX_SENT = 10_000;

export class ArgumentHelp implements Stage {
  readonly #sent = new BoundedSet<string>(MAX_SENT);

  leave({ call }: Flight, route: Route, answer: Answer): Answer {
    if (call.method !== "tools/call" || answer.raw.length > MAX_LENGTH) return answer;
    const { exposure, tools } = route.snapshot;
    if (exposure.listsAll) return answer;
    const entry = tools.find(route.name);
    if (!entry || exposure.isListed(entry)) return answer;
    const schema = entry.definition.value["inputSchema"];
    if (!isWrong(answer, call, schema) || !this.#isFirst(call, entry)) return answer;
    const text = JSON.stringify(schema);
    return text.length > MAX_LENGTH ? answer : withHelp(answer, `Input schema of ${entry.exposed}: ${text}`);
  }

  #isFirst({ client }: Call, { serverId, name }: { readonly serverId: string; readonly name: string }): boolean {
    if (!client.hasSession) return true;
    const key = JSON.stringify([client.key, serverId, name]);
    if (this.#sent.has(key)) return false;
    this.#sent.add(key);
    return true;
  }
}

/** A failed result says nothing about its reason: the arguments are checked. */
function isWrong(answer: Answer, { params }: Call, schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (!answer.ok) return answer.symbol === undefined && answer.code === errorTable.INVALID_PARAMS.rpc;
  return answer.raw.includes('"isError":') && isFailed(rawText(answer.raw)) && !fits(params["arguments"], schema);
}

function isFailed(result: string): boolean {
  return memberText(result, "isError")?.trim() === "true";
}

/** Checks what can be said without a validator: names, and the types of plain values. */
function fits(given: unknown, schema: Readonly<Record<string, unknown>>): boolean {
  const values = recordOf(given);
  const properties = recordOf(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  if (required.some((name) => typeof name === "string" && !Object.hasOwn(values, name))) return false;
  return Object.entries(values).every(([name, value]) =>
    Object.hasOwn(properties, name) ? isOfType(value, properties[name]) : schema["additionalProperties"] !== false,
  );
}

function isOfType(value: unknown, schema: unknown): boolean {
  const { type, enum: values } = recordOf(schema);
  if (Array.isArray(values) && typeof value !== "object" && !values.includes(value)) return false;
  const types = Array.isArray(type) ? type : [type];
  return types.some((one) => typeof one !== "string" || one === typeName(value) || isNumber(one, value));
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isNumber(type: string, value: unknown): boolean {
  return type === "integer" && Number.isInteger(value);
}

function withHelp(answer: Answer, help: string): Answer {
  if (!answer.ok) {
    const message: unknown = JSON.parse(memberText(answer.raw, "message") ?? '""');
    return { ...answer, raw: setMember(answer.raw, "message", JSON.stringify(`${String(message)}\n${help}`)) };
  }
  const raw = rawText(answer.raw);
  const block = JSON.stringify({ type: "text", text: help });
  const content = memberSpan(raw, 0, "content");
  if (!content || raw[content.start] !== "[") return answer;
  const last = elementSpans(raw, content.start).at(-1);
  const at = last ? last.end : content.start + 1;
  return { ok: true, raw: applyEdits(raw, [{ start: at, end: at, text: last ? `,${block}` : block }]) };
}
