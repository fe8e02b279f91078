/**
 * Keeps known secrets out of the log and out of errors. A server may write its key to stderr, and
 * an error may quote a header, so the masker searches for values, not for fields. A line without a
 * secret costs one search per secret.
 */
import { createRedactor } from "../text/redact.ts";

/** How many secrets of earlier configs are remembered. */
const MOST_SECRETS = 200;

export class Masker {
  #known: readonly string[] = [];
  #secrets: readonly string[] = [];
  #redact = createRedactor([]);

  /**
   * Hides these secrets. Those of earlier configs stay hidden: a server that still runs with one
   * may write it, and a kept call may contain it.
   */
  hide(secrets: readonly string[]): void {
    this.#known = [...new Set([...secrets, ...this.#known])].slice(0, MOST_SECRETS + secrets.length);
    // In their JSON form, because the lines are searched before they are parsed.
    this.#secrets = this.#known.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#redact = createRedactor(this.#known);
  }

  text(text: string): string {
    return this.#redact(text);
  }

  /** Masks any JSON. Only strings with a secret change; everything else keeps its exact text. */
  json(text: string): string {
    if (!this.#secrets.some((secret) => text.includes(secret))) return text;
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
    if (!this.#secrets.some((secret) => line.includes(secret))) return line;
    const masked = JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
      typeof value === "string" ? this.#redact(value) : value,
    );
    return `${masked}\n`;
  }
}
