/**
 * Keeps known secrets out of the log and out of errors. A server may write its key to stderr, and
 * an error may quote a header, so the masker searches for values, not for fields, and for values,
 * not for one spelling. A line without a secret and without escapes costs one search per secret.
 */
import { isRecord } from "../../lib/structures/record.ts";
import { createRedactor } from "../../lib/text/redact.ts";

/** How many earlier secrets of one source are remembered. */
const MAX_SECRETS = 200;

/** A secret of this length is no word of a name. */
const LONG = 16;

/** Members that only people and models read. */
const TEXT_KEYS = new Set(["title", "description", "$comment", "examples", "_meta", "version"]);

/** Where secrets come from. */
type Source = "config" | "logins" | "secrets" | "otel";

export class Masker {
  readonly #sources = new Map<Source, readonly string[]>();
  #redact = createRedactor([]);
  #redactLong = createRedactor([]);
  /** All secrets; another array after each change. */
  known: readonly string[] = [];

  /**
   * Hides the secrets of one source. Its earlier ones stay hidden: a server that still runs with
   * one may write it, and a kept call may contain it.
   */
  hide(from: readonly string[], source: Source = "config"): void {
    const earlier = this.#sources.get(source) ?? [];
    this.#sources.set(source, [...new Set([...from, ...earlier])].slice(0, MAX_SECRETS + from.length));
    const secrets = [...this.#sources.values()].flat();
    this.known = secrets;
    this.#redact = createRedactor(secrets);
    this.#redactLong = createRedactor(secrets.filter(({ length }) => length >= LONG));
  }

  text(text: string): string {
    return this.#redact(text);
  }

  /** Masks every string in a value, and the keys of its objects. */
  value<Value>(value: Value): Value {
    const text = JSON.stringify(value);
    if (text === undefined || !this.#redact.finds(text)) return value;
    return JSON.parse(this.json(text)) as Value;
  }

  /**
   * Masks a name by which something is called. A short secret may be a word of a name, so only long
   * ones count.
   */
  name(text: string): string {
    return this.#redactLong(text);
  }

  /**
   * Masks the JSON of a definition, or of what is shown of some: texts as such, everything else as
   * names, since calls are made by it. JSON without a secret stays as it is.
   */
  definition(json: string): string {
    if (!this.#redact.finds(json)) return json;
    const visit = (inner: unknown, key: string): unknown => {
      if (typeof inner === "string") return TEXT_KEYS.has(key) ? this.text(inner) : this.name(inner);
      if (Array.isArray(inner)) return inner.map((one) => visit(one, key));
      if (!isRecord(inner)) return inner;
      return Object.fromEntries(Object.entries(inner).map(([name, one]) => [this.name(name), visit(one, name)]));
    };
    return JSON.stringify(visit(JSON.parse(json), ""));
  }

  /** Masks any JSON. Only strings with a secret change; everything else keeps its exact text. */
  json(text: string): string {
    if (!this.#redact.finds(text)) return text;
    return text.replace(/"(?:[^"\\]|\\.)*"/g, (written) => {
      const value = JSON.parse(written) as string;
      const masked = this.#redact(value);
      return masked === value ? written : JSON.stringify(masked);
    });
  }

  /**
   * Masks one line of JSON. Only values change, so the line stays valid JSON with the same keys.
   */
  jsonLine(line: string): string {
    if (!this.#redact.finds(line)) return line;
    const masked = JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
      typeof value === "string" ? this.#redact(value) : value,
    );
    return `${masked}\n`;
  }
}
