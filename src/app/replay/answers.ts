/**
 * The recorded answers, found by method and params.
 *
 * Invariant: strict. Params must be the same, except for `_meta`, the order of members, and what a
 * recording masks: a secret's value is not in it. Equal requests get their answers in the order of
 * the recording; the last one is repeated. A request without an answer gets an error that names
 * the nearest recorded one, never that one's answer.
 */

import { isRecord } from "../../lib/structures/record.ts";
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import { errorTable } from "../../mcp/protocol/errors.ts";
import type { Exchange } from "../../observe/recording/exchanges.ts";
import { masked } from "../../observe/telemetry/audit-mask.ts";
import { canonical, describe, differences } from "./compare.ts";

export interface RecordedAnswer {
  readonly ok: boolean;
  /** Raw JSON. */
  readonly raw: string;
  readonly notifications: readonly string[];
}

interface Asked {
  readonly params: unknown;
  readonly answers: RecordedAnswer[];
  next: number;
}

const MAX_SHOWN = 3;

export class Answers {
  /** By method, then by params. */
  readonly #asked = new Map<string, Map<string, Asked>>();
  /** Answers that contain something masked. */
  readonly masked: number;

  constructor(exchanges: readonly Exchange[]) {
    let hidden = 0;
    for (const { method, params, answer, ok, notifications, isMasked } of exchanges) {
      if (answer === undefined) continue;
      if (isMasked.answer) hidden++;
      const compared = comparable(JSON.parse(params));
      const ofMethod = this.#asked.get(method) ?? new Map<string, Asked>();
      this.#asked.set(method, ofMethod);
      const key = canonical(compared);
      const asked = ofMethod.get(key) ?? { params: compared, answers: [], next: 0 };
      ofMethod.set(key, asked);
      asked.answers.push({ ok, raw: answer, notifications });
    }
    this.masked = hidden;
  }

  has(method: string): boolean {
    return this.#asked.has(method);
  }

  get size(): number {
    let size = 0;
    for (const ofMethod of this.#asked.values()) for (const { answers } of ofMethod.values()) size += answers.length;
    return size;
  }

  find(method: string, params: unknown): RecordedAnswer | undefined {
    const asked = this.#asked.get(method)?.get(canonical(comparable(params)));
    if (!asked) return undefined;
    const at = Math.min(asked.next++, asked.answers.length - 1);
    return asked.answers[at];
  }

  /** Returns the error for a request that was not recorded. */
  miss(method: string, params: unknown): RecordedAnswer {
    const ofMethod = this.#asked.get(method);
    const { rpc } = ofMethod ? errorTable.INVALID_PARAMS : errorTable.METHOD_NOT_FOUND;
    const message = ofMethod
      ? `The recording has no answer to ${describeRequest(method, params)}; ${this.#nearest(ofMethod, params)}`
      : `The recording has no ${method.slice(0, 100)}; it has ${[...this.#asked.keys()].join(", ") || "nothing"}`;
    return {
      ok: false,
      raw: JSON.stringify({ code: rpc, message, data: { code: "NOT_RECORDED" } }),
      notifications: [],
    };
  }

  #nearest(ofMethod: ReadonlyMap<string, Asked>, given: unknown): string {
    const params = comparable(given);
    const name = nameOf(params);
    const all = [...ofMethod.values()];
    const same = all.filter((asked) => nameOf(asked.params) === name);
    if (same.length === 0) {
      const names = [...new Set(all.flatMap((asked) => nameOf(asked.params) ?? []))];
      const meant = name === undefined ? undefined : nearestWord(name, names);
      return meant === undefined ? `it has ${names.slice(0, 10).join(", ")}` : `the nearest is ${meant}`;
    }
    const [best] = same
      .map((asked) => differences(asked.params, params))
      .sort((one, other) => one.length - other.length);
    const more = best!.length > MAX_SHOWN ? `, and ${best!.length - MAX_SHOWN} more` : "";
    return `the nearest one differs in ${best!.slice(0, MAX_SHOWN).map(describe).join("; ")}${more}`;
  }
}

/** What counts of params. */
function comparable(params: unknown): unknown {
  if (!isRecord(params)) return {};
  const { _meta, ...rest } = params;
  return masked(rest);
}

function nameOf(params: unknown): string | undefined {
  if (!isRecord(params)) return undefined;
  const name = params["name"] ?? params["uri"];
  return typeof name === "string" ? name : undefined;
}

function describeRequest(method: string, params: unknown): string {
  const name = nameOf(params);
  return name === undefined ? `this ${method}` : `this ${method} of ${name.slice(0, 100)}`;
}
