/**
 * Keeps known secrets out of the log and out of errors. A server may write its key to stderr, and
 * an error may quote a header, so the masker searches for values, not for fields, and for values,
 * not for one spelling. A line without a secret and without escapes costs one search per secret.
 */
import { createRedactor } from "../../lib/text/redact.ts";

/** How many earlier secrets of one source are remembered. */
const MOST_SECRETS = 200;

/** Where secrets come from. */
type Source = "config" | "logins" | "secrets" | "otel";

export class Masker {
  readonly #sources = new Map<Source, readonly string[]>();
  #redact = createRedactor([]);
  /** All secrets; another array after each change. */
  known: readonly string[] = [];

  /**
   * Hides the secrets of one source. Its earlier ones stay hidden: a server that still runs with
   * one may write it, and a kept call may contain it.
   */
  hide(from: readonly string[], source: Source = "config"): void {
    const earlier = this.#sources.get(source) ?? [];
    this.#sources.set(source, [...new Set([...from, ...earlier])].slice(0, MOST_SECRETS + from.length));
    const secrets = [...this.#sources.values()].flat();
    this.known = secrets;
    this.#redact = createRedactor(secrets);
  }

  text(text: string): string {
    return this.#redact(text);
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
