/**
 * Keeps known secrets out of the log and out of errors. A server may write its key to stderr, and
 * an error may quote a header, so the masker searches for values, not for fields. A line without a
 * secret costs one search per secret.
 */
import { createRedactor } from "../text/redact.ts";

export class Masker {
  #secrets: readonly string[] = [];
  #redact = createRedactor([]);

  /** Replaces the list of secrets. */
  hide(secrets: readonly string[]): void {
    // In their JSON form, because the lines are searched before they are parsed.
    this.#secrets = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#redact = createRedactor(secrets);
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
