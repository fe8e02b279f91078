/**
 * Keeps known secrets out of the log and out of errors, wherever they stand in a line: a server may
 * write its own key to stderr, and an error may quote a header; so values are looked for, not
 * fields. A line without a secret costs one search for each and nothing else.
 */
import { createRedactor } from "../text/redact.ts";

export class Masker {
  #secrets: readonly string[] = [];
  #redact = createRedactor([]);

  /** From now on these, and no others. */
  hide(secrets: readonly string[]): void {
    // As they look inside JSON, which is where they are looked for first.
    this.#secrets = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#redact = createRedactor(secrets);
  }

  text(text: string): string {
    return this.#redact(text);
  }

  /**
   * Any JSON. Only strings that hold a secret change; all else stays as it was written, to the last
   * digit.
   */
  json(text: string): string {
    if (!this.#secrets.some((secret) => text.includes(secret))) return text;
    return text.replace(/"(?:[^"\\]|\\.)*"/g, (written) => {
      const value = JSON.parse(written) as string;
      const masked = this.#redact(value);
      return masked === value ? written : JSON.stringify(masked);
    });
  }

  /**
   * One line of JSON. Only values in it change, so that it stays a line of JSON with the same keys.
   */
  jsonLine(line: string): string {
    if (!this.#secrets.some((secret) => line.includes(secret))) return line;
    const masked = JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
      typeof value === "string" ? this.#redact(value) : value,
    );
    return `${masked}\n`;
  }
}
