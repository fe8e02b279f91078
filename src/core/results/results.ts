/**
 * The stage that shapes tools' results, and reads those that it keeps.
 *
 * Invariants: without rules for a tool, its results are not looked at. A result within its limit
 * stays as it is, byte for byte, unless fields, spaces or doubled text are to be left out. A result
 * is never lost: if it cannot be kept, it is passed on whole.
 */

import { membersOf } from "../../lib/json/bytes/byte-values.ts";
import { joinInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { OPEN_BRACE } from "../../lib/json/characters.ts";
import { finish, inSlices, type Sliced } from "../../lib/timing/slices.ts";
import { resultIdOf, resultUri } from "../../mcp/identifiers/result-ids.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { knowsLinks } from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, type Raw, rawBytes, rawOf } from "../../mcp/protocol/json-rpc.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import type { Route } from "../routing/resolve.ts";
import { cutAnswer, errorAnswer, spilledAnswer, type TooLong } from "./answers.ts";
import { contentsOf } from "./contents.ts";
import { documentOf } from "./document.ts";
import type { KeptResult, KeptResults } from "./kept-results.ts";
import { isSurelyWithin, measure } from "./measure.ts";
import { previewOf } from "./preview.ts";
import { type PartWanted, readPart } from "./read-part.ts";
import { partsOf, type ResultParts } from "./result-parts.ts";
import { shapeResult, shapesAll } from "./shape.ts";

export const READER = "read_result";

/** Larger results are looked at in slices. */
const LARGE = 256 * 1024;

/** What became of a result: `others` were passed on. */
export type ResultFate = "spilled" | "cut" | "refused" | "shaped" | "not kept";

export interface ResultsParts {
  readonly kept: KeptResults;
  readonly count: (serverId: string, fate: ResultFate) => void;
}

export class Results {
  readonly #kept: KeptResults;
  readonly #count: ResultsParts["count"];
  /** The last reading of each account: one at a time, since a result may be large. */
  readonly #readings = new Map<string, Promise<unknown>>();

  constructor({ kept, count }: ResultsParts) {
    this.#kept = kept;
    this.#count = count;
  }

  leave({ call }: Flight, route: Route, answer: Answer): Answer | Promise<Answer> {
    const rules = route.results;
    if (rules === undefined || !answer.ok) return answer;
    const { raw } = answer;
    if (!shapesAll(rules) && isSurelyWithin(raw.length, rules.maxTokens)) return answer;
    const about = { call, route, rules };
    return call.method === "tasks/get" ? this.#shapeWithin(answer, about) : this.#shape(answer, about);
  }

  /** The state of a task that is done has its result in it. */
  async #shapeWithin(answer: Answer & { readonly ok: true }, about: About): Promise<Answer> {
    const bytes = rawBytes(answer.raw);
    const [span] = await run(membersOf(bytes, 0, ["result"]), bytes.length);
    if (!span || bytes[span.start] !== OPEN_BRACE) return answer;
    const given = { ok: true, raw: bytes.subarray(span.start, span.end) } as const;
    const shaped = await this.#shape(given, about);
    if (shaped === given) return answer;
    const parts = [bytes.subarray(0, span.start), rawBytes(shaped.raw), bytes.subarray(span.end)];
    return okAnswer(await run(joinInSlices(parts), bytes.length));
  }

  #shape(answer: Answer & { readonly ok: true }, about: About): Answer | Promise<Answer> {
    const { raw } = answer;
    if (raw.length > LARGE) return inSlices(decide(raw, about)).then((decided) => this.#answer(answer, decided, about));
    return this.#answer(answer, finish(decide(raw, about)), about);
  }

  #answer(answer: Answer & { readonly ok: true }, { raw, tooLong }: Decided, about: About): Answer | Promise<Answer> {
    const { serverId } = about.route;
    if (!tooLong) {
      if (raw !== answer.raw) this.#count(serverId, "shaped");
      return raw === answer.raw ? answer : { ok: true, raw };
    }
    switch (about.rules.over) {
      case "spill":
        return this.#spill({ ok: true, raw }, tooLong, about);
      case "cut":
        this.#count(serverId, "cut");
        return run(cutAnswer(tooLong), raw.length).then(okAnswer);
      case "error":
        this.#count(serverId, "refused");
        return okAnswer(errorAnswer(tooLong));
      case "pass":
        return { ok: true, raw };
    }
  }

  async #spill(answer: Answer, tooLong: TooLong, { call, route }: About): Promise<Answer> {
    const { serverId, name } = route;
    const { parts, maxTokens } = tooLong;
    const { bytes } = parts;
    const document = await run(documentOf(parts), bytes.length);
    const preview = await run(previewOf(document, this.#kept.preview), bytes.length);
    const mimeType = document.kind === "json" ? "application/json" : "text/plain";
    const tool = route.spec.names === "tool" ? name : undefined;
    const kept = await this.#kept.keep(bytes, { client: call.client, serverId, tool, maxTokens, mimeType });
    this.#count(serverId, kept ? "spilled" : "not kept");
    if (!kept) return answer;
    const hasReader = route.snapshot.local.some(({ value }) => value["name"] === READER);
    const hasLinks = knowsLinks(call.client.protocolVersion);
    return okAnswer(spilledAnswer(tooLong, { kept, preview, mimeType, hasLinks, hasReader }));
  }

  /** Finds a kept result for the client of a call. Undefined: for it, there is none. */
  find(id: string, { client }: Call, view: Pick<Snapshot, "tools" | "shows">): KeptResult | undefined {
    const kept = this.#kept.find(id, client);
    if (!kept || !view.shows(kept.serverId)) return undefined;
    // What a rule hides by now is hidden here too.
    if (kept.tool !== undefined && view.tools.find(kept.tool)?.serverId !== kept.serverId) return undefined;
    return kept;
  }

  /** Answers a read of a kept result. Undefined: the URI is not one of a result of this client. */
  answer(call: Call, view: Pick<Snapshot, "tools" | "shows">): Promise<Answer> | undefined {
    const { uri } = call.params;
    const id = typeof uri === "string" ? resultIdOf(uri) : undefined;
    const kept = id === undefined ? undefined : this.find(id, call, view);
    return kept && this.#readWhole(kept);
  }

  /** Resolves with the result of `resources/read`. */
  async #readWhole(kept: KeptResult): Promise<Answer> {
    const uri = resultUri(kept.id);
    const { mimeType } = kept;
    const contents = await this.#reading(kept, (parts) => contentsOf(parts, { uri, mimeType }));
    if (contents) return okAnswer(contents);
    // It expired meanwhile.
    throw new GoblinError("RESOURCE_NOT_FOUND", `Resource not found: ${uri}`, { data: { uri } });
  }

  /** Resolves with a part as text; undefined if the result has gone meanwhile. */
  readPart(kept: KeptResult, wanted: PartWanted): Promise<string | undefined> {
    return this.#reading(kept, function* (parts) {
      return yield* readPart(yield* documentOf(parts), wanted, kept.maxTokens);
    });
  }

  close(): Promise<void> {
    return this.#kept.close();
  }

  #reading<Read>(kept: KeptResult, read: (parts: ResultParts) => Sliced<Read>): Promise<Read | undefined> {
    const { account } = kept;
    const before = this.#readings.get(account);
    const now = (async (): Promise<Read | undefined> => {
      await before?.catch(() => {});
      const bytes = await this.#kept.read(kept);
      if (!bytes) return undefined;
      const parts = await run(partsOf(bytes), bytes.length);
      return parts && run(read(parts), bytes.length);
    })();
    this.#readings.set(account, now);
    const end = (): void => {
      if (this.#readings.get(account) === now) this.#readings.delete(account);
    };
    now.then(end, end);
    return now;
  }
}

