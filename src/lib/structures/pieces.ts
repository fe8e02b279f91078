/**
 * A buffer that collects chunks of bytes.
 *
 * Invariant: memory stays close to the number of bytes, however small the chunks. Large chunks are
 * kept without a copy and must not change afterwards; small ones are copied into blocks. No call
 * takes long: what many chunks add up to is copied as it grows, not at the end.
 */
const BLOCK = 8 * 1024;
/** More than this is moved to the buffer that grows. */
const LOOSE = 4 * 1024 * 1024;

export class Pieces {
  /** The first bytes, if there are very many, and how many these are. Memory beyond is not used. */
  #grown: Buffer | undefined;
  #moved = 0;
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
    if (this.#size - this.#moved > LOOSE) this.#move();
  }

  /** Adds borrowed bytes: only a copy is kept. */
  addCopy(piece: Buffer): void {
    this.add(piece.length >= BLOCK || this.#size === 0 ? Buffer.from(piece) : piece);
  }

  /** Returns the first bytes as text. Of three chunks kept in a row, at least one is large. */
  head(length: number): string {
    this.#seal();
    const first = this.#grown ?? Buffer.concat(this.#kept.slice(0, 3));
    return first.toString("latin1", 0, Math.min(length, BLOCK));
  }

  /** Returns all bytes and empties the buffer. */
  take(): Buffer {
    this.#seal();
    if (this.#grown) this.#move();
    const loose = (): Buffer => (this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept, this.#size));
    const all = this.#grown?.subarray(0, this.#size) ?? loose();
    this.clear();
    return all;
  }

  clear(): void {
    this.#grown = undefined;
    this.#moved = 0;
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

  #move(): void {
    this.#seal();
    // A single chunk stays as it is until others follow.
    if (!this.#grown && this.#kept.length === 1) return;
    if (!this.#grown || this.#grown.length < this.#size) {
      const grown = Buffer.allocUnsafeSlow(2 * this.#size);
      this.#grown?.copy(grown, 0, 0, this.#moved);
      this.#grown = grown;
    }
    for (const piece of this.#kept) this.#moved += piece.copy(this.#grown, this.#moved);
    this.#kept = [];
  }

  #seal(): void {
    if (!this.#block) return;
    this.#kept.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#filled = 0;
  }
}
