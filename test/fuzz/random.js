// @ts-check
// Random values from a seed: the same seed and case number give the same case, on every machine and
// whatever ran before it.

/** @typedef {ReturnType<typeof createRandom>} Random */

/** @param {number} seed @param {number} [index] the case */
export function createRandom(seed, index = 0) {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) | 0;
  /** From 0 up to 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** An integer from 0 up to `n`. @param {number} n */
  const int = (n) => Math.floor(next() * n);
  return {
    next,
    int,
    /** @param {number} probability */
    chance: (probability) => next() < probability,
    /** @template T @param {readonly T[]} values @returns {T} */
    pick: (values) => /** @type {T} */ (values[int(values.length)]),
    /** @param {number} n */
    bytes: (n) => Buffer.from(Array.from({ length: n }, () => int(256))),
  };
}
