/**
 * A buffer that collects chunks of bytes.
 *
 * Invariant: memory stays close to the number of bytes, however small the chunks. Large chunks are
 * kept without a copy and must not change afterwards; small ones are copied into blocks.
 */
const BLOCK = 8 * 1024;

export class Pieces {
  #kept: Buffer[] = [];
  /** The block for small chunks, and its fill level. */
  #block: Buffer | undefined;
  #filled = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#size += piece.length;
    if (piece.length >= BLOCK || this.#size === piece.length) {
      this.#seal();
      this.#kept.push(piece);
    } else this.#copy(piece);
  }

  /** Adds borrowed bytes: only a copy is kept. */
  addCopy(piece: Buffer): void {
    this.add(piece.length >= BLOCK || this.#size === 0 ? Buffer.from(piece) : piece);
  }

  /** Returns the first bytes as text. Of three chunks kept in a row, at least one is large. */
  head(length: number): string {
    this.#seal();
    return Buffer.concat(this.#kept.slice(0, 3)).toString("latin1", 0, Math.min(length, BLOCK));
  }

  /** Returns all bytes and empties the buffer. */
  take(): Buffer {
    this.#seal();
    const all = this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept, this.#size);
    this.clear();
    return all;
  }

  clear(): void {
    this.#kept = [];
    this.#block = undefined;
    this.#filled = 0;
    this.#size = 0;
  }

  #copy(piece: Buffer): void {
    let from = 0;
    while (from < piece.length) {
      this.#block ??= Buffer.allocUnsafe(BLOCK);
      const copied = piece.copy(this.#block, this.#filled, from);
      this.#filled += copied;
      from += copied;
      if (this.#filled === BLOCK) this.#seal();
    }
  }

  #seal(): void {
    if (!this.#block) return;
    this.#kept.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#filled = 0;
  }
}
