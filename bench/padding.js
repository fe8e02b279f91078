// @ts-check
// The filler of large results, shared by the backends that send it and the load generator that
// checks it. It is JSON-escaped already, plain ASCII with `\n` escapes as real text has them, and
// exactly `size` bytes long on the wire, so that an answer can be checked byte for byte without
// parsing it.

const LINE = "The quick brown fox jumps over the lazy dog, again and again and again, 0123.\\n";

/** @type {Map<number, Buffer>} */
const made = new Map();

/** @param {number} size @returns {Buffer} */
export function padding(size) {
  let bytes = made.get(size);
  if (!bytes) {
    bytes = Buffer.alloc(size, LINE, "latin1");
    // A cut through the two bytes of an escape would be invalid JSON.
    if (bytes[size - 1] === 0x5c) bytes[size - 1] = 0x2e;
    made.set(size, bytes);
  }
  return bytes;
}