interface About {
  readonly call: Call;
  readonly route: Route;
  readonly rules: ResultRules;
}

interface Decided {
  /** The result, shaped or as it was. */
  readonly raw: Raw;
  readonly tooLong: TooLong | undefined;
}

function* decide(raw: Raw, { route, rules }: About): Sliced<Decided> {
  const { over, maxTokens } = rules;
  const given = yield* partsOf(rawBytes(raw));
  if (!given) return { raw, tooLong: undefined };
  const shaped = shapesAll(rules) ? yield* shapeResult(given, rules) : undefined;
  const parts = shaped ? (yield* partsOf(shaped))! : given;
  const { bytes } = parts;
  const result = shaped ? rawOf(shaped) : raw;
  if (over === "pass" || isSurelyWithin(bytes.length, maxTokens)) return { raw: result, tooLong: undefined };
  const measured = yield* measure(parts, maxTokens);
  const tool = route.spec.names === "tool" ? route.name : "";
  return { raw: result, tooLong: measured.isOver ? { parts, measured, maxTokens, tool } : undefined };
}

function run<Result>(work: Sliced<Result>, bytes: number): Promise<Result> {
  return bytes > LARGE ? inSlices(work) : new Promise((resolve) => resolve(finish(work)));
}

function okAnswer(bytes: Buffer): Answer {
  return { ok: true, raw: rawOf(bytes) };
}
