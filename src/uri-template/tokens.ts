/**
 * The alphabet in which templates and URIs are compared: one token for each URI character, one for
 * each encoded octet.
 *
 * What must always hold: two spellings that RFC 3986 calls equivalent (`%7e`, `%7E`, `~`) have the
 * same tokens, a character that a URI may not hold has the tokens of its encoded form, and every
 * function here takes one pass.
 * `OCTET + n` is the token of the octet n where it stands percent-encoded and is no unreserved
 * character.
 */
export const OCTET = 256;
const TOKEN_KINDS = 512;

const UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const RESERVED = ":/?#[]@!$&'()*+,;=";
const PLAIN = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]*$/;
const PERCENT = 37;

const unreservedTable = tableOf(UNRESERVED);
const reservedTable = tableOf(RESERVED);
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const hexOf = Array.from({ length: 256 }, (_, octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`);

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(TOKEN_KINDS);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * A class of tokens: unreserved ones only or all of them, with some characters added or taken away.
 */
export function tokenClass(base: "unreserved" | "all", change: { add?: string; remove?: string }): Uint8Array {
  const table = new Uint8Array(TOKEN_KINDS);
  for (let token = 0; token < TOKEN_KINDS; token += 1) {
    table[token] = base === "all" || token >= OCTET || unreservedTable[token] === 1 ? 1 : 0;
  }
  for (const character of change.add ?? "") table[character.charCodeAt(0)] = 1;
  for (const character of change.remove ?? "") table[character.charCodeAt(0)] = 0;
  return table;
}

export function tokenize(text: string): Uint16Array {
  const tokens = new Uint16Array(text.length * 3);
  let size = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 128 && (unreservedTable[code] === 1 || reservedTable[code] === 1)) {
      tokens[size++] = code;
    } else if (code === PERCENT && octetAt(text, i) !== -1) {
      const octet = octetAt(text, i);
      tokens[size++] = octet < 128 && unreservedTable[octet] === 1 ? octet : OCTET + octet;
      i += 2;
    } else {
      const point = text.codePointAt(i) ?? code;
      for (const octet of utf8(point)) tokens[size++] = OCTET + octet;
      if (point > 0xffff) i += 1;
    }
  }
  return tokens.subarray(0, size);
}

/** The one spelling of a URI that all its equivalents share. */
export function canonicalUri(text: string): string {
  if (PLAIN.test(text)) return text;
  let canonical = "";
  for (const token of tokenize(text)) canonical += spell(token);
  return canonical;
}

function spell(token: number): string {
  return token < OCTET ? String.fromCharCode(token) : (hexOf[token - OCTET] ?? "");
}

/** The octet that `%XX` at this place stands for, or -1. */
function octetAt(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/**
 * UTF-8, and the same scheme for a lone surrogate, which JSON can carry and `encodeURIComponent`
 * throws at.
 */
function utf8(point: number): number[] {
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), 0x80 | (point & 63)];
  if (point < 0x10000) return [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)];
  return [0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)];
}

/** Percent-encodes everything but unreserved characters. */
export function encodeUnreserved(text: string): string {
  return encode(text, false);
}

/**
 * Percent-encodes what no URI may hold; reserved characters and encoded octets stay as they are.
 */
export function encodeReserved(text: string): string {
  return PLAIN.test(text) ? text : encode(text, true);
}

function encode(text: string, keepReserved: boolean): string {
  let encoded = "";
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 128 && (unreservedTable[code] === 1 || (keepReserved && reservedTable[code] === 1))) {
      encoded += text[i];
    } else if (keepReserved && code === PERCENT && octetAt(text, i) !== -1) {
      encoded += text.slice(i, i + 3);
      i += 2;
    } else {
      const point = text.codePointAt(i) ?? code;
      for (const octet of utf8(point)) encoded += hexOf[octet];
      if (point > 0xffff) i += 1;
    }
  }
  return encoded;
}

/** Octets as text; where they are no UTF-8 they stay percent-encoded. */
function decodeOctets(octets: readonly number[]): string {
  try {
    return strictUtf8.decode(Uint8Array.from(octets));
  } catch {
    return octets.map((octet) => hexOf[octet]).join("");
  }
}

/** Would a bare `%` here read as the start of an encoded octet? */
function hexFollows(tokens: Uint16Array, at: number): boolean {
  return hexDigit(tokens[at + 1] ?? 0) !== -1 && hexDigit(tokens[at + 2] ?? 0) !== -1;
}

/**
 * The text that tokens stand for. With `keepReserved`, encoded reserved characters (and `%25` where
 * it must) stay encoded, so that a reserved expansion of the text gives the same tokens again.
 */
export function decodeTokens(tokens: Uint16Array, keepReserved: boolean): string {
  let text = "";
  let octets: number[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] ?? 0;
    const octet = token - OCTET;
    if (octet >= 0 && !(keepReserved && (reservedTable[octet] === 1 || (octet === PERCENT && hexFollows(tokens, i))))) {
      octets.push(octet);
      continue;
    }
    if (octets.length > 0) text += decodeOctets(octets);
    octets = [];
    text += spell(token);
  }
  return octets.length > 0 ? text + decodeOctets(octets) : text;
}
