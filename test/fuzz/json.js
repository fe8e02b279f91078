// @ts-check
// JSON texts of every kind that is valid, with what a careless gateway loses, and bytes that were
// valid before they were changed.

/** @typedef {import("./random.js").Random} Random */

const NUMBERS = [
  "0",
  "-0",
  "1",
  "-1",
  "1.0",
  "1.50",
  "1e2",
  "1E+2",
  "9007199254740993",
  "-12345678901234567890",
  "1e400",
];
const PIECES = [
  "a",
  "é",
  "\u2028",
  "😀",
  "\ufffd",
  "\\n",
  "\\u0041",
  "\\/",
  "\\ud800",
  "\\ud83d\\ude00",
  '\\"',
  "\\\\",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "data: x",
  '\\"id\\":1',
  "\u007f",
  "x".repeat(40),
];
const KEYS = ["a", "b", "id", "result", "name", "uri", "_meta", "method", "__proto__", "constructor", "", "\\u0061"];
const BAD_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf8, 0x88, 0x80, 0x80, 0x80]];

/** A string in JSON, with its quotes. @param {Random} random */
export function stringText(random) {
  return `"${Array.from({ length: random.int(6) }, () => random.pick(PIECES)).join("")}"`;
}

/** Any JSON value, as text. @param {Random} random @param {number} [depth] @returns {string} */
export function jsonText(random, depth = 3) {
  const blank = () => (random.chance(0.1) ? random.pick([" ", "\n", "\t", "\r\n"]) : "");
  switch (random.int(depth > 0 ? 6 : 4)) {
    case 0:
      return random.pick(NUMBERS);
    case 1:
      return random.pick(["true", "false", "null"]);
    case 2:
    case 3:
      return stringText(random);
    case 4: {
      const items = Array.from({ length: random.int(4) }, () => `${blank()}${jsonText(random, depth - 1)}${blank()}`);
      return `[${items.join(",")}]`;
    }
    default:
      return objectText(random, depth);
  }
}

/** Keys may come twice. @param {Random} random @param {number} [depth] @returns {string} */
export function objectText(random, depth = 3) {
  const members = Array.from(
    { length: random.int(4) },
    () => `"${random.pick(KEYS)}":${random.chance(0.1) ? " " : ""}${jsonText(random, depth - 1)}`,
  );
  return `{${members.join(",")}}`;
}

/** The same bytes, but for one to three changes. @param {Random} random @param {Buffer} bytes */
export function broken(random, bytes) {
  let out = bytes;
  for (let n = 1 + random.int(3); n > 0; n--) {
    const at = random.int(out.length + 1);
    const [head, tail] = [out.subarray(0, at), out.subarray(at)];
    switch (random.int(7)) {
      case 0:
        out = Buffer.concat([head, random.bytes(1), tail.subarray(1)]);
        break;
      case 1:
        out = Buffer.concat([head, tail.subarray(1 + random.int(8))]);
        break;
      case 2:
        out = Buffer.concat([head, random.bytes(1 + random.int(8)), tail]);
        break;
      case 3:
        out = Buffer.concat([head, tail.subarray(0, random.int(30)), tail]);
        break;
      case 4:
        out = Buffer.from(head);
        break;
      case 5:
        out = Buffer.concat([head, Buffer.from(random.pick(BAD_UTF8)), tail]);
        break;
      default:
        out = Buffer.concat([
          head,
          Buffer.from(random.pick(['"', "\\", "{", "}", "]", ",", "\0", "\n", "\r\n"])),
          tail,
        ]);
    }
  }
  return out;
}
