/**
 * Looks for a key in JSON, without reading the JSON.
 *
 * A native search for `"isError"` stops at every quote, and JSON is full of them. So a part of the
 * key that begins with a rarer character is searched first: in a small result, 15 instead of 60 to
 * 170 ns.
 */
export class JsonKey {
  readonly #whole: string;
  readonly #rare: string;
  readonly #wholeBytes: Buffer;
  readonly #rareBytes: Buffer;

  /** `key`: as it is usually written. One with escapes is not found. */
  constructor(key: string) {
    const capital = key.search(/[A-Z][^A-Z]*$/);
    this.#whole = `"${key}"`;
    this.#rare = `${capital === -1 ? key : key.slice(capital)}"`;
    this.#wholeBytes = Buffer.from(this.#whole);
    this.#rareBytes = Buffer.from(this.#rare);
  }

  /** Whether the JSON has the key, or a string like it. */
  isIn(json: string | Buffer): boolean {
    return typeof json === "string"
      ? json.includes(this.#rare) && json.includes(this.#whole)
      : json.includes(this.#rareBytes) && json.includes(this.#wholeBytes);
  }
}
